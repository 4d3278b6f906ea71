// Symbolic integers: sizes that are known only when the program runs, and expressions over them.
//
// Expressions live in one SymbolTable per module and are hash-consed in a canonical form (sums of
// products with integer coefficients over symbols and opaque functions), so two SymInts of one
// table are equal as integers for all sizes if `==` says so. (The converse can't be promised.)
#pragma once

#include <backplane/result.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace backplane {

struct Polynomial;

// A constant, or an expression of a SymbolTable. Cheap to copy; compare only within one table.
class SymInt {
 public:
  constexpr SymInt(int64_t value = 0) : value_(value) {}  // NOLINT: an integer is a SymInt
  static constexpr SymInt expression(int32_t index) { return SymInt(index, 0); }

  [[nodiscard]] constexpr bool is_constant() const { return index_ < 0; }
  [[nodiscard]] constexpr int64_t constant() const { return value_; }  // only if is_constant()
  [[nodiscard]] constexpr int32_t index() const { return index_; }     // only if not

  friend constexpr bool operator==(const SymInt&, const SymInt&) = default;

 private:
  constexpr SymInt(int32_t index, int64_t value) : value_(value), index_(index) {}
  int64_t value_;
  int32_t index_ = -1;
};

inline constexpr int64_t kUnbounded = std::numeric_limits<int64_t>::max();

// Inclusive; max == kUnbounded means no upper bound.
struct Range {
  int64_t min = 0;
  int64_t max = kUnbounded;
  friend bool operator==(const Range&, const Range&) = default;
};

enum class SymOp : uint8_t {
  symbol,    // payload: index of the symbol
  constant,  // payload: the value; only inside expressions
  add,
  mul,  // n-ary, canonical
  floor_div,
  mod,
  ceil_div,
  max,
  min,
  pow,
  shift_left,
  shift_right,
  bit_and,
  bit_or,
  eq,
  ne,
  lt,
  le,
  logical_and,
  logical_or,
  logical_not,
  where,  // 0 or 1; where(c, a, b)
};

// What `op` (neither symbol nor constant) gives for numbers; saturates. Nothing on division by 0
// and on negative exponents or shifts.
[[nodiscard]] std::optional<int64_t> fold(SymOp op, std::span<const int64_t> operands);

// One symbol, e.g. `s15` (given by a size of an input) or `u0` (given by a node's result). Its
// range may only be narrowed once there are expressions of it: they were simplified by it.
struct SymbolInfo {
  std::string name;
  Range range;
  int64_t hint = -1;  // size at export, -1 if unknown: a typical value, never the truth
};

// One expression node: `op` over operands, in the order made. symbol and constant have none.
struct SymNode {
  SymOp op;
  int64_t payload = 0;
  std::vector<SymInt> operands;
};

// Values of symbols, by symbol index, while a program runs or a size is tried.
using SymbolValues = std::vector<std::optional<int64_t>>;

// Owns symbols and expressions. Grows only. Not thread safe; arithmetic saturates at ±kUnbounded.
class SymbolTable {
 public:
  // The symbol called `name`, made if new (range 0 to unbounded).
  SymInt symbol(std::string_view name);
  [[nodiscard]] std::optional<SymInt> find(std::string_view name) const;
  [[nodiscard]] size_t num_symbols() const { return symbols_.size(); }
  [[nodiscard]] const SymbolInfo& info(size_t index) const { return symbols_[index]; }
  // For changes at once: not to be kept across other calls.
  SymbolInfo& info(size_t index) {
    ++epoch_;
    return symbols_[index];
  }
  // The symbol's index if `value` is a bare symbol.
  [[nodiscard]] std::optional<size_t> as_symbol(SymInt value) const;

  SymInt add(SymInt a, SymInt b);
  SymInt sub(SymInt a, SymInt b);
  SymInt mul(SymInt a, SymInt b);
  SymInt neg(SymInt a);
  SymInt floor_div(SymInt a, SymInt b);  // rounds to minus infinity; b != 0
  SymInt ceil_div(SymInt a, SymInt b);
  SymInt mod(SymInt a, SymInt b);  // result has the sign of b
  SymInt max(SymInt a, SymInt b);
  SymInt min(SymInt a, SymInt b);
  SymInt product(std::span<const SymInt> factors);
  // Any other operator; operands as SymOp says.
  SymInt make(SymOp op, std::span<const SymInt> operands);

  [[nodiscard]] const SymNode& node(SymInt value) const {
    return nodes_[static_cast<size_t>(value.index())];
  }

  // What `value` can be, by interval arithmetic over the symbols' ranges.
  [[nodiscard]] Range range(SymInt value) const;
  // An upper bound, or nothing if it has none.
  [[nodiscard]] std::optional<int64_t> upper_bound(SymInt value) const;
  // The value where all symbols that it needs are given; nothing if one is not, or on division by
  // 0.
  [[nodiscard]] std::optional<int64_t> evaluate(SymInt value, const SymbolValues& given) const;
  // Evaluated at the symbols' hints.
  [[nodiscard]] std::optional<int64_t> hint(SymInt value) const;
  // `s0*4 + s1`, for people.
  [[nodiscard]] std::string text(SymInt value) const;
  // Indices of all symbols in `value`, ascending.
  [[nodiscard]] std::vector<size_t> symbols_of(SymInt value) const;
  // `value` with symbol `index` replaced.
  SymInt substitute(SymInt value, size_t index, SymInt replacement);

  // Three-valued comparisons by range: true, false, or nothing if it depends on the sizes.
  [[nodiscard]] std::optional<bool> known_eq(SymInt a, SymInt b) const;
  [[nodiscard]] std::optional<bool> known_le(SymInt a, SymInt b) const;
  // Whether `value` is the product of `factors` wherever none of them is 0, as far as the form
  // shows: with factors that are the sizes behind a dimension, whether it is its dense stride.
  [[nodiscard]] bool is_product(SymInt value, std::span<const SymInt> factors) const;

 private:
  struct CachedRange {
    Range range;
    uint32_t epoch = 0;  // valid while equal to epoch_
  };

  SymInt intern(SymNode node);
  [[nodiscard]] Polynomial polynomial(SymInt value) const;
  SymInt from(const Polynomial& polynomial);
  SymInt add_scaled(SymInt a, SymInt b, int64_t scale);
  SymInt divided(Polynomial numerator, Polynomial denominator);
  SymInt modulo(Polynomial numerator, const Polynomial& denominator);
  SymInt extremum(SymOp op, std::span<const SymInt> operands);
  SymInt compare(SymOp op, SymInt a, SymInt b);
  SymInt logical(SymOp op, std::span<const SymInt> operands);
  SymInt truth(SymInt value);
  SymInt negated(SymInt value);
  SymInt other(SymOp op, std::span<const SymInt> operands);

  // Indices of all nodes below and including `value`, ascending: operands come first.
  [[nodiscard]] std::vector<int32_t> reachable(SymInt value) const;
  [[nodiscard]] Range range_of(const Polynomial& polynomial) const;
  [[nodiscard]] int64_t lower_bound(const Polynomial& polynomial, int depth) const;
  [[nodiscard]] Range range_of_node(SymInt value) const;
  [[nodiscard]] std::optional<Polynomial> nonzero(SymInt value) const;

  std::vector<SymbolInfo> symbols_;
  std::vector<SymNode> nodes_;
  mutable std::vector<CachedRange> ranges_;  // by node
  uint32_t epoch_ = 1;
  std::unordered_map<std::string, int32_t> by_name_;     // symbol name → node
  std::unordered_map<std::string, int32_t> by_content_;  // canonical bytes → node
};

}  // namespace backplane
