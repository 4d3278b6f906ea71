// Random expressions against direct evaluation of the same tree.
#include <doctest/doctest.h>

#include <random>

#include "graph/symbols.hpp"

namespace backplane {
namespace {

struct Sampled {
  int64_t value = 0;
  bool valid = true;  // no division by 0 below, and nothing large
};

struct Expression {
  SymOp op = SymOp::constant;
  int64_t payload = 0;
  std::vector<Expression> operands;
};

struct Bounds {
  int64_t min, max;
};
constexpr Bounds kSymbols[] = {{0, 9}, {1, 30}, {2, 5}, {-4, 4}};
constexpr int64_t kLarge = 1'000'000'000;

Expression random_expression(std::mt19937& random, int depth) {
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  if (depth == 0 || pick(6) == 0) {
    if (pick(3) == 0) return {SymOp::constant, pick(16) - 4, {}};
    return {SymOp::symbol, pick(static_cast<int>(std::size(kSymbols))), {}};
  }
  using enum SymOp;
  constexpr SymOp kOps[] = {add,        add,         add,   mul,        mul,         floor_div,
                            floor_div,  mod,         mod,   max,        min,         ceil_div,
                            eq,         ne,          lt,    le,         pow,         logical_and,
                            logical_or, logical_not, where, shift_left, shift_right, bit_and};
  Expression result = {kOps[pick(std::size(kOps))], 0, {}};
  const int arity = result.op == logical_not ? 1 : result.op == where ? 3 : 2;
  for (int i = 0; i < arity; ++i) {
    const bool small =
        i == 1 && (result.op == pow || result.op == shift_left || result.op == shift_right);
    const bool divisor = i == 1 && (result.op == floor_div || result.op == mod) && pick(2) == 0;
    if (small || divisor) {
      result.operands.push_back({constant, small ? pick(4) : pick(8) + 1, {}});
    } else {
      result.operands.push_back(random_expression(random, depth - 1));
    }
  }
  return result;
}

SymInt build(SymbolTable& symbols, const Expression& e) {
  if (e.op == SymOp::constant) return e.payload;
  if (e.op == SymOp::symbol) return symbols.symbol("s" + std::to_string(e.payload));
  std::vector<SymInt> operands;
  for (const Expression& x : e.operands) operands.push_back(build(symbols, x));
  return symbols.make(e.op, operands);
}

int64_t floored(int64_t a, int64_t b) {
  int64_t q = a / b;
  while (q * b > a && b > 0) --q;
  while (q * b < a && b < 0) --q;
  return q;
}

Sampled sample(const Expression& e, const std::vector<int64_t>& given) {
  if (e.op == SymOp::constant) return {e.payload};
  if (e.op == SymOp::symbol) return {given[static_cast<size_t>(e.payload)]};
  std::vector<int64_t> x;
  for (const Expression& operand : e.operands) {
    const Sampled s = sample(operand, given);
    if (!s.valid) return s;
    x.push_back(s.value);
  }
  x.resize(3);
  const auto result = [&]() -> Sampled {
    using enum SymOp;
    switch (e.op) {
      case add:
        return {x[0] + x[1]};
      case mul:
        return {x[0] * x[1]};
      case floor_div:
        return x[1] == 0 ? Sampled{0, false} : Sampled{floored(x[0], x[1])};
      case ceil_div:
        return x[1] == 0 ? Sampled{0, false} : Sampled{-floored(-x[0], x[1])};
      case mod:
        return x[1] == 0 ? Sampled{0, false} : Sampled{x[0] - x[1] * floored(x[0], x[1])};
      case max:
        return {x[0] > x[1] ? x[0] : x[1]};
      case min:
        return {x[0] < x[1] ? x[0] : x[1]};
      case pow: {
        Sampled power = {1};
        for (int64_t i = 0; i < x[1]; ++i) power.value *= x[0];
        return power;
      }
      case shift_left:
        return {x[0] * (int64_t{1} << x[1])};
      case shift_right:
        return {x[0] >> x[1]};
      case bit_and:
        return {x[0] & x[1]};
      case eq:
        return {x[0] == x[1]};
      case ne:
        return {x[0] != x[1]};
      case lt:
        return {x[0] < x[1]};
      case le:
        return {x[0] <= x[1]};
      case logical_and:
        return {x[0] && x[1]};
      case logical_or:
        return {x[0] || x[1]};
      case logical_not:
        return {!x[0]};
      default:
        return {x[0] ? x[1] : x[2]};
    }
  }();
  return {result.value, result.valid && result.value < kLarge && result.value > -kLarge};
}

struct Case {
  SymbolTable symbols;
  Expression expression;
  SymInt built;
};

Case random_case(std::mt19937& random) {
  Case result;
  for (size_t i = 0; i < std::size(kSymbols); ++i) {
    (void)result.symbols.symbol("s" + std::to_string(i));
    result.symbols.info(i).range = {kSymbols[i].min, kSymbols[i].max};
  }
  result.expression = random_expression(random, 5);
  result.built = build(result.symbols, result.expression);
  return result;
}

std::vector<int64_t> random_values(std::mt19937& random) {
  std::vector<int64_t> values;
  for (const Bounds& b : kSymbols) {
    values.push_back(std::uniform_int_distribution<int64_t>(b.min, b.max)(random));
  }
  return values;
}

}  // namespace

TEST_SUITE("core/symbols") {
  TEST_CASE(
      "a canonical form has the value of the expression that it came from, within its range") {
    std::mt19937 random(1);
    int compared = 0;
    for (int i = 0; i < 20000; ++i) {
      const Case c = random_case(random);
      const Range range = c.symbols.range(c.built);
      for (int j = 0; j < 20; ++j) {
        const std::vector<int64_t> values = random_values(random);
        const Sampled expected = sample(c.expression, values);
        if (!expected.valid) continue;
        ++compared;
        const std::optional<int64_t> actual =
            c.symbols.evaluate(c.built, SymbolValues(values.begin(), values.end()));
        INFO(c.symbols.text(c.built));
        REQUIRE(actual == expected.value);
        REQUIRE(range.min <= expected.value);
        REQUIRE(range.max >= expected.value);
      }
    }
    CHECK(compared > 200000);
  }

  TEST_CASE("an expression with a symbol replaced has the value at the replacement's value") {
    std::mt19937 random(2);
    for (int i = 0; i < 5000; ++i) {
      Case c = random_case(random);
      // Within the range of s1, which expressions were simplified by.
      const SymInt twice = c.symbols.mul(c.symbols.symbol("s0"), 3);
      const SymInt replaced = c.symbols.substitute(c.built, 1, c.symbols.add(twice, int64_t{1}));
      for (int j = 0; j < 10; ++j) {
        std::vector<int64_t> values = random_values(random);
        const auto actual =
            c.symbols.evaluate(replaced, SymbolValues(values.begin(), values.end()));
        values[1] = values[0] * 3 + 1;
        const Sampled expected = sample(c.expression, values);
        if (expected.valid) REQUIRE(actual == expected.value);
      }
    }
  }

  TEST_CASE("comparisons that are known hold for every value") {
    std::mt19937 random(3);
    int known = 0;
    for (int i = 0; i < 5000; ++i) {
      Case c = random_case(random);
      const Expression other = random_expression(random, 3);
      const SymInt b = build(c.symbols, other);
      const std::optional<bool> le = c.symbols.known_le(c.built, b);
      const std::optional<bool> eq = c.symbols.known_eq(c.built, b);
      known += le.has_value() + eq.has_value();
      for (int j = 0; j < 10; ++j) {
        const std::vector<int64_t> values = random_values(random);
        const Sampled x = sample(c.expression, values);
        const Sampled y = sample(other, values);
        if (!x.valid || !y.valid) continue;
        INFO(c.symbols.text(c.built), " ? ", c.symbols.text(b));
        if (le) REQUIRE(*le == (x.value <= y.value));
        if (eq) REQUIRE(*eq == (x.value == y.value));
      }
    }
    CHECK(known > 1000);
  }
}

}  // namespace backplane
