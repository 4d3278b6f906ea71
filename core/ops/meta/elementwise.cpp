// Element by element: operands are broadcast, dtypes promoted.
#include <algorithm>
#include <array>

#include "ops/meta/call.hpp"

namespace backplane::ops::meta {
namespace {

// Family::detail: which dtype results have.
enum ResultDType : int {
  promoted,   // that of the operands together
  floating,   // the same, f32 for integers
  predicate,  // boolean
  first,      // that of the first operand
  real,       // that of a complex first operand's parts
};

DType parts_of(DType dtype) {
  switch (dtype) {
    case DType::c32:
      return DType::f16;
    case DType::c64:
      return DType::f32;
    case DType::c128:
      return DType::f64;
    default:
      return dtype;
  }
}

DType floating_of(DType dtype) {
  return is_floating(dtype) || is_complex(dtype) ? dtype : DType::f32;
}

// Operands are named in Family::operands; those behind a ';' count for sizes alone.
void combine(Call& call, std::string_view names, ResultDType result) {
  std::vector<PromotedOperand> promoting;
  Sizes sizes;
  std::optional<DType> dtype;
  bool counts = true;
  while (!names.empty()) {
    const size_t end = std::min(names.find_first_of(" ;"), names.size());
    const std::optional<Operand> operand = call.operand(names.substr(0, end));
    const bool ends_counting = end < names.size() && names[end] == ';';
    names.remove_prefix(std::min(end + 1, names.size()));
    if (operand) {
      if (counts && !dtype) dtype = operand->type.dtype;
      if (counts) {
        const bool is_zero_dim = operand->type.sizes.empty();
        promoting.push_back({operand->type.dtype, operand->is_scalar, is_zero_dim});
      }
      if (!operand->is_scalar) sizes = call.broadcast(sizes, operand->type.sizes);
    }
    counts = counts && !ends_counting;
  }
  if (!dtype) return call.fail(Code::invalid_argument, "no operand is given");
  if (result == promoted || result == floating) {
    dtype = result_type(promoting);
    if (!dtype)
      return call.fail(Code::invalid_argument, "the operands' dtypes have none in common");
    if (result == floating) dtype = floating_of(*dtype);
  }
  if (result == real) dtype = parts_of(*dtype);
  call.add(result == predicate ? DType::boolean : *dtype, std::move(sizes));
}

void elementwise(Call& call, const Family& family) {
  combine(call, family.operands, static_cast<ResultDType>(family.detail));
}

void divide(Call& call, const Family& family) {
  const bool rounds = std::holds_alternative<std::string>(call.raw("rounding_mode"));
  combine(call, family.operands, rounds ? promoted : floating);
}

void select_by_condition(Call& call, const Family&) {
  if (!call.has("self")) return call.fail(Code::unsupported, "sizes that depend on values");
  combine(call, "self other;condition", promoted);
}

// As pow(self, 2).
void square(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  call.add(self.dtype == DType::boolean ? DType::i64 : self.dtype, self.sizes);
}

void angle(Call& call, const Family&) {
  const TensorType self = call.tensor("self");
  call.add(floating_of(parts_of(self.dtype)), self.sizes);
}

// The sizes of `operands`, the dtype of argument dtype or other if there is one.
void convert(Call& call, const Family& family) {
  const TensorType& self = call.tensor(family.operands);
  const DType like = call.has("other") ? call.tensor("other").dtype : self.dtype;
  call.add(call.dtype("dtype").value_or(like), self.sizes);
}

void dropout_with_mask(Call& call, const Family& family) {
  const TensorType& input = call.tensor(family.operands);
  call.add(input);
  call.add(DType::boolean, input.sizes);
}

void log_sigmoid_forward(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  call.add(self);
  call.add(self.dtype, {0});
}

// clang-format off
constexpr std::array kRules = {
    Family{"alias bernoulli bitwise_not ceil celu clone conj conj_physical contiguous detach "
           "diagonal_scatter elu et_copy::_d2h_copy et_copy::_h2d_copy "
           "dim_order_ops::_clone_dim_order fill fix flip floor frac gelu hardshrink hardsigmoid "
           "hardswish hardtanh leaky_relu lift lift_fresh log_sigmoid mish msort nan_to_num neg "
           "negative positive relu relu6 resolve_conj resolve_neg roll round rrelu selu sgn sign "
           "silu softplus softshrink threshold tril triu trunc zero _conj _conj_physical "
           "_neg_view _lazy_clone", elementwise, "self", first},
    Family{"dropout alpha_dropout feature_dropout", elementwise, "input", first},
    Family{"copy", elementwise, "self", first},
    Family{"masked_fill masked_scatter", elementwise, "self;mask", first},
    Family{"lerp", elementwise, "self end;weight", promoted},
    Family{"prelu _prelu_kernel", elementwise, "self", first},
    Family{"add sub rsub mul maximum minimum fmax fmin fmod remainder floor_divide gcd lcm hypot "
           "max.other min.other nextafter bitwise_and bitwise_or bitwise_xor bitwise_left_shift "
           "bitwise_right_shift __and__ __or__ __xor__ __lshift__ __rshift__ subtract multiply",
           elementwise, "self other", promoted},
    Family{"heaviside", elementwise, "self values", promoted},
    Family{"pow", elementwise, "self exponent", promoted},
    Family{"clamp clip", elementwise, "self min max", promoted},
    Family{"clamp_min", elementwise, "self min", promoted},
    Family{"clamp_max", elementwise, "self max", promoted},
    Family{"addcmul addcdiv", elementwise, "self tensor1 tensor2", promoted},
    Family{"div divide true_divide", divide, "self other"},
    Family{"atan2 arctan2 copysign logaddexp logaddexp2 xlogy special_xlogy special_xlog1py",
           elementwise, "self other", floating},
    Family{"acos acosh asin asinh atan atanh cos cosh deg2rad digamma erf erfc erfinv exp exp2 "
           "expm1 i0 lgamma log log10 log1p log2 logit rad2deg reciprocal rsqrt sigmoid sin sinc "
           "sinh special_erfcx special_i0e special_i1 special_i1e special_ndtri special_log_ndtr "
           "special_entr sqrt tan tanh", elementwise, "self", floating},
    Family{"special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 "
           "special_modified_bessel_i0 special_modified_bessel_i1 special_modified_bessel_k0 "
           "special_modified_bessel_k1 special_ndtr polygamma mvlgamma",
           elementwise, "self", floating},
    Family{"special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 "
           "special_spherical_bessel_j0 special_airy_ai", elementwise, "x", floating},
    Family{"igamma igammac special_zeta ldexp", elementwise, "self other", floating},
    Family{"isfinite isinf isnan isneginf isposinf logical_not signbit isreal",
           elementwise, "self", predicate},
    Family{"eq ne lt le gt ge logical_and logical_or logical_xor isclose not_equal",
           elementwise, "self other", predicate},
    Family{"abs absolute real imag", elementwise, "self", real},
    Family{"angle", angle},
    Family{"square", square},
    Family{"where", select_by_condition},
    Family{"_to_copy to dim_order_ops::_to_dim_order_copy type_as", convert, "self"},
    Family{"prims::convert_element_type", convert, "a"},
    Family{"native_dropout", dropout_with_mask, "input"},
    Family{"log_sigmoid_forward", log_sigmoid_forward},
};
// clang-format on

}  // namespace

std::span<const Family> elementwise_rules() {
  return kRules;
}

}  // namespace backplane::ops::meta
