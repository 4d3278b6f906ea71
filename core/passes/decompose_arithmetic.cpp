// Element-wise composites, casts, factories, and other names for the same operator.
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "passes/decompose.hpp"
#include "passes/emit_views.hpp"

namespace backplane::passes {
namespace {

// Operators that are another under a second name, with the same arguments.
constexpr std::array<std::pair<std::string_view, std::string_view>, 66> kAliases = {{
    {"aten::__and__.Scalar", "aten::bitwise_and.Scalar"},
    {"aten::__and__.Tensor", "aten::bitwise_and.Tensor"},
    {"aten::__lshift__.Scalar", "aten::bitwise_left_shift.Tensor_Scalar"},
    {"aten::__lshift__.Tensor", "aten::bitwise_left_shift.Tensor"},
    {"aten::__or__.Scalar", "aten::bitwise_or.Scalar"},
    {"aten::__or__.Tensor", "aten::bitwise_or.Tensor"},
    {"aten::__rshift__.Scalar", "aten::bitwise_right_shift.Tensor_Scalar"},
    {"aten::__rshift__.Tensor", "aten::bitwise_right_shift.Tensor"},
    {"aten::__xor__.Scalar", "aten::bitwise_xor.Scalar"},
    {"aten::__xor__.Tensor", "aten::bitwise_xor.Tensor"},
    {"aten::absolute", "aten::abs"},
    {"aten::arccos", "aten::acos"},
    {"aten::arccosh", "aten::acosh"},
    {"aten::arcsin", "aten::asin"},
    {"aten::arcsinh", "aten::asinh"},
    {"aten::arctan", "aten::atan"},
    {"aten::arctan2", "aten::atan2"},
    {"aten::arctanh", "aten::atanh"},
    {"aten::clip", "aten::clamp"},
    {"aten::clip.Tensor", "aten::clamp.Tensor"},
    {"aten::divide.Scalar", "aten::div.Scalar"},
    {"aten::divide.Scalar_mode", "aten::div.Scalar_mode"},
    {"aten::divide.Tensor", "aten::div.Tensor"},
    {"aten::divide.Tensor_mode", "aten::div.Tensor_mode"},
    {"aten::fix", "aten::trunc"},
    {"aten::greater.Scalar", "aten::gt.Scalar"},
    {"aten::greater.Tensor", "aten::gt.Tensor"},
    {"aten::greater_equal.Scalar", "aten::ge.Scalar"},
    {"aten::greater_equal.Tensor", "aten::ge.Tensor"},
    {"aten::less.Scalar", "aten::lt.Scalar"},
    {"aten::less.Tensor", "aten::lt.Tensor"},
    {"aten::less_equal.Scalar", "aten::le.Scalar"},
    {"aten::less_equal.Tensor", "aten::le.Tensor"},
    {"aten::max.other", "aten::maximum"},
    {"aten::min.other", "aten::minimum"},
    {"aten::multiply.Scalar", "aten::mul.Scalar"},
    {"aten::multiply.Tensor", "aten::mul.Tensor"},
    {"aten::negative", "aten::neg"},
    {"aten::not_equal.Scalar", "aten::ne.Scalar"},
    {"aten::not_equal.Tensor", "aten::ne.Tensor"},
    {"aten::special_digamma", "aten::digamma"},
    {"aten::special_erf", "aten::erf"},
    {"aten::special_erfc", "aten::erfc"},
    {"aten::special_erfinv", "aten::erfinv"},
    {"aten::special_exp2", "aten::exp2"},
    {"aten::special_expit", "aten::sigmoid"},
    {"aten::special_expm1", "aten::expm1"},
    {"aten::special_gammaln", "aten::lgamma"},
    {"aten::special_i0", "aten::i0"},
    {"aten::special_log1p", "aten::log1p"},
    {"aten::special_log_softmax", "aten::log_softmax.int"},
    {"aten::special_logit", "aten::logit"},
    {"aten::special_logsumexp", "aten::logsumexp"},
    {"aten::special_psi", "aten::digamma"},
    {"aten::special_round", "aten::round.decimals"},
    {"aten::special_sinc", "aten::sinc"},
    {"aten::special_softmax", "aten::softmax.int"},
    {"aten::special_xlogy", "aten::xlogy.Tensor"},
    {"aten::special_xlogy.other_scalar", "aten::xlogy.Scalar_Other"},
    {"aten::special_xlogy.self_scalar", "aten::xlogy.Scalar_Self"},
    {"aten::subtract.Scalar", "aten::sub.Scalar"},
    {"aten::subtract.Tensor", "aten::sub.Tensor"},
    {"aten::true_divide.Scalar", "aten::div.Scalar"},
    {"aten::true_divide.Tensor", "aten::div.Tensor"},
    {"aten::view_as_complex_copy", "aten::view_as_complex"},
    {"aten::zero", "aten::zeros_like"},
}};

template <size_t I>
bool alias(Rewriter& r, const Node& node) {
  std::vector<Argument> args;
  const ops::Schema* target = r.table().find(kAliases[I].second);
  if (target == nullptr) return false;
  const size_t count = std::min(node.args.size(), target->parameters.size());
  for (size_t i = 0; i < count; ++i) args.push_back(node.args[i].value);
  r.replace(node, r.emit(kAliases[I].second, std::move(args)));
  return true;
}

bool to_dtype(Rewriter& r, const Node& node) {
  r.replace(node, cast(r, r.args(node).tensor("self"), result_type(r, node).dtype));
  return true;
}

// A number in the dtype that the result has.
Argument number_as(DType dtype, double value) {
  if (is_floating(dtype)) return value;
  if (dtype == DType::boolean) return value != 0;
  return static_cast<int64_t>(value);
}

bool fill_result(Rewriter& r, const Node& node, Argument value) {
  const TensorType type = result_type(r, node);
  r.replace(node, r.emit("aten::full", {r.integers(type.sizes), std::move(value)},
                         {{"dtype", type.dtype}}));
  return true;
}
bool zeros(Rewriter& r, const Node& node) {
  return fill_result(r, node, number_as(result_type(r, node).dtype, 0));
}
bool ones(Rewriter& r, const Node& node) {
  return fill_result(r, node, number_as(result_type(r, node).dtype, 1));
}
bool full(Rewriter& r, const Node& node) {
  return fill_result(r, node, r.args(node).raw("fill_value"));
}
bool fill(Rewriter& r, const Node& node) {
  return fill_result(r, node, r.args(node).raw("value"));
}

bool square(Rewriter& r, const Node& node) {
  const ValueRef x = r.args(node).tensor("self");
  if (r.dtype(x) == DType::boolean) return false;
  r.replace(node, r.emit("aten::mul.Tensor", {x, x}));
  return true;
}

// PyTorch computes half types of these in float and rounds once.
DType work_type(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

template <class F>
bool in_work_type(Rewriter& r, const Node& node, F&& compute) {
  const ValueRef self = r.args(node).tensor("self");
  const DType dtype = r.dtype(self);
  if (!is_floating(dtype)) return false;
  r.replace(node, cast(r, compute(cast(r, self, work_type(dtype))), dtype));
  return true;
}

bool silu(Rewriter& r, const Node& node) {
  return in_work_type(r, node, [&](ValueRef x) {
    return r.emit("aten::mul.Tensor", {x, r.emit("aten::sigmoid", {x})});
  });
}

ValueRef hard_gate(Rewriter& r, ValueRef x) {
  return r.emit("aten::clamp", {r.emit("aten::add.Scalar", {x, 3.0}), 0.0, 6.0});
}
bool hardswish(Rewriter& r, const Node& node) {
  return in_work_type(r, node, [&](ValueRef x) {
    return r.emit("aten::div.Scalar", {r.emit("aten::mul.Tensor", {x, hard_gate(r, x)}), 6.0});
  });
}
bool hardsigmoid(Rewriter& r, const Node& node) {
  return in_work_type(r, node, [&](ValueRef x) {
    return r.emit("aten::div.Scalar", {hard_gate(r, x), 6.0});
  });
}
bool relu6(Rewriter& r, const Node& node) {
  const ValueRef x = r.args(node).tensor("self");
  if (!is_floating(r.dtype(x))) return false;
  r.replace(node, r.emit("aten::hardtanh", {x, 0.0, 6.0}));
  return true;
}

// where with numbers: the numbers as tensors without dimensions, of the result's dtype.
bool where_numbers(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const TensorType type = result_type(r, node);
  const auto as_tensor = [&](std::string_view name) -> ValueRef {
    if (args.is_tensor(name)) return cast(r, args.tensor(name), type.dtype);
    return r.emit("aten::full", {IntList{}, args.raw(name)}, {{"dtype", type.dtype}});
  };
  const ValueRef self = as_tensor("self");
  const ValueRef other = as_tensor("other");
  r.replace(node, r.emit("aten::where.self", {args.tensor("condition"), self, other}));
  return true;
}

bool rsub(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  if (args.raw("alpha") != Argument(int64_t{1}) || !args.is_tensor("other")) return false;
  r.replace(node, r.emit("aten::sub.Tensor", {args.tensor("other"), args.tensor("self")}));
  return true;
}

template <size_t... I>
constexpr std::array<DecompositionRule, sizeof...(I)> alias_rules(std::index_sequence<I...>) {
  return {DecompositionRule{kAliases[I].first, alias<I>}...};
}

constexpr std::array kOwn = {
    DecompositionRule{"aten::empty_like", zeros},
    DecompositionRule{"aten::empty.memory_format", zeros},
    DecompositionRule{"aten::empty_permuted", zeros},
    DecompositionRule{"aten::empty_strided", zeros},
    DecompositionRule{"aten::new_empty", zeros},
    DecompositionRule{"aten::new_empty_strided", zeros},
    DecompositionRule{"aten::fill.Scalar", fill},
    DecompositionRule{"aten::full_like", full},
    DecompositionRule{"aten::hardsigmoid", hardsigmoid},
    DecompositionRule{"aten::hardswish", hardswish},
    DecompositionRule{"aten::new_full", full},
    DecompositionRule{"aten::new_ones", ones},
    DecompositionRule{"aten::new_zeros", zeros},
    DecompositionRule{"aten::ones", ones},
    DecompositionRule{"aten::ones_like", ones},
    DecompositionRule{"aten::relu6", relu6},
    DecompositionRule{"aten::rsub.Tensor", rsub},
    DecompositionRule{"aten::silu", silu},
    DecompositionRule{"aten::square", square},
    DecompositionRule{"aten::to.device", to_dtype},
    DecompositionRule{"aten::to.dtype", to_dtype},
    DecompositionRule{"aten::to.dtype_layout", to_dtype},
    DecompositionRule{"aten::to.other", to_dtype},
    DecompositionRule{"aten::to.prim_Device", to_dtype},
    DecompositionRule{"aten::to.prim_dtype", to_dtype},
    DecompositionRule{"aten::type_as", to_dtype},
    DecompositionRule{"aten::where.Scalar", where_numbers},
    DecompositionRule{"aten::where.ScalarOther", where_numbers},
    DecompositionRule{"aten::where.ScalarSelf", where_numbers},
    DecompositionRule{"aten::zeros", zeros},
    DecompositionRule{"aten::zeros_like", zeros},
};

template <size_t A, size_t B>
constexpr std::array<DecompositionRule, A + B> join(const std::array<DecompositionRule, A>& a,
                                                    const std::array<DecompositionRule, B>& b) {
  std::array<DecompositionRule, A + B> all{};
  for (size_t i = 0; i < A; ++i) all[i] = a[i];
  for (size_t i = 0; i < B; ++i) all[A + i] = b[i];
  return all;
}

constexpr auto kRules = join(kOwn, alias_rules(std::make_index_sequence<kAliases.size()>()));

}  // namespace

std::span<const DecompositionRule> arithmetic_rules() {
  return kRules;
}

}  // namespace backplane::passes
