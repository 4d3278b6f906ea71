// What expressions can be: interval arithmetic, made tighter where terms of a sum depend on each
// other through min, max and floor_div.
#include <algorithm>

#include "graph/polynomial.hpp"
#include "graph/saturating.hpp"
#include "graph/symbols.hpp"

namespace backplane {
namespace {

namespace num = saturating;

constexpr Range kAll = {-kUnbounded, kUnbounded};
constexpr int kRelaxations = 2;         // nested
constexpr size_t kMaxRelaxedTerms = 6;  // of a sum; operands of an extremum
constexpr int64_t kMaxScale = int64_t{1} << 31;

Range hull(std::initializer_list<int64_t> corners) {
  return {std::min(corners), std::max(corners)};
}

Range products(Range a, Range b) {
  return hull({num::mul(a.min, b.min), num::mul(a.min, b.max), num::mul(a.max, b.min),
               num::mul(a.max, b.max)});
}

Range quotients(Range a, Range b) {
  Range result = {kUnbounded, -kUnbounded};
  const auto include = [&](int64_t low, int64_t high) {  // divisors of one sign
    if (low > high) return;
    const Range part = hull({num::floor_div(a.min, low), num::floor_div(a.min, high),
                             num::floor_div(a.max, low), num::floor_div(a.max, high)});
    result = {std::min(result.min, part.min), std::max(result.max, part.max)};
  };
  include(std::max<int64_t>(b.min, 1), b.max);
  include(b.min, std::min<int64_t>(b.max, -1));
  return result.min > result.max ? kAll : result;
}

Range remainders(Range a, Range b) {
  if (b.min <= 0)
    return {std::min<int64_t>(num::add(b.min, 1), 0), std::max<int64_t>(num::sub(b.max, 1), 0)};
  if (a.min >= 0 && a.max < b.min) return a;
  return {0, a.min >= 0 ? std::min(a.max, num::sub(b.max, 1)) : num::sub(b.max, 1)};
}

// 2 to each of `exponents`, of which negative ones give no value.
Range power_of_two(Range exponents) {
  return {num::pow(2, std::max<int64_t>(exponents.min, 0)),
          num::pow(2, std::max<int64_t>(exponents.max, 0))};
}

Range power(Range a, Range b) {
  if (a.min < 0) return kAll;
  const int64_t low = num::pow(a.min, std::max<int64_t>(b.min, 0));
  const int64_t high = num::pow(a.max, std::max<int64_t>(b.max, 0));
  return {a.min == 0 && b.max > 0 ? 0 : low, std::max<int64_t>(high, 1)};
}

// All bits up to the highest of `a` >= 0.
int64_t filled(int64_t a) {
  int64_t bits = 0;
  while (bits < a) bits = bits * 2 + 1;
  return bits;
}

Range bits(SymOp op, Range a, Range b) {
  if (a.min < 0 || b.min < 0) return kAll;
  if (op == SymOp::bit_and) return {0, std::min(a.max, b.max)};
  return {std::max(a.min, b.min), filled(std::max(a.max, b.max))};
}

}  // namespace

Range SymbolTable::range(SymInt value) const {
  if (value.is_constant()) return {value.constant(), value.constant()};
  ranges_.resize(nodes_.size());
  std::vector<int32_t> pending = {value.index()};
  while (!pending.empty()) {  // not recursive: chains may be long
    const auto index = static_cast<size_t>(pending.back());
    const SymNode& current = nodes_[index];
    const size_t before = pending.size();
    if (ranges_[index].epoch != epoch_) {
      for (const SymInt operand : current.operands) {
        if (operand.is_constant()) continue;
        if (ranges_[static_cast<size_t>(operand.index())].epoch != epoch_) {
          pending.push_back(operand.index());
        }
      }
      if (pending.size() != before) continue;
      ranges_[index] = {range_of_node(SymInt::expression(pending.back())), epoch_};
    }
    pending.pop_back();
  }
  return ranges_[static_cast<size_t>(value.index())].range;
}

std::optional<int64_t> SymbolTable::upper_bound(SymInt value) const {
  const int64_t bound = range(value).max;
  if (bound == kUnbounded) return std::nullopt;
  return bound;
}

Range SymbolTable::range_of_node(SymInt value) const {
  using enum SymOp;
  const SymNode& at = node(value);
  const auto operand = [&](size_t i) { return range(at.operands[i]); };
  switch (at.op) {
    case symbol:
      return symbols_[static_cast<size_t>(at.payload)].range;
    case constant:
      return {at.payload, at.payload};
    case add:
      return range_of(polynomial(value));
    case mul: {
      Range result = {1, 1};
      for (const SymInt x : at.operands) result = products(result, range(x));
      return result;
    }
    case floor_div:
      return quotients(operand(0), operand(1));
    case ceil_div: {
      const Range negative = quotients(products(operand(0), {-1, -1}), operand(1));
      return products(negative, {-1, -1});
    }
    case mod:
      return remainders(operand(0), operand(1));
    case max:
    case min: {
      Range result = operand(0);
      for (const SymInt x : at.operands) {
        const Range r = range(x);
        result = at.op == max ? Range{std::max(result.min, r.min), std::max(result.max, r.max)}
                              : Range{std::min(result.min, r.min), std::min(result.max, r.max)};
      }
      return result;
    }
    case pow:
      return power(operand(0), operand(1));
    case shift_left:
      return products(operand(0), power_of_two(operand(1)));
    case shift_right:
      return quotients(operand(0), power_of_two(operand(1)));
    case bit_and:
    case bit_or:
      return bits(at.op, operand(0), operand(1));
    case where:
      return {std::min(operand(1).min, operand(2).min), std::max(operand(1).max, operand(2).max)};
    default:
      return {0, 1};
  }
}

Range SymbolTable::range_of(const Polynomial& polynomial) const {
  return {lower_bound(polynomial, kRelaxations),
          num::neg(lower_bound(scaled(polynomial, -1), kRelaxations))};
}

int64_t SymbolTable::lower_bound(const Polynomial& whole, int depth) const {
  int64_t best = 0;
  for (const Term& term : whole.terms) {
    Range bounds = {term.coefficient, term.coefficient};
    for (const int32_t atom : term.atoms)
      bounds = products(bounds, range(SymInt::expression(atom)));
    best = best == -kUnbounded ? best : num::add(bounds.min, best);
  }
  if (depth == 0 || whole.terms.size() > kMaxRelaxedTerms || whole.terms.size() < 2) return best;
  for (const Term& term : whole.terms) {
    if (term.atoms.size() != 1) continue;
    const SymNode& atom = node(SymInt::expression(term.atoms[0]));
    const Polynomial rest = sum(whole, Polynomial{{term}}, -1);
    const int64_t k = term.coefficient;
    const auto replaced = [&](SymInt by) {
      return lower_bound(sum(rest, polynomial(by), k), depth - 1);
    };
    if (atom.op == SymOp::min || atom.op == SymOp::max) {
      if (atom.operands.size() > kMaxRelaxedTerms) continue;
      // k max(a, b) >= k a and >= k b for k > 0; else it is the lesser of the two.
      const bool any_holds = (k > 0) == (atom.op == SymOp::max);
      int64_t bound = any_holds ? best : kUnbounded;
      for (const SymInt x : atom.operands) {
        bound = any_holds ? std::max(bound, replaced(x)) : std::min(bound, replaced(x));
      }
      best = std::max(best, bound);
    } else if (atom.op == SymOp::floor_div && atom.operands[1].is_constant() &&
               atom.operands[1].constant() > 0 && atom.operands[1].constant() < kMaxScale) {
      // (x - d + 1) / d <= x // d <= x / d
      const int64_t d = atom.operands[1].constant();
      const Polynomial x =
          sum(polynomial(atom.operands[0]), Polynomial::constant(k > 0 ? 1 - d : 0));
      const Polynomial relaxed = sum(scaled(rest, d), x, k);
      const auto is_large = [](const Term& t) { return num::is_infinite(t.coefficient); };
      if (std::any_of(relaxed.terms.begin(), relaxed.terms.end(), is_large)) continue;
      best = std::max(best, num::ceil_div(lower_bound(relaxed, depth - 1), d));
    }
  }
  return best;
}

}  // namespace backplane
