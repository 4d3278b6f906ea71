// New tensors: by sizes, by ranges, like others.
#include <array>
#include <cmath>

#include "ops/meta/call.hpp"

namespace backplane::ops::meta {
namespace {

// Family::detail: the dtype where none is given.
enum Detail : int { default_float, of_value, i64 };

DType default_dtype(Call& call, const Family& family) {
  if (family.detail == i64) return DType::i64;
  if (family.detail == default_float) return DType::f32;
  const std::optional<Operand> value = call.operand("fill_value");
  if (!value) return DType::f32;
  const PromotedOperand scalar = {value->type.dtype, true, false};
  return result_type(std::span(&scalar, 1)).value_or(DType::f32);
}

void by_size(Call& call, const Family& family) {
  call.add(call.dtype("dtype").value_or(default_dtype(call, family)),
           call.integers(family.operands));
}

void like(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  call.add(call.dtype("dtype").value_or(self.dtype), self.sizes);
}

void new_like(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  call.add(call.dtype("dtype").value_or(self.dtype), call.integers("size"));
}

// A number as a float, if it is a literal.
std::optional<double> number(Call& call, std::string_view name, double otherwise) {
  const Argument& argument = call.raw(name);
  if (const auto* value = std::get_if<double>(&argument)) return *value;
  if (const auto* value = std::get_if<int64_t>(&argument)) return static_cast<double>(*value);
  if (const auto* value = std::get_if<bool>(&argument)) return *value ? 1 : 0;
  if (std::holds_alternative<None>(argument)) return otherwise;
  return std::nullopt;
}

void arange(Call& call, const Family&) {
  bool is_exact = true;
  for (const std::string_view name : {"start", "end", "step"}) {
    const std::optional<Operand> operand = call.operand(name);
    is_exact = is_exact && (!operand || operand->type.dtype == DType::i64);
  }
  const DType dtype = call.dtype("dtype").value_or(is_exact ? DType::i64 : DType::f32);
  if (is_exact) {
    const SymInt start = call.has("start") ? call.integer("start") : SymInt(0);
    const SymInt step = call.has("step") ? call.integer("step") : SymInt(1);
    if (step == SymInt(0)) return call.fail(Code::invalid_argument, "step is 0");
    const SymInt count = call.symbols().ceil_div(call.minus(call.integer("end"), start), step);
    return call.add(dtype, {count});
  }
  const auto start = number(call, "start", 0);
  const auto end = number(call, "end", 0);
  const auto step = number(call, "step", 1);
  if (!start || !end || !step) return call.fail(Code::unsupported, "a range of symbolic floats");
  const double count = std::ceil((*end - *start) / *step);
  if (!(count >= 0 && count < 9e15))
    return call.fail(Code::invalid_argument, "a range without an end");
  call.add(dtype, {static_cast<int64_t>(count)});
}

void of_count(Call& call, const Family& family) {
  call.add(call.dtype("dtype").value_or(default_dtype(call, family)),
           {call.integer(family.operands)});
}

void eye(Call& call, const Family&) {
  const SymInt n = call.integer("n");
  call.add(call.dtype("dtype").value_or(DType::f32), {n, call.has("m") ? call.integer("m") : n});
}

void scalar(Call& call, const Family&) {
  call.add(call.dtype("dtype").value_or(DType::f32), {});
}

constexpr std::array kRules = {
    Family{
        "zeros ones empty rand randn empty_strided empty_permuted dim_order_ops::_empty_dim_order",
        by_size, "size", default_float},
    Family{"full", by_size, "size", of_value},
    Family{"randint", by_size, "size", i64},
    Family{"zeros_like ones_like full_like empty_like rand_like randn_like randint_like", like},
    Family{"new_zeros new_ones new_full new_empty new_empty_strided", new_like},
    Family{"arange", arange},
    Family{"linspace logspace", of_count, "steps", default_float},
    Family{"randperm", of_count, "n", i64},
    Family{"prims::iota", of_count, "length", i64},
    Family{"hann_window hamming_window blackman_window bartlett_window kaiser_window", of_count,
           "window_length", default_float},
    Family{"eye", eye},
    Family{"scalar_tensor", scalar},
};

}  // namespace

std::span<const Family> factory_rules() {
  return kRules;
}

}  // namespace backplane::ops::meta
