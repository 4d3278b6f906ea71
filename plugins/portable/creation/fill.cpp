// Tensors made of one value, and those whose contents do not matter: these are zeros here, so that
// no run sees another one's memory.
#include "portable/map.hpp"
#include "portable/shape.hpp"

namespace backplane::portable {
namespace {

Status check_value(const Scalar& value, DType dtype) {
  return value.fits(dtype)
             ? Status(Ok{})
             : Status(invalid({"value cannot be converted to type ", dtype, " without overflow"}));
}

Status make(Context& ctx, const Tensor& out, std::span<const int64_t> shape, const Scalar& value) {
  BP_TRY(count(shape));
  BP_TRY(check_value(value, out.dtype()));
  BP_TRY(ctx.resize(out, shape));
  fill(out, value);
  return Ok{};
}

template <int64_t Value>
Status sized(Context& ctx, const Args& args) {  // zeros(size)
  return make(ctx, args.out(0), args.ints(0), Scalar(Value));
}
template <int64_t Value>
Status like(Context& ctx, const Args& args) {  // zeros_like(self)
  return make(ctx, args.out(0), args.tensor(0).shape(), Scalar(Value));
}
template <int64_t Value>
Status anew(Context& ctx, const Args& args) {  // new_zeros(self, size)
  return make(ctx, args.out(0), args.ints(1), Scalar(Value));
}

Status full(Context& ctx, const Args& args) {
  return make(ctx, args.out(0), args.ints(0), args.scalar(1));
}
Status full_like(Context& ctx, const Args& args) {  // and fill
  return make(ctx, args.out(0), args.tensor(0).shape(), args.scalar(1));
}
Status new_full(Context& ctx, const Args& args) {
  return make(ctx, args.out(0), args.ints(1), args.scalar(2));
}
Status scalar_tensor(Context& ctx, const Args& args) {
  const Tensor out = args.out(0);
  if (is_floating(out.dtype()) && !args.scalar(0).is_complex()) {  // PyTorch lets these overflow
    BP_TRY(ctx.resize(out, {}));
    fill(out, args.scalar(0));
    return Ok{};
  }
  return make(ctx, out, {}, args.scalar(0));
}

Status check_fill_tensor(const Args& args) {
  if (args.tensor(1).dim() != 0) {
    return invalid({"fill only supports 0-dimension value tensor but got tensor with ",
                    args.tensor(1).dim(), " dimensions"});
  }
  return Ok{};
}

Status fill_tensor(Context& ctx, const Args& args) {
  const Tensor value = args.tensor(1), out = args.out(0);
  BP_TRY(ctx.resize(out, args.tensor(0).shape()));
  fill(out, item(value));
  return Ok{};
}

constexpr Entry table[] = {
    {"aten::full.out", "ns>t", full},
    {"aten::full_like.out", "tsI>t", full_like},
    {"aten::new_full.out", "tns>t", new_full},
    {"aten::zeros.out", "n>t", sized<0>},
    {"aten::zeros_like.out", "tI>t", like<0>},
    {"aten::new_zeros.out", "tn>t", anew<0>},
    {"aten::zero.out", "t>t", like<0>},
    {"aten::ones.out", "n>t", sized<1>},
    {"aten::ones_like.out", "tI>t", like<1>},
    {"aten::new_ones.out", "tn>t", anew<1>},
    {"aten::empty.out", "nI>t", sized<0>},
    {"aten::empty_like.out", "tI>t", like<0>},
    {"aten::new_empty.out", "tn>t", anew<0>},
    {"aten::new_empty_strided.out", "tnn>t", anew<0>},
    {"aten::empty_strided.out", "nn>t", sized<0>},
    {"aten::empty_permuted.out", "nn>t", sized<0>},
    {"dim_order_ops::_empty_dim_order.out", "nN>t", sized<0>},
    {"aten::scalar_tensor.out", "s>t", scalar_tensor},
    {"aten::fill.Scalar_out", "ts>t", full_like, kAll, BP_KERNEL_MAY_ALIAS},
    {"aten::fill.Tensor_out", "tt>t", fill_tensor, kAll, 0, check_fill_tensor},
};

}  // namespace

extern const std::span<const Entry> fill_kernels = table;

}  // namespace backplane::portable
