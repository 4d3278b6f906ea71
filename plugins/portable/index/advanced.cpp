// index and index_put: tensors of positions and masks for any of the dimensions, by ATen's rules.
#include <algorithm>
#include <vector>

#include "portable/views/strided.hpp"

namespace backplane::portable {
namespace {

// What is indexed, once masks have become positions and everything is broadcast.
struct Indexing {
  std::vector<const int64_t*> positions;  // by dimension of self; null: all of it
  Dims common;                            // the shape that index tensors broadcast to
  std::vector<Dims> steps;                // by dimension: strides of its positions over `common`
  int64_t before = 0;                     // where the common shape stands in the result
  bool adjacent = true;
};

struct Positions {
  const int64_t* values = nullptr;
  Dims shape;
};

// The coordinates of true elements of a mask, one list a dimension.
Status expand_mask(Context& ctx, const Tensor& self, const Tensor& mask, int64_t at, size_t number,
                   std::vector<Positions>& out) {
  if (mask.dim() == 0) return invalid({"a mask without dimensions can't be used as an index here"});
  for (int64_t j = 0; j < mask.dim(); ++j) {
    if (at + j >= self.dim())
      return invalid({"too many indices for tensor of dimension ", self.dim()});
    if (mask.size(j) != self.size(at + j)) {
      return invalid(
          {"the shape of the mask ", mask.shape(), " at index ", static_cast<int64_t>(number),
           " does not match the shape of the indexed tensor ", self.shape(), " at index ", at + j});
    }
  }
  BP_ASSIGN_OR_RETURN(const int64_t* truth, read<int64_t>(ctx, mask));
  const int64_t n = mask.numel();
  const int64_t hits = std::count_if(truth, truth + n, [](int64_t v) { return v != 0; });
  BP_ASSIGN_OR_RETURN(int64_t * lists,
                      ctx.scratch<int64_t>(std::max<int64_t>(hits * mask.dim(), 1)));
  int64_t hit = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (truth[i] == 0) continue;
    int64_t rest = i;
    for (int64_t j = mask.dim() - 1; j >= 0; --j) {
      lists[j * hits + hit] = rest % mask.size(j);
      rest /= mask.size(j);
    }
    ++hit;
  }
  for (int64_t j = 0; j < mask.dim(); ++j) out.push_back({lists + j * hits, Dims{hits}});
  return Ok{};
}

Status gather_positions(Context& ctx, const Args& args, const Tensor& self,
                        std::vector<Positions>& out) {
  const int64_t given = args.list_size(1);
  if (given > self.dim())
    return invalid({"too many indices for tensor of dimension ", self.dim(), " (got ", given, ")"});
  for (int64_t i = 0; i < given; ++i) {
    const Tensor index = args.list_tensor(1, i);
    if (!index) {
      out.push_back({});
    } else if (index.dtype() == DType::boolean || index.dtype() == DType::u8) {
      BP_TRY(expand_mask(ctx, self, index, static_cast<int64_t>(out.size()), static_cast<size_t>(i),
                         out));
    } else if (index.dtype() == DType::i64 || index.dtype() == DType::i32) {
      BP_ASSIGN_OR_RETURN(const int64_t* values, read<int64_t>(ctx, index));
      out.push_back({values, Dims(index.shape())});
    } else {
      return invalid(
          {"tensors used as indices must be long, int, byte or bool tensors, not ", index.dtype()});
    }
  }
  if (static_cast<int64_t>(out.size()) > self.dim())
    return invalid({"too many indices for tensor of dimension ", self.dim()});
  out.resize(static_cast<size_t>(self.dim()));
  return Ok{};
}

Status check_values(const Tensor& self, const std::vector<Positions>& positions, bool empty) {
  int64_t number = 0;
  for (size_t d = 0; d < positions.size(); ++d) {
    if (positions[d].values == nullptr) continue;
    const int64_t size = self.size(static_cast<int64_t>(d));
    if (size == 0 && !empty) return invalid({"index is out of bounds for dimension with size 0"});
    BP_ASSIGN_OR_RETURN(const int64_t n, count(positions[d].shape));
    for (int64_t i = 0; i < n && !empty; ++i) {
      const int64_t v = positions[d].values[i];
      if (v < -size || v >= size)
        return invalid(
            {"index ", v, " is out of bounds for dimension ", number, " with size ", size});
    }
    ++number;
  }
  return Ok{};
}

Result<Indexing> plan(Context& ctx, const Args& args, const Tensor& self) {
  std::vector<Positions> positions;
  BP_TRY(gather_positions(ctx, args, self, positions));
  Indexing out;
  std::optional<int64_t> first;
  int64_t last = -1;
  for (size_t d = 0; d < positions.size(); ++d) {
    if (positions[d].values == nullptr) continue;
    auto common = broadcast(out.common, positions[d].shape);
    if (!common) {
      return invalid(
          {"shape mismatch: indexing tensors could not be broadcast together with shapes ",
           out.common, ", ", positions[d].shape});
    }
    out.common = *common;
    const auto at = static_cast<int64_t>(d);
    if (first && at != last + 1) out.adjacent = false;
    if (!first) first = at;
    last = at;
  }
  out.before = out.adjacent ? first.value_or(0) : 0;
  BP_ASSIGN_OR_RETURN(const int64_t total, count(out.common));
  BP_TRY(check_values(self, positions, total == 0));
  for (const Positions& p : positions) {
    out.positions.push_back(p.values);
    Dims steps(out.common.size(), 0);
    int64_t step = 1;
    for (int64_t j = p.shape.size() - 1; j >= 0; --j) {
      if (p.shape[j] != 1) steps[j + out.common.size() - p.shape.size()] = step;
      step *= p.shape[j];
    }
    out.steps.push_back(steps);
  }
  return out;
}

// The result's shape: dimensions before, the common shape, dimensions after; or the common shape
// first.
Dims result_shape(const Tensor& self, const Indexing& indexing) {
  Dims shape;
  const auto add_common = [&] {
    for (const int64_t size : indexing.common) shape.push_back(size);
  };
  bool added = false;
  if (!indexing.adjacent) {
    add_common();
    added = true;
  }
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!added && d == indexing.before) {
      add_common();
      added = true;
    }
    if (indexing.positions[static_cast<size_t>(d)] == nullptr) shape.push_back(self.size(d));
  }
  if (!added) add_common();
  return shape;
}

// Calls f(offset in self in elements, row-major index in the result) for each element of the
// result.
template <class F>
void for_each(const Tensor& self, const Indexing& indexing, const Dims& shape, F&& f) {
  const int64_t rank = shape.size();
  const int64_t common = indexing.common.size();
  int64_t total = 1;
  for (const int64_t size : shape) total *= size;
  Dims index(rank, 0);
  for (int64_t i = 0; i < total; ++i) {
    int64_t offset = 0;
    int64_t next = indexing.before == 0 ? common : 0;  // result dimension of the next plain one
    for (int64_t d = 0; d < self.dim(); ++d) {
      const int64_t* positions = indexing.positions[static_cast<size_t>(d)];
      if (positions == nullptr) {
        offset += index[next++] * self.stride(d);
        if (indexing.before > 0 && next == indexing.before) next += common;
        continue;
      }
      int64_t at = 0;
      for (int64_t j = 0; j < common; ++j)
        at += index[indexing.before + j] * indexing.steps[static_cast<size_t>(d)][j];
      const int64_t v = positions[at];
      offset += (v < 0 ? v + self.size(d) : v) * self.stride(d);
    }
    f(offset, i);
    for (int64_t d = rank - 1; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
  }
}

Status index(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  if (args.list_size(1) == 0) return invalid({"at least one index must be provided"});
  BP_ASSIGN_OR_RETURN(const Indexing indexing, plan(ctx, args, self));
  const Dims shape = result_shape(self, indexing);
  const Tensor out = args.out(0);
  BP_TRY(ctx.resize(out, shape));
  const auto size = static_cast<size_t>(size_of(self.dtype()));
  BP_ASSIGN_OR_RETURN(auto* dense, ctx.scratch<std::byte>(std::max<int64_t>(
                                       out.numel() * static_cast<int64_t>(size), 1)));
  std::byte* to = out.is_contiguous() ? out.bytes() : dense;
  for_each(self, indexing, shape, [&](int64_t offset, int64_t i) {
    std::copy_n(self.bytes() + offset * static_cast<int64_t>(size), size,
                to + i * static_cast<int64_t>(size));
  });
  if (to != dense) return Ok{};
  Dims strides(shape.size(), 1);
  for (int64_t d = shape.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * shape[d];
  bp_tensor_t raw = *out.raw();
  raw.data = dense;
  raw.byte_offset = 0;
  raw.strides = const_cast<int64_t*>(strides.begin());  // NOLINT: the C struct has no const
  copy_bytes(Tensor(&raw), out);
  return Ok{};
}

template <class T>
Status put_values(Context& ctx, const Tensor& values, const Indexing& indexing, const Dims& shape,
                  bool accumulate, const Tensor& out) {
  BP_ASSIGN_OR_RETURN(const T* from, read<T>(ctx, values));
  Dims steps(shape.size(), 0);
  int64_t step = 1;
  for (int64_t d = values.dim() - 1; d >= 0; --d) {
    if (values.size(d) != 1) steps[d + shape.size() - values.dim()] = step;
    step *= values.size(d);
  }
  const DType native = kNative<T>;
  const int64_t size = size_of(out.dtype());
  for_each(out, indexing, shape, [&](int64_t offset, int64_t i) {
    int64_t rest = i;
    int64_t at = 0;
    for (int64_t d = shape.size() - 1; d >= 0; --d) {
      at += rest % shape[d] * steps[d];
      rest /= shape[d];
    }
    T value = from[at];
    std::byte* place = out.bytes() + offset * size;
    if (accumulate) {
      T old;
      load(&old, out.dtype(), place, 1, 1);
      value = out.dtype() == DType::boolean ? T(old != T{} || value != T{}) : T(old + value);
    }
    store(native, &value, out.dtype(), place, 1, 1);
  });
  return Ok{};
}

Status put(Context& ctx, const Args& args, const Tensor& out) {
  const Tensor self = args.tensor(0);
  const Tensor values = args.tensor(2);
  BP_ASSIGN_OR_RETURN(const Indexing indexing, plan(ctx, args, self));
  const Dims shape = result_shape(self, indexing);
  // One true-or-false index and one value: as masked_fill, which lets ranks and dtypes differ.
  const bool fill = values.numel() == 1 && !args.boolean(3);
  const auto common = broadcast(values.shape(), shape);
  if (!fill && (!common || !(*common == shape))) {
    return invalid({"shape mismatch: value tensor of shape ", values.shape(),
                    " cannot be broadcast to indexing result of shape ", shape});
  }
  if (!fill && values.dtype() != self.dtype()) {
    return invalid({"Index put requires the source and destination dtypes match, got ",
                    self.dtype(), " for the destination and ", values.dtype(), " for the source."});
  }
  Strided one(values);
  if (fill) {
    one.shape = {};
    one.strides = {};
  }
  return dispatch<float, double, int64_t, Complex64, Complex128>(out.dtype(), [&]<class T>() {
    return put_values<T>(ctx, one.tensor(), indexing, shape, args.boolean(3), out);
  });
}

Status index_put(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(0);
  BP_TRY(ctx.resize(out, self.shape()));
  if (out.bytes() != self.bytes()) copy_bytes(self, out);
  return put(ctx, args, out);
}
Status index_put_in_place(Context& ctx, const Args& args) {
  return put(ctx, args, args.tensor(0));
}

constexpr Entry table[] = {
    {"aten::_index_put_impl.out", "tLtbb>t", index_put, kAll, BP_KERNEL_IN_PLACE},
    {"aten::_unsafe_index.Tensor_out", "tL>t", index},
    {"aten::_unsafe_index_put.out", "tLtb>t", index_put, kAll, BP_KERNEL_IN_PLACE},
    {"aten::index.Tensor_out", "tL>t", index},
    {"aten::index_put.out", "tLtb>t", index_put, kAll, BP_KERNEL_IN_PLACE},
    {"aten::index_put_", "tLtb>", index_put_in_place},
};

}  // namespace

extern const std::span<const Entry> advanced_kernels = table;

}  // namespace backplane::portable
