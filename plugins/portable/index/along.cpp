// Indices along one dimension: gather, scatter, index_select and their like.
#include <algorithm>

#include "portable/views/strided.hpp"

namespace backplane::portable {
namespace {

Result<int64_t> wrapped(int64_t index, int64_t size, int64_t dim) {
  if (index < -size || index >= size)
    return invalid({"index ", index, " is out of bounds for dimension ", dim, " with size ", size});
  return index < 0 ? index + size : index;
}

// Calls f(offsets in elements into a and b, i) for every element of `index`, whose value stands for
// the coordinate of `dim` in a; b has the index's own coordinates. Negative values are refused.
template <class F>
Status for_index(Context& ctx, const Tensor& index, const Tensor& a, const Tensor& b, int64_t dim,
                 F&& f) {
  BP_ASSIGN_OR_RETURN(const int64_t* values, read<int64_t>(ctx, index));
  const int64_t rank = index.dim();
  Dims at(rank, 0);
  for (int64_t i = 0, n = index.numel(); i < n; ++i) {
    const int64_t size = a.dim() == 0 ? 1 : a.size(dim);
    if (values[i] < 0 || values[i] >= size)
      return invalid(
          {"index ", values[i], " is out of bounds for dimension ", dim, " with size ", size});
    int64_t from = 0;
    int64_t to = 0;
    for (int64_t d = 0; d < rank; ++d) {
      if (a.dim() > 0) from += (d == dim ? values[i] : at[d]) * a.stride(d);
      if (b && b.dim() > 0) to += at[d] * b.stride(d);
    }
    f(from, to);
    for (int64_t d = rank - 1; d >= 0 && ++at[d] == index.size(d); --d) at[d] = 0;
  }
  return Ok{};
}

// `index` may be smaller than `other` in all dimensions but one.
Status check_inside(const Tensor& index, const Tensor& other, int64_t skip, std::string_view what) {
  const int64_t rank = std::max<int64_t>(index.dim(), 1);
  if (index.numel() == 0) return Ok{};
  if (std::max<int64_t>(other.dim(), 1) != rank) {
    return invalid({"index tensor must have the same number of dimensions as ", what,
                    " tensor: ", index.shape(), " and ", other.shape()});
  }
  for (int64_t d = 0; d < index.dim() && d < other.dim(); ++d) {
    if (d != skip && index.size(d) > other.size(d)) {
      return invalid({"size does not match at dimension ", d, " expected index ", index.shape(),
                      " to be no larger than ", what, " ", other.shape(), " apart from dimension ",
                      skip});
    }
  }
  return Ok{};
}

Status gather(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor index = args.tensor(2);
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  if (index.dtype() != DType::i64 && index.dtype() != DType::i32)
    return invalid({"gather(): expected dtype int32/int64 for index, got ", index.dtype()});
  BP_TRY(check_inside(index, self, dim, "self"));
  BP_TRY(ctx.resize(out, index.shape()));
  const int64_t size = size_of(self.dtype());
  return for_index(ctx, index, self, out, dim, [&](int64_t from, int64_t to) {
    std::copy_n(self.bytes() + from * size, size, out.bytes() + to * size);
  });
}

enum class How : uint8_t { set, add, multiply, mean, maximum, minimum };

template <class T>
T combine(How how, T old, T value) {
  switch (how) {
    case How::set:
      return value;
    case How::multiply:
      return old * value;
    case How::maximum:
      if constexpr (requires { old < value; }) return old != old || value < old ? old : value;
      return value;
    case How::minimum:
      if constexpr (requires { old < value; }) return old != old || old < value ? old : value;
      return value;
    default:
      return old + value;
  }
}

// Writes to out at `index`; values come from src, or are one number.
template <class T>
Status scatter_into(Context& ctx, const Tensor& index, const Tensor& src, const Scalar& number,
                    How how, int64_t dim, const Tensor& out) {
  const int64_t out_size = size_of(out.dtype());
  const int64_t src_size = src ? size_of(src.dtype()) : 0;
  const T constant = number.to<T>();
  return for_index(ctx, index, out, src, dim, [&](int64_t to, int64_t from) {
    T value = constant;
    if (src) load(&value, src.dtype(), src.bytes() + from * src_size, 1, 1);
    std::byte* place = out.bytes() + to * out_size;
    if (how != How::set) {
      T old;
      load(&old, out.dtype(), place, 1, 1);
      value = combine(how, old, value);
    }
    store(kNative<T>, &value, out.dtype(), place, 1, 1);
  });
}

Result<How> how_of(std::string_view name) {
  if (name == "add" || name == "sum") return How::add;
  if (name == "multiply" || name == "prod") return How::multiply;
  if (name == "amax") return How::maximum;
  if (name == "amin") return How::minimum;
  return invalid(
      {"reduce argument must be one of sum, prod, amax, amin, add, multiply, got ", name});
}

Status scatter_with(Context& ctx, const Args& args, How how, bool has_src) {
  const Tensor self = args.tensor(0);
  const Tensor index = args.tensor(2);
  const Tensor src = has_src ? args.tensor(3) : Tensor();
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  if (src && src.dtype() != self.dtype())
    return invalid({"scatter(): expected self.dtype to be equal to src.dtype: ", self.dtype(),
                    " and ", src.dtype()});
  BP_TRY(check_inside(index, self, dim, "self"));
  if (src) BP_TRY(check_inside(index, src, -1, "src"));
  BP_TRY(ctx.resize(out, self.shape()));
  if (out.bytes() != self.bytes()) copy_bytes(self, out);
  const Scalar number = has_src ? Scalar() : args.scalar(3);
  return dispatch<float, double, int64_t, Complex64, Complex128>(out.dtype(), [&]<class T>() {
    return scatter_into<T>(ctx, index, src, number, how, dim, out);
  });
}
Status scatter_src(Context& ctx, const Args& args) {
  return scatter_with(ctx, args, How::set, true);
}
Status scatter_value(Context& ctx, const Args& args) {
  return scatter_with(ctx, args, How::set, false);
}
Status scatter_add(Context& ctx, const Args& args) {
  return scatter_with(ctx, args, How::add, true);
}
template <bool Src>
Status scatter_reduce(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const How how, how_of(args.string(4)));
  return scatter_with(ctx, args, how, Src);
}

// A list of positions along one dimension: each stands for a slice.
struct Positions {
  const int64_t* values;
  int64_t count;
};
Result<Positions> positions(Context& ctx, const Tensor& index, int64_t size, int64_t dim,
                            int64_t* space) {
  if (index.dim() > 1)
    return invalid({"index is supposed to be a vector, but has shape ", index.shape()});
  BP_ASSIGN_OR_RETURN(const int64_t* values, read<int64_t>(ctx, index));
  for (int64_t i = 0; i < index.numel(); ++i) {
    BP_ASSIGN_OR_RETURN(space[i], wrapped(values[i], size, dim));
  }
  return Positions{space, index.numel()};
}

// The slice at `position` of `dim`; a tensor without dimensions is its own slice.
Strided slice_at(const Tensor& tensor, int64_t dim, int64_t position) {
  Strided view(tensor);
  if (tensor.dim() == 0) return view;
  view.offset = position * view.strides[dim];
  view.shape.erase(dim);
  view.strides.erase(dim);
  return view;
}

Status index_select(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor index = args.tensor(2);
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  BP_ASSIGN_OR_RETURN(int64_t * space, ctx.scratch<int64_t>(std::max<int64_t>(index.numel(), 1)));
  BP_ASSIGN_OR_RETURN(const Positions p,
                      positions(ctx, index, self.dim() == 0 ? 1 : self.size(dim), dim, space));
  Dims shape(self.shape());
  if (self.dim() > 0) shape[dim] = p.count;
  BP_TRY(ctx.resize(out, shape));
  for (int64_t i = 0; i < p.count; ++i) {
    Strided from = slice_at(self, dim, p.values[i]);
    Strided to = slice_at(out, dim, i);
    copy_bytes(from.tensor(), to.tensor());
  }
  return Ok{};
}

template <class F>
Status write_slices(Context& ctx, const Args& args, F&& write) {
  const Tensor self = args.tensor(0);
  const Tensor index = args.tensor(2);
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  BP_ASSIGN_OR_RETURN(int64_t * space, ctx.scratch<int64_t>(std::max<int64_t>(index.numel(), 1)));
  BP_ASSIGN_OR_RETURN(const Positions p,
                      positions(ctx, index, self.dim() == 0 ? 1 : self.size(dim), dim, space));
  BP_TRY(ctx.resize(out, self.shape()));
  if (out.bytes() != self.bytes()) copy_bytes(self, out);
  for (int64_t i = 0; i < p.count; ++i) BP_TRY(write(dim, i, slice_at(out, dim, p.values[i])));
  return Ok{};
}

Status index_copy(Context& ctx, const Args& args) {
  const Tensor source = args.tensor(3);
  const int64_t n = args.tensor(2).numel();
  BP_ASSIGN_OR_RETURN(const int64_t at, wrap_dim(args.integer(1), args.tensor(0).dim()));
  if (source.dim() > 0 && (source.dim() != args.tensor(0).dim() || source.size(at) != n)) {
    return invalid({"index_copy_(): number of indices (", n,
                    ") should be equal to source.size(dim) of ", source.shape()});
  }
  return write_slices(ctx, args, [&](int64_t dim, int64_t i, Strided to) -> Status {
    Strided from = slice_at(source, dim, source.dim() == 0 ? 0 : i);
    if (!(from.shape == to.shape))
      return invalid({"index_copy_(): source and destination slices must have the same shape: ",
                      from.shape, " and ", to.shape});
    convert(from.tensor(), to.tensor());
    return Ok{};
  });
}

Status index_fill(Context& ctx, const Args& args) {
  const Tensor out = args.out(0);
  const Scalar value = args.is_tensor(3) ? Scalar() : args.scalar(3);
  return write_slices(ctx, args, [&](int64_t, int64_t, Strided to) -> Status {
    return dispatch<float, double, int64_t, Complex64, Complex128>(
        out.dtype(), [&]<class T>() -> Status {
          T number = value.to<T>();
          if (args.is_tensor(3))
            load(&number, args.tensor(3).dtype(), args.tensor(3).bytes(), 1, 1);
          const Tensor place = to.tensor();
          bp_tensor_t raw = *place.raw();
          Dims zero(place.dim(), 0);
          raw.data = &number;
          raw.byte_offset = 0;
          raw.strides = const_cast<int64_t*>(zero.begin());  // NOLINT: the C struct has no const
          raw.dtype = to_dlpack(kNative<T>);
          convert(Tensor(&raw), place);
          return Ok{};
        });
  });
}

Status embedding(Context& ctx, const Args& args) {
  const Tensor weight = args.tensor(0);
  const Tensor index = args.tensor(1);
  const Tensor out = args.out(0);
  if (weight.dim() != 2) return invalid({"'weight' must be 2-D, not ", weight.shape()});
  if (index.dtype() != DType::i64 && index.dtype() != DType::i32) {
    return invalid(
        {"expected tensor for argument 'indices' to have scalar type Long or Int; but got ",
         index.dtype()});
  }
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
    {"aten::gather.out", "titb>t", gather},
    {"aten::index_copy.out", "titt>t", index_copy, kAll, BP_KERNEL_IN_PLACE},
    {"aten::index_fill.int_Scalar_out", "tits>t", index_fill, kAll, BP_KERNEL_IN_PLACE},
    {"aten::index_fill.int_Tensor_out", "titt>t", index_fill, kAll, BP_KERNEL_IN_PLACE},
    {"aten::index_select.out", "tit>t", index_select},
    {"aten::scatter.reduce_out", "tittz>t", scatter_reduce<true>, kNumbers, BP_KERNEL_IN_PLACE},
    {"aten::scatter.src_out", "titt>t", scatter_src, kAll, BP_KERNEL_IN_PLACE},
    {"aten::scatter.value_out", "tits>t", scatter_value, kAll, BP_KERNEL_IN_PLACE},
    {"aten::scatter.value_reduce_out", "titsz>t", scatter_reduce<false>, kNumbers,
     BP_KERNEL_IN_PLACE},
    {"aten::scatter_add.out", "titt>t", scatter_add, kNumbers, BP_KERNEL_IN_PLACE},
};

}  // namespace

extern const std::span<const Entry> along_kernels = table;

}  // namespace backplane::portable
