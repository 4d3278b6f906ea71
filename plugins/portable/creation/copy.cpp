// Copies, with or without a change of dtype.
#include <algorithm>

#include "portable/dense.hpp"
#include "portable/map.hpp"
#include "portable/shape.hpp"
#include "portable/walk.hpp"

namespace backplane::portable {
namespace {

constexpr auto identity = loops<1>([](Number auto x) { return x; });

// self as out's dtype. Equal dtypes are moved as bytes.
Status convert(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0), out = args.out(0);
  if (self.dtype() != out.dtype()) {
    const Operand operands[] = {{self, {}}};
    return map(ctx, {identity, self.dtype(), operands}, out);
  }
  BP_TRY(ctx.resize(out, self.shape()));
  copy_bytes(self, out);
  return Ok{};
}

// src in self's shape and place; out may be self.
Status copy(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0), source = args.tensor(1), out = args.out(0);
  const Dims shape(self.shape());
  BP_ASSIGN_OR_RETURN(const Dims both, broadcast(shape, source.shape()));
  if (!(both == shape)) {
    return invalid({"the shape ", source.shape(), " cannot be broadcast to ", shape});
  }
  BP_TRY(ctx.resize(out, shape));
  bp_tensor_t expanded = *source.raw();
  Dims strides = broadcast_strides(source, shape), sizes = shape;
  expanded.ndim = static_cast<int32_t>(shape.size());
  expanded.shape = &sizes[0];
  expanded.strides = &strides[0];
  const Operand operands[] = {{Tensor(&expanded), {}}};
  if (source.dtype() == out.dtype()) {
    copy_bytes(Tensor(&expanded), out);
    return Ok{};
  }
  return map(ctx, {identity, source.dtype(), operands}, out);
}

Status check_same_dtype(const Args& args) {
  return args.tensor(0).dtype() == args.out(0).dtype()
             ? Status(Ok{})
             : Status(invalid({"expected out tensor to have dtype ", args.tensor(0).dtype(),
                               ", but got ", args.out(0).dtype(), " instead"}));
}

// A complex tensor and the pairs of its parts, either way, are the same bytes.
Status as_real(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0), out = args.out(0);
  Dims shape(self.shape()), strides;
  if (shape.size() == kMaxRank) {
    return error(Code::unsupported, {"a result of rank ", kMaxRank + 1, " is above ", kMaxRank});
  }
  for (const int64_t stride : self.strides()) {
    strides.push_back(stride * 2);
  }
  shape.push_back(2);
  strides.push_back(1);
  BP_TRY(ctx.resize(out, shape));
  bp_tensor_t parts = *self.raw();
  parts.dtype = to_dlpack(real_of(self.dtype()));
  parts.ndim = static_cast<int32_t>(shape.size());
  parts.shape = &shape[0];
  parts.strides = &strides[0];
  copy_bytes(Tensor(&parts), out);
  return Ok{};
}

Status check_as_real(const Args& args) {
  return args.out(0).dtype() == real_of(args.tensor(0).dtype())
             ? Status(Ok{})
             : Status(
                   invalid({"expected out tensor to have dtype ", real_of(args.tensor(0).dtype()),
                            ", but got ", args.out(0).dtype(), " instead"}));
}

Status check_as_complex(const Args& args) {
  const Tensor self = args.tensor(0);
  if (self.dim() == 0 || self.size(-1) != 2) {
    return invalid({"tensor must have a last dimension of size 2, got ", self.shape()});
  }
  return args.out(0).dtype() == complex_of(self.dtype())
             ? Status(Ok{})
             : Status(invalid({"expected out tensor to have dtype ", complex_of(self.dtype()),
                               ", but got ", args.out(0).dtype(), " instead"}));
}

Status as_complex(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0), out = args.out(0);
  Dims shape(self.shape());
  shape.erase(shape.size() - 1);
  BP_TRY(ctx.resize(out, shape));
  const int64_t part = size_of(self.dtype());
  const Dims strides[] = {Dims(out.strides()),
                          Dims(self.strides().first(static_cast<size_t>(shape.size())))};
  const Walk walk(shape, strides);
  Walk::Cursor cursor = walk.at(0);
  for (int64_t i = 0; i < walk.numel(); ++i, walk.advance(cursor, 1)) {
    std::byte* const to = out.bytes() + cursor.offset[0] * part * 2;
    const std::byte* const from = self.bytes() + cursor.offset[1] * part;
    std::copy_n(from, part, to);
    std::copy_n(from + self.stride(-1) * part, part, to + part);
  }
  return Ok{};
}

// The sizes of `self` when its bytes are read as elements of `dtype`.
Result<Dims> sizes_as(const Tensor& self, DType dtype) {
  Dims shape(self.shape());
  const int64_t from = size_of(self.dtype()), to = size_of(dtype);
  if (from == to) return shape;
  const int64_t last = shape.size() - 1;
  if (last < 0 || shape[last] * from % to != 0) {
    return invalid({"a tensor of ", self.dtype(), " and sizes ", self.shape(),
                    " can't be viewed as ", dtype, ": its last dimension is no whole number of ",
                    "elements"});
  }
  shape[last] = shape[last] * from / to;
  return shape;
}

Status check_bits(const Args& args) {
  const auto dtype = static_cast<DType>(args.integer(1));
  BP_TRY(sizes_as(args.tensor(0), dtype));
  if (args.out(0).dtype() == dtype) return Ok{};
  return invalid(
      {"expected out tensor to have dtype ", dtype, ", but got ", args.out(0).dtype(), " instead"});
}

// The same bytes as elements of another dtype: what is cut or joined is the last dimension.
Status as_bits(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0), out = args.out(0);
  BP_ASSIGN_OR_RETURN(const Dims shape, sizes_as(self, out.dtype()));
  BP_TRY(ctx.resize(out, shape));
  BP_ASSIGN_OR_RETURN(auto* bytes, ctx.scratch<std::byte>(std::max<int64_t>(self.numel(), 1) *
                                                          size_of(self.dtype())));
  const auto dense = [&](const Tensor& like, Dims& strides) {
    bp_tensor_t raw = *like.raw();
    int64_t stride = 1;
    for (int64_t d = like.dim(); d-- > 0; stride *= like.size(d)) strides[d] = stride;
    raw.data = bytes;
    raw.byte_offset = 0;
    raw.strides = &strides[0];
    return raw;
  };
  Dims from(self.dim(), 1), to(out.dim(), 1);
  bp_tensor_t before = dense(self, from), after = dense(out, to);
  copy_bytes(self, Tensor(&before));
  copy_bytes(Tensor(&after), out);
  return Ok{};
}

constexpr DTypes kAllComplex = kComplex | set_of(DType::c32);
constexpr uint32_t kPlain = BP_KERNEL_MAY_ALIAS;

constexpr Entry table[] = {
    {"aten::_to_copy.out", "tbI>t", convert, kAll, kPlain},
    {"aten::to.dtype_out", "tibbI>t", convert, kAll, kPlain},
    {"aten::type_as.out", "tt>t", convert, kAll, kPlain},
    {"aten::clone.out", "tI>t", convert, kAll, kPlain, check_same_dtype},
    {"aten::contiguous.out", "tI>t", convert, kAll, kPlain, check_same_dtype},
    {"aten::alias_copy.out", "t>t", convert, kAll, kPlain, check_same_dtype},
    {"aten::detach_copy.out", "t>t", convert, kAll, kPlain, check_same_dtype},
    {"aten::lift.out", "t>t", convert, kAll, kPlain, check_same_dtype},
    {"aten::lift_fresh_copy.out", "t>t", convert, kAll, kPlain, check_same_dtype},
    {"aten::resolve_conj.out", "t>t", convert, kAll, kPlain, check_same_dtype},
    {"aten::resolve_neg.out", "t>t", convert, kAll, kPlain, check_same_dtype},
    {"aten::copy.out", "ttb>t", copy, kAll, BP_KERNEL_IN_PLACE},
    {"aten::copy_", "ttb>t", copy, kAll, BP_KERNEL_IN_PLACE},
    {"aten::view_as_real_copy.out", "t>t", as_real, kAllComplex, 0, check_as_real},
    {"aten::view_as_complex_copy.out", "t>t", as_complex, kFloats - set_of(DType::bf16), 0,
     check_as_complex},
    {"aten::view_copy.dtype_out", "ti>t", as_bits, kAll, 0, check_bits},
    {"dim_order_ops::_to_dim_order_copy.out", "tbN>t", convert, kAll, kPlain},
    {"dim_order_ops::_clone_dim_order.out", "tbN>t", convert, kAll, kPlain, check_same_dtype},
};

}  // namespace

extern const std::span<const Entry> copy_kernels = table;

}  // namespace backplane::portable
