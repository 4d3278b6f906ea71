// Intervals. Every function here grows or falls in each operand, so ends come from ends.
#include "reader/interval.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>

namespace backplane {
namespace {

using Kind = Expression::Kind;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Interval kAnything = {-kInfinity, kInfinity};
constexpr double kMaxExact = 9.0e18;  // what surely fits into int64_t

// What a symbol can be.
using Lookup = std::function<Interval(const std::string& name)>;

Interval evaluate(const Expression& e, const Lookup& lookup);

// All of f(a, b) for the ends of both, where f is monotonic in each.
template <class F>
Interval corners(Interval a, Interval b, F f) {
  const std::array all = {f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)};
  for (const double value : all) {
    if (std::isnan(value)) return kAnything;
  }
  return {*std::min_element(all.begin(), all.end()), *std::max_element(all.begin(), all.end())};
}

Interval divided(Interval a, Interval b) {
  if (b.low <= 0 && b.high >= 0) return kAnything;
  return corners(a, b, [](double x, double y) { return x / y; });
}

Interval power(Interval a, Interval b) {
  if (b.low != b.high) return kAnything;
  if (b.low == -1) return divided({1, 1}, a);
  if (a.low < 0) return kAnything;
  return corners(a, b, [](double x, double y) { return std::pow(x, y); });
}

Interval unary(std::string_view name, Interval a) {
  if (name == "ToFloat" || name == "Identity") return a;
  if (name == "TruncToInt" || name == "TruncToFloat")
    return {std::trunc(a.low), std::trunc(a.high)};
  if (name == "FloorToInt") return {std::floor(a.low), std::floor(a.high)};
  if (name == "CeilToInt") return {std::ceil(a.low), std::ceil(a.high)};
  if (name == "RoundToInt") return {std::nearbyint(a.low), std::nearbyint(a.high)};
  if (name == "OpaqueUnaryFn_sqrt" && a.low >= 0) return {std::sqrt(a.low), std::sqrt(a.high)};
  if (name == "Not") return {0, 1};
  return kAnything;
}

Interval binary(std::string_view name, Interval a, Interval b) {
  if (name == "Pow" || name == "FloatPow" || name == "PowByNatural") return power(a, b);
  if (name == "IntTrueDiv" || name == "FloatTrueDiv") return divided(a, b);
  if (name == "FloorDiv" || name == "CleanDiv") {
    const Interval q = divided(a, b);
    return {std::floor(q.low), std::floor(q.high)};
  }
  if (name == "CeilDiv") {
    const Interval q = divided(a, b);
    return {std::ceil(q.low), std::ceil(q.high)};
  }
  if (name == "Mod" || name == "PythonMod") {
    return b.low > 0 ? Interval{0, b.high - 1} : kAnything;
  }
  for (const std::string_view truth : {"Equality", "Unequality", "StrictLessThan", "LessThan",
                                       "StrictGreaterThan", "GreaterThan"}) {
    if (name == truth) return {0, 1};
  }
  return kAnything;
}

Interval many(const Expression& e, const Lookup& lookup) {
  Interval total = evaluate(e.operands[0], lookup);
  for (size_t i = 1; i < e.operands.size(); ++i) {
    const Interval next = evaluate(e.operands[i], lookup);
    if (e.name == "Add") {
      total = {total.low + next.low, total.high + next.high};
    } else if (e.name == "Mul") {
      total = corners(total, next, [](double x, double y) { return x * y; });
    } else if (e.name == "Max") {
      total = {std::max(total.low, next.low), std::max(total.high, next.high)};
    } else {
      total = {std::min(total.low, next.low), std::min(total.high, next.high)};
    }
  }
  return std::isnan(total.low) || std::isnan(total.high) ? kAnything : total;
}

Interval evaluate(const Expression& e, const Lookup& lookup) {
  switch (e.kind) {
    case Kind::integer: {
      const auto value = static_cast<double>(e.integer);
      return {value, value};
    }
    case Kind::real:
      return {e.real, e.real};
    case Kind::infinity:
      return e.integer < 0 ? Interval{-kInfinity, -kInfinity} : Interval{kInfinity, kInfinity};
    case Kind::symbol:
      return lookup(e.name);
    case Kind::call:
      break;
  }
  if (e.operands.empty()) return kAnything;
  if (e.name == "Add" || e.name == "Mul" || e.name == "Max" || e.name == "Min") {
    return many(e, lookup);
  }
  if (e.operands.size() == 1) return unary(e.name, evaluate(e.operands[0], lookup));
  if (e.operands.size() != 2) return kAnything;
  return binary(e.name, evaluate(e.operands[0], lookup), evaluate(e.operands[1], lookup));
}

const SymbolInfo* find_symbol(const SymbolTable& symbols, const std::string& name) {
  const auto found = symbols.find(name);
  return found ? &symbols.info(*symbols.as_symbol(*found)) : nullptr;
}

}  // namespace

Interval interval_of(const Expression& e, const SymbolTable& symbols) {
  return evaluate(e, [&](const std::string& name) -> Interval {
    const SymbolInfo* symbol = find_symbol(symbols, name);
    if (symbol == nullptr) return kAnything;
    const auto [min, max] = symbol->range;
    return {min <= -kUnbounded ? -kInfinity : static_cast<double>(min),
            max >= kUnbounded ? kInfinity : static_cast<double>(max)};
  });
}

Range rounded_inward(Interval interval) {
  const double low = std::ceil(interval.low);
  const double high = std::floor(interval.high);
  if (low > high) return {-kUnbounded, kUnbounded};
  return {.min = low > -kMaxExact ? static_cast<int64_t>(std::min(low, kMaxExact)) : -kUnbounded,
          .max = high < kMaxExact ? static_cast<int64_t>(std::max(high, -kMaxExact)) : kUnbounded};
}

std::optional<int64_t> hint_of(const Expression& e, const SymbolTable& symbols) {
  const Interval at = evaluate(e, [&](const std::string& name) -> Interval {
    const SymbolInfo* symbol = find_symbol(symbols, name);
    if (symbol == nullptr || symbol->hint < 0) return kAnything;
    const auto hint = static_cast<double>(symbol->hint);
    return {hint, hint};
  });
  if (at.low != at.high || at.low != std::floor(at.low) || std::fabs(at.low) > kMaxExact) {
    return std::nullopt;
  }
  return static_cast<int64_t>(at.low);
}

}  // namespace backplane
