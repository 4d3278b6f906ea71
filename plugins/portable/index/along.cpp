// Elements and slices by indices along one dimension: gather, take, index_select, embedding.
#include "portable/index/along.hpp"

#include <algorithm>

namespace backplane::portable {

Result<int64_t> position(int64_t index, int64_t size, int64_t dim, bool wraps) {
  if (index < (wraps ? -size : 0) || index >= size)
    return invalid({"index ", index, " is out of bounds for dimension ", dim, " with size ", size});
  return index < 0 ? index + size : index;
}

Status check_index_dtype(const Tensor& index) {
  if (index.dtype() == DType::i64 || index.dtype() == DType::i32) return Ok{};
  return invalid({"expected dtype int32/int64 for index, got ", index.dtype()});
}

Status check_inside(const Tensor& index, const Tensor& other, int64_t skip, std::string_view what) {
  if (index.numel() == 0) return Ok{};
  if (std::max<int64_t>(other.dim(), 1) != std::max<int64_t>(index.dim(), 1)) {
    return invalid({"index tensor must have the same number of dimensions as ", what,
                    " tensor: ", index.shape(), " and ", other.shape()});
  }
  for (int64_t d = 0; d < std::max<int64_t>(index.dim(), 1); ++d) {
    const int64_t size = index.dim() == 0 ? 1 : index.size(d);
    if (d != skip && size > (other.dim() == 0 ? 1 : other.size(d))) {
      return invalid({"size does not match at dimension ", d, " expected index ", index.shape(),
                      " to be no larger than ", what, " ", other.shape(), " apart from dimension ",
                      skip});
    }
  }
  return Ok{};
}

Strided slice_at(const Tensor& tensor, int64_t dim, int64_t position) {
  Strided view(tensor);
  if (tensor.dim() == 0) return view;
  view.offset = position * view.strides[dim];
  view.shape.erase(dim);
  view.strides.erase(dim);
  return view;
}

Result<std::span<const int64_t>> positions(Context& ctx, const Tensor& index, int64_t size,
                                           int64_t dim, bool wraps) {
  if (index.dim() > 1)
    return invalid({"index is supposed to be a vector, but has shape ", index.shape()});
  BP_TRY(check_index_dtype(index));
  const int64_t count = index.numel();
  BP_ASSIGN_OR_RETURN(const int64_t* values, read<int64_t>(ctx, index));
  BP_ASSIGN_OR_RETURN(int64_t * checked, ctx.scratch<int64_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    BP_ASSIGN_OR_RETURN(checked[i], position(values[i], size, dim, wraps));
  }
  return std::span<const int64_t>(checked, static_cast<size_t>(count));
}

Result<How> how_of(std::string_view name) {
  if (name == "sum") return How::add;
  if (name == "prod") return How::multiply;
  if (name == "mean") return How::mean;
  if (name == "amax") return How::maximum;
  if (name == "amin") return How::minimum;
  return invalid({"reduce argument must be sum, prod, mean, amax or amin, got ", name});
}

namespace {

Status gather(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor index = args.tensor(2);
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  if (index.numel() > 0) BP_TRY(check_index_dtype(index));
  BP_TRY(check_inside(index, self, dim, "self"));
  BP_TRY(ctx.resize(out, index.shape()));
  const int64_t size = size_of(self.dtype());
  return for_index(ctx, index, dim, Place(self), Place(out), [&](int64_t from, int64_t to) {
    std::copy_n(self.bytes() + from * size, size, out.bytes() + to * size);
  });
}

// Elements of self as one row, by number.
Status take(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor index = args.tensor(1);
  const Tensor out = args.out(0);
  if (index.dtype() != DType::i64)
    return invalid({"take(): expected a long tensor for index, but got ", index.dtype()});
  if (self.numel() == 0 && index.numel() > 0)
    return invalid({"take(): tried to take from an empty tensor of shape ", self.shape()});
  BP_TRY(ctx.resize(out, index.shape()));
  const int64_t size = size_of(self.dtype());
  BP_ASSIGN_OR_RETURN(const int64_t* values, read<int64_t>(ctx, index));
  BP_ASSIGN_OR_RETURN(const std::byte* from, dense_bytes(ctx, self));
  BP_ASSIGN_OR_RETURN(std::byte * to, ctx.scratch<std::byte>(index.numel() * size));
  for (int64_t i = 0; i < index.numel(); ++i) {
    BP_ASSIGN_OR_RETURN(const int64_t at, position(values[i], self.numel(), 0, true));
    std::copy_n(from + at * size, size, to + i * size);
  }
  write_dense(to, out);
  return Ok{};
}

Status index_select(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  BP_ASSIGN_OR_RETURN(const auto chosen, positions(ctx, args.tensor(2), size, dim, false));
  Dims shape(self.shape());
  const auto count = static_cast<int64_t>(chosen.size());
  if (self.dim() == 0 && count != 1) {
    return invalid({"index_select(): expected one index for a tensor without dimensions, got ",
                    args.tensor(2).shape()});
  }
  if (self.dim() > 0) shape[dim] = count;
  BP_TRY(ctx.resize(out, shape));
  for (int64_t i = 0; i < count; ++i) {
    Strided from = slice_at(self, dim, chosen[static_cast<size_t>(i)]);
    Strided to = slice_at(out, dim, i);
    copy_bytes(from.tensor(), to.tensor());
  }
  return Ok{};
}

Status embedding(Context& ctx, const Args& args) {
  const Tensor weight = args.tensor(0);
  const Tensor index = args.tensor(1);
  const Tensor out = args.out(0);
  if (weight.dim() != 2) return invalid({"'weight' must be 2-D, not ", weight.shape()});
  BP_TRY(check_index_dtype(index));
  Dims shape(index.shape());
  if (shape.size() == kMaxRank) return invalid({"embedding: rank is over ", kMaxRank});
  shape.push_back(weight.size(1));
  BP_ASSIGN_OR_RETURN(const int64_t* rows, read<int64_t>(ctx, index));
  BP_TRY(ctx.resize(out, shape));
  for (int64_t i = 0; i < index.numel(); ++i) {
    if (rows[i] < 0 || rows[i] >= weight.size(0)) {
      return invalid({"index out of range in self: ", rows[i], " with ", weight.size(0), " rows"});
    }
    Strided from = slice_at(weight, 0, rows[i]);
    int64_t rest = i;
    Strided to(out);
    for (int64_t d = index.dim() - 1; d >= 0; --d) {
      to.offset += rest % index.size(d) * out.stride(d);
      rest /= index.size(d);
    }
    to.shape = Dims{weight.size(1)};
    to.strides = Dims{out.stride(-1)};
    copy_bytes(from.tensor(), to.tensor());
  }
  return Ok{};
}

constexpr Entry table[] = {
    {"aten::embedding.out", "ttibb>t", embedding},
    {"aten::gather.out", "titb>t", gather, kAll - kFloat8s},
    {"aten::index_select.out", "tit>t", index_select},
    {"aten::take.out", "tt>t", take, kNumbers},
};

}  // namespace

extern const std::span<const Entry> along_kernels = table;

}  // namespace backplane::portable
