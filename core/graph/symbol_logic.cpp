// SymbolTable's operators besides sums, products and quotients: extrema, comparisons, logic.
#include <algorithm>
#include <array>
#include <cassert>

#include "graph/polynomial.hpp"
#include "graph/saturating.hpp"
#include "graph/symbols.hpp"

namespace backplane {
namespace {

constexpr int64_t kMaxExpandedPower = 8;
constexpr size_t kMaxCompared = 16;  // operands of an extremum that are compared pairwise

bool is_logical(SymOp op) {
  using enum SymOp;
  return op == eq || op == ne || op == lt || op == le || op == logical_and || op == logical_or ||
         op == logical_not;
}

// The terms whose coefficients have the sign of `sign`, times `sign`.
Polynomial side(const Polynomial& a, int64_t sign) {
  Polynomial result;
  for (const Term& term : a.terms) {
    if ((term.coefficient < 0) == (sign < 0)) {
      result.terms.push_back({term.atoms, saturating::mul(term.coefficient, sign)});
    }
  }
  return result;
}

bool by_index(SymInt a, SymInt b) {
  if (a.is_constant() != b.is_constant()) return b.is_constant();
  return a.is_constant() ? a.constant() < b.constant() : a.index() < b.index();
}

void sort_unique(std::vector<SymInt>& operands) {
  std::sort(operands.begin(), operands.end(), by_index);
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
}

// What gives 0 or 1.
int64_t fold_logical(SymOp op, std::span<const int64_t> operands) {
  const int64_t a = operands[0];
  const int64_t b = operands.size() > 1 ? operands[1] : 0;
  const auto is_true = [](int64_t x) { return x != 0; };
  switch (op) {
    case SymOp::eq:
      return a == b;
    case SymOp::ne:
      return a != b;
    case SymOp::lt:
      return a < b;
    case SymOp::le:
      return a <= b;
    case SymOp::logical_and:
      return std::all_of(operands.begin(), operands.end(), is_true);
    case SymOp::logical_or:
      return std::any_of(operands.begin(), operands.end(), is_true);
    default:
      return a == 0;
  }
}

}  // namespace

std::optional<int64_t> fold(SymOp op, std::span<const int64_t> operands) {
  using enum SymOp;
  namespace num = saturating;
  const int64_t a = operands[0];
  const int64_t b = operands.size() > 1 ? operands[1] : 0;
  const auto reduce = [&](auto f) {
    int64_t result = a;
    for (const int64_t x : operands.subspan(1)) result = f(result, x);
    return result;
  };
  if ((op == floor_div || op == ceil_div || op == mod) && b == 0) return std::nullopt;
  if ((op == pow || op == shift_left || op == shift_right) && b < 0) return std::nullopt;
  switch (op) {
    case symbol:
    case constant:
      break;
    case add:
      return reduce(num::add);
    case mul:
      return reduce(num::mul);
    case max:
      return *std::max_element(operands.begin(), operands.end());
    case min:
      return *std::min_element(operands.begin(), operands.end());
    case floor_div:
      return num::floor_div(a, b);
    case ceil_div:
      return num::ceil_div(a, b);
    case mod:
      return num::mod(a, b);
    case pow:
      return num::pow(a, b);
    case shift_left:
      return num::mul(a, num::pow(2, b));
    case shift_right:
      return num::floor_div(a, num::pow(2, b));
    case bit_and:
      return a & b;
    case bit_or:
      return a | b;
    case where:
      return a != 0 ? b : operands[2];
    default:
      return fold_logical(op, operands);
  }
  assert(false);
  return std::nullopt;
}

SymInt SymbolTable::make(SymOp op, std::span<const SymInt> operands) {
  using enum SymOp;
  assert(!operands.empty());
  if (std::all_of(operands.begin(), operands.end(), [](SymInt x) { return x.is_constant(); })) {
    std::vector<int64_t> numbers;
    for (const SymInt operand : operands) numbers.push_back(operand.constant());
    if (const auto result = fold(op, numbers)) return *result;
  }
  SymInt result = operands[0];
  switch (op) {
    case add:
      for (const SymInt x : operands.subspan(1)) result = this->add(result, x);
      return result;
    case mul:
      return product(operands);
    case floor_div:
      return this->floor_div(operands[0], operands[1]);
    case mod:
      return this->mod(operands[0], operands[1]);
    case ceil_div:
      return this->ceil_div(operands[0], operands[1]);
    case max:
    case min:
      return extremum(op, operands);
    case eq:
    case ne:
    case lt:
    case le:
      return compare(op, operands[0], operands[1]);
    case logical_and:
    case logical_or:
      return logical(op, operands);
    case logical_not:
      return negated(operands[0]);
    default:
      return other(op, operands);
  }
}

SymInt SymbolTable::max(SymInt a, SymInt b) {
  return extremum(SymOp::max, std::array{a, b});
}
SymInt SymbolTable::min(SymInt a, SymInt b) {
  return extremum(SymOp::min, std::array{a, b});
}

SymInt SymbolTable::extremum(SymOp op, std::span<const SymInt> operands) {
  std::vector<SymInt> all;
  for (const SymInt operand : operands) {
    if (!operand.is_constant() && node(operand).op == op) {
      const std::vector<SymInt>& inner = node(operand).operands;
      all.insert(all.end(), inner.begin(), inner.end());
    } else {
      all.push_back(operand);
    }
  }
  sort_unique(all);
  // Of two that compare, the one that never wins goes.
  for (size_t i = 0; i < all.size() && all.size() <= kMaxCompared;) {
    const bool loses = std::any_of(all.begin(), all.end(), [&](SymInt x) {
      if (x == all[i]) return false;
      return (op == SymOp::max ? known_le(all[i], x) : known_le(x, all[i])) == true;
    });
    if (loses) {
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return all.size() == 1 ? all.front() : intern({op, 0, std::move(all)});
}

SymInt SymbolTable::compare(SymOp op, SymInt a, SymInt b) {
  if (op == SymOp::lt) return compare(SymOp::le, this->add(a, 1), b);
  const bool is_le = op == SymOp::le;
  if (const auto known = is_le ? known_le(a, b) : known_eq(a, b)) {
    return int64_t{*known != (op == SymOp::ne)};
  }
  // What is compared with 0, without common factors; then negative terms go to the other side.
  Polynomial difference = sum(polynomial(b), polynomial(a), -1);
  const Polynomial variable = difference.without_constant();
  const int64_t g = content(variable);
  const int64_t offset = saturating::floor_div(difference.constant_part(), g);
  difference = sum(divided_exactly(variable, g), Polynomial::constant(offset));
  if (!is_le && difference.terms.front().coefficient < 0) difference = scaled(difference, -1);
  const SymInt negative = from(side(difference, -1));
  const SymInt positive = from(side(difference, 1));
  return is_le ? intern({op, 0, {negative, positive}}) : intern({op, 0, {positive, negative}});
}

SymInt SymbolTable::truth(SymInt value) {
  if (value.is_constant()) return int64_t{value.constant() != 0};
  if (is_logical(node(value).op)) return value;
  const Range bounds = range(value);
  if (bounds.min >= 0 && bounds.max <= 1) return value;
  return compare(SymOp::ne, value, 0);
}

SymInt SymbolTable::negated(SymInt value) {
  value = truth(value);
  if (value.is_constant()) return int64_t{value.constant() == 0};
  const SymNode inner = node(value);
  switch (inner.op) {
    case SymOp::eq:
      return intern({SymOp::ne, 0, inner.operands});
    case SymOp::ne:
      return intern({SymOp::eq, 0, inner.operands});
    case SymOp::le:
      return compare(SymOp::lt, inner.operands[1], inner.operands[0]);
    case SymOp::logical_not:
      return inner.operands[0];
    default:
      return intern({SymOp::logical_not, 0, {value}});
  }
}

SymInt SymbolTable::logical(SymOp op, std::span<const SymInt> operands) {
  const SymInt neutral = int64_t{op == SymOp::logical_and};
  const SymInt absorbing = int64_t{op == SymOp::logical_or};
  std::vector<SymInt> all;
  for (const SymInt operand : operands) {
    const SymInt value = truth(operand);
    if (value == absorbing) return absorbing;
    if (value == neutral) continue;
    if (node(value).op == op) {
      const std::vector<SymInt>& inner = node(value).operands;
      all.insert(all.end(), inner.begin(), inner.end());
    } else {
      all.push_back(value);
    }
  }
  sort_unique(all);
  if (all.empty()) return neutral;
  return all.size() == 1 ? all.front() : intern({op, 0, std::move(all)});
}

SymInt SymbolTable::other(SymOp op, std::span<const SymInt> operands) {
  using enum SymOp;
  assert(operands.size() >= 2);
  const SymInt a = operands[0];
  const SymInt b = operands[1];
  const bool small = b.is_constant() && b.constant() >= 0 && b.constant() < 63;
  if (op == pow && small && b.constant() <= kMaxExpandedPower) {
    return product(std::vector<SymInt>(static_cast<size_t>(b.constant()), a));
  }
  if (op == shift_left && small) return this->mul(a, int64_t{1} << b.constant());
  if (op == shift_right && small) return this->floor_div(a, int64_t{1} << b.constant());
  if (op == where) {
    const SymInt condition = truth(a);
    if (condition.is_constant()) return condition.constant() != 0 ? b : operands[2];
    if (b == operands[2]) return b;
    return intern({op, 0, {condition, b, operands[2]}});
  }
  std::vector<SymInt> all(operands.begin(), operands.end());
  if (op == bit_and || op == bit_or) sort_unique(all);
  return all.size() == 1 ? a : intern({op, 0, std::move(all)});
}

std::optional<bool> SymbolTable::known_eq(SymInt a, SymInt b) const {
  if (a == b) return true;
  const Polynomial difference = sum(polynomial(a), polynomial(b), -1);
  const int64_t offset = difference.constant_part();
  if (difference.is_constant()) return offset == 0;
  if (offset % content(difference.without_constant()) != 0) return false;
  const Range bounds = range_of(difference);
  if (bounds.min > 0 || bounds.max < 0) return false;
  if (bounds.min == 0 && bounds.max == 0) return true;
  return std::nullopt;
}

std::optional<bool> SymbolTable::known_le(SymInt a, SymInt b) const {
  const Range bounds = range_of(sum(polynomial(b), polynomial(a), -1));
  if (bounds.min >= 0) return true;
  if (bounds.max < 0) return false;
  return std::nullopt;
}

// With max(x, 1) taken for x.
std::optional<Polynomial> SymbolTable::nonzero(SymInt value) const {
  Polynomial result;
  for (const Term& term : polynomial(value).terms) {
    std::optional<Polynomial> factors = Polynomial::constant(term.coefficient);
    for (const int32_t index : term.atoms) {
      const SymNode& atom = nodes_[static_cast<size_t>(index)];
      const bool is_guarded =
          atom.op == SymOp::max && atom.operands.size() == 2 && atom.operands[1] == SymInt(1);
      factors = backplane::product(
          *factors, is_guarded ? polynomial(atom.operands[0]) : Polynomial::atom(index));
      if (!factors) return std::nullopt;
    }
    result = sum(result, *factors);
  }
  return result;
}

bool SymbolTable::is_product(SymInt value, std::span<const SymInt> factors) const {
  std::optional<Polynomial> expected = Polynomial::constant(1);
  for (const SymInt factor : factors) {
    const std::optional<Polynomial> next = nonzero(factor);
    if (next) expected = backplane::product(*expected, *next);
    if (!next || !expected) return false;
  }
  return nonzero(value) == expected;
}

}  // namespace backplane
