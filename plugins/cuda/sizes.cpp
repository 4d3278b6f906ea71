#include "cuda/sizes.hpp"

#include <backplane/graph.h>

#include <algorithm>
#include <optional>
#include <string>

namespace backplane::cuda {
namespace {

using Number = std::optional<int64_t>;  // nothing: overflow, or a division by 0

Number floor_div(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  const int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
Number modulo(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? std::nullopt : Number(0);
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
Number ceil_div(int64_t a, int64_t b) {
  const Number down = floor_div(a, b);
  if (!down) return std::nullopt;
  return *down + (a % b != 0 ? 1 : 0);
}
Number product(int64_t a, int64_t b) {
  int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::nullopt : Number(out);
}
Number sum(int64_t a, int64_t b) {
  int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::nullopt : Number(out);
}
Number power(int64_t a, int64_t b) {
  if (b < 0) return std::nullopt;
  Number out = 1;
  for (int64_t i = 0; i < b && out; ++i) {
    if (i > 63 && (a == 0 || a == 1)) break;
    out = product(*out, a);
  }
  return out;
}
Number shift(int64_t a, int64_t b, bool left) {
  if (b < 0 || b > 62) return std::nullopt;
  return left ? product(a, int64_t{1} << b) : Number(a >> b);
}

Number binary(uint32_t op, int64_t a, int64_t b) {
  switch (op) {
    case BP_SYM_ADD:
      return sum(a, b);
    case BP_SYM_MUL:
      return product(a, b);
    case BP_SYM_FLOOR_DIV:
      return floor_div(a, b);
    case BP_SYM_MOD:
      return modulo(a, b);
    case BP_SYM_CEIL_DIV:
      return ceil_div(a, b);
    case BP_SYM_MAX:
      return std::max(a, b);
    case BP_SYM_MIN:
      return std::min(a, b);
    case BP_SYM_POW:
      return power(a, b);
    case BP_SYM_SHIFT_LEFT:
      return shift(a, b, true);
    case BP_SYM_SHIFT_RIGHT:
      return shift(a, b, false);
    case BP_SYM_BIT_AND:
      return a & b;
    case BP_SYM_BIT_OR:
      return a | b;
    case BP_SYM_EQ:
      return a == b ? 1 : 0;
    case BP_SYM_NE:
      return a != b ? 1 : 0;
    case BP_SYM_LT:
      return a < b ? 1 : 0;
    case BP_SYM_LE:
      return a <= b ? 1 : 0;
    case BP_SYM_AND:
      return a != 0 && b != 0 ? 1 : 0;
    case BP_SYM_OR:
      return a != 0 || b != 0 ? 1 : 0;
    default:
      return std::nullopt;
  }
}

struct Machine {
  std::span<const InputFacts> inputs;
  std::vector<int64_t> values;  // of the sizes so far
  std::vector<int64_t> stack = {};

  // The value of a token that takes nothing from the stack.
  [[nodiscard]] Number leaf(const Token& token) const {
    const auto index = static_cast<size_t>(token.value);
    if (token.op == BP_SYM_CONSTANT) return token.value;
    if (token.op == kTokenSize) return values[index];
    if (token.op == kTokenInputNumber) return inputs[index].number;
    const auto& shape = inputs[index].shape;
    return token.count < shape.size() ? Number(shape[token.count]) : std::nullopt;
  }
  Number operation(const Token& token) {
    const auto operands = std::span(stack).last(token.count);
    Number out = operands[0];
    if (token.op == BP_SYM_NOT) {
      out = operands[0] == 0 ? 1 : 0;
    } else if (token.op == BP_SYM_WHERE) {
      out = operands[0] != 0 ? operands[1] : operands[2];
    } else {
      for (size_t i = 1; i < operands.size() && out; ++i) out = binary(token.op, *out, operands[i]);
    }
    stack.resize(stack.size() - token.count);
    return out;
  }
  Number run(std::span<const Token> tokens) {
    stack.clear();
    for (const Token& token : tokens) {
      const bool is_leaf = token.op == BP_SYM_CONSTANT || token.op >= kTokenSize;
      const Number value = is_leaf ? leaf(token) : operation(token);
      if (!value) return std::nullopt;
      stack.push_back(*value);
    }
    return stack.back();
  }
};

}  // namespace

Result<std::vector<int64_t>> evaluate_sizes(const PlanView& plan,
                                            std::span<const InputFacts> inputs) {
  if (inputs.size() != plan.inputs.size()) {
    return Error{Code::invalid_argument, std::to_string(inputs.size()) + " inputs, and there are " +
                                             std::to_string(plan.inputs.size())};
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const size_t rank = plan.buffers[plan.inputs[i]].dims.count;
    if (inputs[i].shape.size() == rank) continue;
    return Error{Code::invalid_argument, "input " + std::to_string(i) + " has " +
                                             std::to_string(inputs[i].shape.size()) +
                                             " dimensions, not " + std::to_string(rank)};
  }
  Machine machine{inputs, {}};
  machine.values.reserve(plan.sizes.size());
  for (const Size& size : plan.sizes) {
    const Number value = machine.run(plan.tokens.subspan(size.tokens.first, size.tokens.count));
    if (!value) {
      return Error{Code::internal, "size " + std::to_string(machine.values.size()) +
                                       " of the payload has no value"};
    }
    // What is never positive is a step backwards, not a size of anything.
    if (size.bound >= 0 && *value > size.bound) {
      return Error{Code::invalid_argument, "a size is " + std::to_string(*value) +
                                               ", above its bound " + std::to_string(size.bound)};
    }
    machine.values.push_back(*value);
  }
  return std::move(machine.values);
}

}  // namespace backplane::cuda
