// What an expression can be, by floating-point interval arithmetic over its symbols.
#pragma once

#include <cstdint>
#include <optional>

#include "graph/symbols.hpp"
#include "reader/expression.hpp"

namespace backplane {

// Both ends included; infinite where unbounded.
struct Interval {
  double low;
  double high;
};

// From the symbols' ranges. Functions that are not known here can be anything.
[[nodiscard]] Interval interval_of(const Expression& e, const SymbolTable& symbols);

// The integers in `interval`.
[[nodiscard]] Range rounded_inward(Interval interval);

// The integer that `e` is at its symbols' hints, if that follows.
[[nodiscard]] std::optional<int64_t> hint_of(const Expression& e, const SymbolTable& symbols);

}  // namespace backplane
