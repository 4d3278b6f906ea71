// Operators that give each element from the elements at the same place.
#include <algorithm>
#include <cmath>

#include "cuda/compiler/ops/op_call.hpp"
#include "cuda/compiler/ops/promote.hpp"

namespace backplane::cuda::compiler {
namespace {

// How an operator's text is computed: operands and result in the result's dtype; or operands in
// their common dtype, and the result is a bool.
enum class In : uint8_t { result, operands };

struct Formula {
  std::string_view op;
  std::string_view text;  // functions: kernels/prelude.cuh
  In in = In::result;
};

constexpr Formula kUnary[] = {
    {"aten::abs", "math_abs($0)"},
    {"aten::acos", "math_acos($0)"},
    {"aten::acosh", "math_acosh($0)"},
    {"aten::asin", "math_asin($0)"},
    {"aten::asinh", "math_asinh($0)"},
    {"aten::atan", "math_atan($0)"},
    {"aten::atanh", "math_atanh($0)"},
    {"aten::bitwise_not", "bit_not($0)"},
    {"aten::ceil", "math_ceil($0)"},
    {"aten::cos", "math_cos($0)"},
    {"aten::cosh", "math_cosh($0)"},
    {"aten::erf", "math_erf($0)"},
    {"aten::erfc", "math_erfc($0)"},
    {"aten::exp", "math_exp($0)"},
    {"aten::exp2", "math_exp2($0)"},
    {"aten::expm1", "math_expm1($0)"},
    {"aten::floor", "math_floor($0)"},
    {"aten::frac", "$0 - math_trunc($0)"},
    {"aten::hardsigmoid", "math_min(math_max($0 + 3, 0), 6) / 6"},
    {"aten::hardswish", "$0 * math_min(math_max($0 + 3, 0), 6) / 6"},
    {"aten::isfinite", "is_finite($0)", In::operands},
    {"aten::isinf", "is_infinite($0)", In::operands},
    {"aten::isnan", "$0 != $0", In::operands},
    {"aten::lgamma", "math_lgamma($0)"},
    {"aten::log", "math_log($0)"},
    {"aten::log10", "math_log10($0)"},
    {"aten::log1p", "math_log1p($0)"},
    {"aten::log2", "math_log2($0)"},
    {"aten::log_sigmoid", "math_min($0, 0) - math_log1p(math_exp(-math_abs($0)))"},
    {"aten::logical_not", "$0 == 0", In::operands},
    {"aten::mish", "$0 * math_tanh(math_log1p(math_exp($0)))"},
    {"aten::neg", "-$0"},
    {"aten::reciprocal", "1 / $0"},
    {"aten::relu", "math_max($0, 0)"},
    {"aten::relu6", "math_min(math_max($0, 0), 6)"},
    {"aten::round", "math_round($0)"},
    {"aten::rsqrt", "math_rsqrt($0)"},
    {"aten::sigmoid", "1 / (1 + math_exp(-$0))"},
    {"aten::sign", "math_sign($0)"},
    {"aten::signbit", "sign_bit($0)", In::operands},
    {"aten::silu", "$0 / (1 + math_exp(-$0))"},
    {"aten::sin", "math_sin($0)"},
    {"aten::sinh", "math_sinh($0)"},
    {"aten::sqrt", "math_sqrt($0)"},
    {"aten::square", "$0 * $0"},
    {"aten::tan", "math_tan($0)"},
    {"aten::tanh", "math_tanh($0)"},
    {"aten::trunc", "math_trunc($0)"},
};

constexpr Formula kBinary[] = {
    {"aten::atan2", "math_atan2($0, $1)"},
    {"aten::bitwise_and.Scalar", "$0 & $1"},
    {"aten::bitwise_and.Tensor", "$0 & $1"},
    {"aten::bitwise_left_shift.Tensor", "$0 << $1"},
    {"aten::bitwise_or.Scalar", "$0 | $1"},
    {"aten::bitwise_or.Tensor", "$0 | $1"},
    {"aten::bitwise_right_shift.Tensor", "$0 >> $1"},
    {"aten::bitwise_xor.Scalar", "$0 ^ $1"},
    {"aten::bitwise_xor.Tensor", "$0 ^ $1"},
    {"aten::copysign.Scalar", "math_copysign($0, $1)"},
    {"aten::copysign.Tensor", "math_copysign($0, $1)"},
    {"aten::div.Scalar", "$0 / $1"},
    {"aten::div.Tensor", "$0 / $1"},
    {"aten::eq.Scalar", "$0 == $1", In::operands},
    {"aten::eq.Tensor", "$0 == $1", In::operands},
    {"aten::floor_divide", "floor_divide($0, $1)"},
    {"aten::fmax", "math_fmax($0, $1)"},
    {"aten::fmin", "math_fmin($0, $1)"},
    {"aten::fmod.Scalar", "math_fmod($0, $1)"},
    {"aten::fmod.Tensor", "math_fmod($0, $1)"},
    {"aten::ge.Scalar", "$0 >= $1", In::operands},
    {"aten::ge.Tensor", "$0 >= $1", In::operands},
    {"aten::gt.Scalar", "$0 > $1", In::operands},
    {"aten::gt.Tensor", "$0 > $1", In::operands},
    {"aten::hypot", "math_hypot($0, $1)"},
    {"aten::le.Scalar", "$0 <= $1", In::operands},
    {"aten::le.Tensor", "$0 <= $1", In::operands},
    {"aten::logical_and", "$0 != 0 && $1 != 0", In::operands},
    {"aten::logical_or", "$0 != 0 || $1 != 0", In::operands},
    {"aten::logical_xor", "($0 != 0) != ($1 != 0)", In::operands},
    {"aten::lt.Scalar", "$0 < $1", In::operands},
    {"aten::lt.Tensor", "$0 < $1", In::operands},
    {"aten::maximum", "math_max($0, $1)"},
    {"aten::minimum", "math_min($0, $1)"},
    {"aten::mul.Scalar", "$0 * $1"},
    {"aten::mul.Tensor", "$0 * $1"},
    {"aten::ne.Scalar", "$0 != $1", In::operands},
    {"aten::ne.Tensor", "$0 != $1", In::operands},
    {"aten::pow.Scalar", "math_pow($0, $1)"},
    {"aten::pow.Tensor_Tensor", "math_pow($0, $1)"},
    {"aten::remainder.Scalar", "remainder_of($0, $1)"},
    {"aten::remainder.Tensor", "remainder_of($0, $1)"},
    {"aten::xlogy.Tensor", "$0 == 0 && $1 == $1 ? $0 : $0 * math_log($1)"},
};

template <size_t N>
const Formula& formula_of(const Formula (&table)[N], std::string_view op) {
  return *std::find_if(std::begin(table), std::end(table),
                       [&](const Formula& f) { return f.op == op; });
}

// An argument's element at `at`, in `dtype`: of a tensor, or the number.
Result<ExprId> operand(OpCall& call, size_t arg, const std::vector<Index>& at, bp_dtype_t dtype) {
  if (!call.is_tensor(arg)) return call.number(arg, dtype);
  BP_ASSIGN_OR_RETURN(const TensorId t, call.tensor(arg));
  return call.broadcast(t, at, dtype);
}

// output 0 = text(arguments[0], arguments[1], …), each in `dtype`.
Status formula(OpCall& call, std::string_view text, bp_dtype_t result, bp_dtype_t dtype,
               std::initializer_list<size_t> arguments) {
  for (const size_t a : arguments)
    BP_TRY(operand(call, a, std::vector<Index>(16, call.ix.number(0)), dtype));
  return call.give([&](const std::vector<Index>& at) {
    std::vector<ExprId> operands;
    for (const size_t a : arguments) operands.push_back(*operand(call, a, at, dtype));
    return call.ex.apply(result, text, std::move(operands));
  });
}

Status unary(OpCall& call) {
  const Formula& f = formula_of(kUnary, call.op());
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  const bp_dtype_t dtype = f.in == In::result ? call.out_dtype() : call.at(x).dtype;
  // What changes no integer is not for them.
  const bool is_rounding = f.text.find("ceil") != std::string_view::npos ||
                           f.text.find("floor") != std::string_view::npos ||
                           f.text.find("round") != std::string_view::npos ||
                           f.text.find("trunc") != std::string_view::npos;
  return formula(call, is_rounding && !is_floating(dtype) ? "$0" : f.text, call.out_dtype(), dtype,
                 {0});
}

Status binary(OpCall& call) {
  const Formula& f = formula_of(kBinary, call.op());
  bp_dtype_t dtype = call.out_dtype();
  if (f.in == In::operands) {
    BP_ASSIGN_OR_RETURN(dtype, promoted(call, 0, 1));
  }
  return formula(call, f.text, call.out_dtype(), dtype, {0, 1});
}

Status div_mode(OpCall& call) {
  const std::string_view mode = call.text(2);
  const bp_dtype_t dtype = call.out_dtype();
  std::string_view text = "$0 / $1";
  if (mode == "floor") text = "floor_divide($0, $1)";
  if (mode == "trunc") text = is_floating(dtype) ? "math_trunc($0 / $1)" : "trunc_divide($0, $1)";
  return formula(call, text, dtype, dtype, {0, 1});
}

// self ± alpha · other, and other − alpha · self.
Status add_sub(OpCall& call) {
  const bool is_add = call.op().starts_with("aten::add");
  const bool is_reversed = call.op().starts_with("aten::rsub");
  const size_t alpha = 2;
  const bool is_plain = sdk::number_of(call.arg(alpha)) == 1.0;
  const bp_dtype_t dtype = call.out_dtype();
  std::string_view text = is_add ? "$0 + $1" : is_reversed ? "$1 - $0" : "$0 - $1";
  if (dtype == sdk::kBool) text = "$0 || $1";
  if (is_plain) return formula(call, text, dtype, dtype, {0, 1});
  text = is_add ? "$0 + $2 * $1" : is_reversed ? "$1 - $2 * $0" : "$0 - $2 * $1";
  return formula(call, text, dtype, dtype, {0, 1, alpha});
}

Status pow_number(OpCall& call) {
  const bp_dtype_t dtype = call.out_dtype();
  BP_ASSIGN_OR_RETURN(const double exponent, call.known_number(1));
  struct Special {
    double exponent;
    std::string_view text;
  };
  constexpr Special kSpecial[] = {{2, "$0 * $0"},         {3, "$0 * $0 * $0"},      {1, "$0"},
                                  {0.5, "math_sqrt($0)"}, {-0.5, "math_rsqrt($0)"}, {-1, "1 / $0"},
                                  {-2, "1 / ($0 * $0)"}};
  for (const Special& s : kSpecial) {
    const bool fits = is_floating(dtype) || (s.exponent > 0 && s.exponent != 0.5);
    if (s.exponent == exponent && fits) return formula(call, s.text, dtype, dtype, {0});
  }
  return formula(call, "math_pow($0, $1)", dtype, dtype, {0, 1});
}

Status gelu(OpCall& call) {
  const std::string_view text =
      call.text(1) == "tanh"
          ? "0.5f * $0 * (1 + math_tanh(0.79788456080286536f * ($0 + 0.044715f * $0 * $0 * $0)))"
          : "$0 * 0.5f * (1 + math_erf($0 * 0.70710678118654752f))";
  if (call.out_dtype() == sdk::kFloat64) return call.refuse("gelu of float64");
  return formula(call, text, call.out_dtype(), call.out_dtype(), {0});
}

Status leaky_relu(OpCall& call) {
  return formula(call, "$0 > 0 ? $0 : $0 * $1", call.out_dtype(), call.out_dtype(), {0, 1});
}
// elu(x, alpha, scale, input_scale)
Status elu(OpCall& call) {
  return formula(call, "$0 > 0 ? $0 * $2 : math_expm1($0 * $3) * $1 * $2", call.out_dtype(),
                 call.out_dtype(), {0, 1, 2, 3});
}
Status softplus(OpCall& call) {
  return formula(call, "$0 * $1 > $2 ? $0 : math_log1p(math_exp($0 * $1)) / $1", call.out_dtype(),
                 call.out_dtype(), {0, 1, 2});
}
Status threshold(OpCall& call) {
  return formula(call, "$0 <= $1 ? $2 : $0", call.out_dtype(), call.out_dtype(), {0, 1, 2});
}

// clamp, hardtanh: either bound may be None.
Status clamp(OpCall& call) {
  const bool has_min = call.num_args() > 1 && !call.is_none(1);
  const bool has_max = call.num_args() > 2 && !call.is_none(2);
  const bp_dtype_t dtype = call.out_dtype();
  if (has_min && has_max)
    return formula(call, "math_min(math_max($0, $1), $2)", dtype, dtype, {0, 1, 2});
  if (has_min) return formula(call, "math_max($0, $1)", dtype, dtype, {0, 1});
  return formula(call, "math_min($0, $1)", dtype, dtype, {0, 2});
}

Status where(OpCall& call) {
  const bp_dtype_t dtype = call.out_dtype();
  BP_ASSIGN_OR_RETURN(const TensorId condition, call.tensor(0));
  for (const size_t a : {1U, 2U})
    BP_TRY(operand(call, a, std::vector<Index>(16, call.ix.number(0)), dtype));
  return call.give([&](const std::vector<Index>& at) {
    return call.ex.apply(dtype, "$0 ? $1 : $2",
                         {call.broadcast(condition, at, sdk::kBool), *operand(call, 1, at, dtype),
                          *operand(call, 2, at, dtype)});
  });
}
Status masked_fill(OpCall& call) {
  const bp_dtype_t dtype = call.out_dtype();
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId mask, call.tensor(1));
  BP_TRY(operand(call, 2, std::vector<Index>(16, call.ix.number(0)), dtype));
  return call.give([&](const std::vector<Index>& at) {
    return call.ex.apply(dtype, "$0 ? $1 : $2",
                         {call.broadcast(mask, at, sdk::kBool), *operand(call, 2, at, dtype),
                          call.broadcast(x, at, dtype)});
  });
}

Status lerp(OpCall& call) {
  return formula(call, "$2 < 0.5f ? $0 + $2 * ($1 - $0) : $1 - ($1 - $0) * (1 - $2)",
                 call.out_dtype(), call.out_dtype(), {0, 1, 2});
}
// addcmul, addcdiv: self + value · a ∘ b.
Status addc(OpCall& call) {
  const bool is_product = call.op() == "aten::addcmul";
  return formula(call, is_product ? "$0 + $3 * $1 * $2" : "$0 + $3 * ($1 / $2)", call.out_dtype(),
                 call.out_dtype(), {0, 1, 2, 3});
}

Status copy(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  return call.give([&](const std::vector<Index>& at) { return call.broadcast(x, at); });
}
// copy(self, src): src, broadcast.
Status copy_from(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(1));
  return call.give([&](const std::vector<Index>& at) { return call.broadcast(x, at); });
}

std::vector<OpRule> make_rules() {
  std::vector<OpRule> rules;
  for (const Formula& f : kUnary) rules.push_back({f.op, unary});
  for (const Formula& f : kBinary) rules.push_back({f.op, binary});
  for (const OpRule& rule : std::initializer_list<OpRule>{
           {"aten::add.Tensor", add_sub},
           {"aten::add.Scalar", add_sub},
           {"aten::sub.Tensor", add_sub},
           {"aten::sub.Scalar", add_sub},
           {"aten::rsub.Tensor", add_sub},
           {"aten::rsub.Scalar", add_sub},
           {"aten::div.Tensor_mode", div_mode},
           {"aten::div.Scalar_mode", div_mode},
           {"aten::pow.Tensor_Scalar", pow_number},
           {"aten::gelu", gelu},
           {"aten::leaky_relu", leaky_relu},
           {"aten::elu", elu},
           {"aten::softplus", softplus},
           {"aten::threshold", threshold},
           {"aten::clamp", clamp},
           {"aten::clamp.Tensor", clamp},
           {"aten::hardtanh", clamp},
           {"aten::clamp_min", clamp},
           {"aten::clamp_min.Tensor", clamp},
           {"aten::where.self", where},
           {"aten::masked_fill.Scalar", masked_fill},
           {"aten::masked_fill.Tensor", masked_fill},
           {"aten::lerp.Scalar", lerp},
           {"aten::lerp.Tensor", lerp},
           {"aten::addcmul", addc},
           {"aten::addcdiv", addc},
           {"aten::_to_copy", copy},
           {"aten::clone", copy},
           {"aten::alias", copy},
           {"aten::copy", copy_from},
           {"aten::contiguous", copy},
           {"aten::detach", copy},
           {"aten::lift_fresh_copy", copy},
           {"dim_order_ops::_clone_dim_order", copy},
       })
    rules.push_back(rule);
  return rules;
}

}  // namespace

std::span<const OpRule> elementwise_rules() {
  static const std::vector<OpRule> rules = make_rules();
  return rules;
}

}  // namespace backplane::cuda::compiler
