#include "graph/symbols.hpp"

#include <algorithm>
#include <numeric>

#include "graph/polynomial.hpp"
#include "graph/saturating.hpp"

namespace backplane {
namespace {

// Beyond it a sum becomes one operand of the next, so that long chains take linear memory.
constexpr size_t kMaxSumTerms = 64;

// Where a range of numerators gives one quotient by `by` > 0: that.
std::optional<int64_t> only_quotient(Range range, int64_t by) {
  if (saturating::is_infinite(range.min) || saturating::is_infinite(range.max)) return std::nullopt;
  const int64_t quotient = saturating::floor_div(range.min, by);
  if (quotient != saturating::floor_div(range.max, by)) return std::nullopt;
  return quotient;
}

// Sums with an infinity don't cancel, so there is no dividing them.
bool is_saturated(const Polynomial& a) {
  return std::any_of(a.terms.begin(), a.terms.end(),
                     [](const Term& term) { return saturating::is_infinite(term.coefficient); });
}

void append_bytes(std::string& out, int64_t value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

SymInt SymbolTable::symbol(std::string_view name) {
  const auto [found, is_new] =
      by_name_.try_emplace(std::string(name), static_cast<int32_t>(nodes_.size()));
  if (is_new) {
    nodes_.push_back({SymOp::symbol, static_cast<int64_t>(symbols_.size()), {}});
    symbols_.push_back({std::string(name), {}, -1});
  }
  return SymInt::expression(found->second);
}

std::optional<SymInt> SymbolTable::find(std::string_view name) const {
  const auto found = by_name_.find(std::string(name));
  if (found == by_name_.end()) return std::nullopt;
  return SymInt::expression(found->second);
}

std::optional<size_t> SymbolTable::as_symbol(SymInt value) const {
  if (value.is_constant() || node(value).op != SymOp::symbol) return std::nullopt;
  return static_cast<size_t>(node(value).payload);
}

SymInt SymbolTable::intern(SymNode node) {
  std::string key;
  key.push_back(static_cast<char>(node.op));
  for (const SymInt operand : node.operands) {
    key.push_back(operand.is_constant() ? 'c' : 'e');
    append_bytes(key, operand.is_constant() ? operand.constant() : operand.index());
  }
  const auto [found, is_new] =
      by_content_.try_emplace(std::move(key), static_cast<int32_t>(nodes_.size()));
  if (is_new) nodes_.push_back(std::move(node));
  return SymInt::expression(found->second);
}

Polynomial SymbolTable::polynomial(SymInt value) const {
  if (value.is_constant()) return Polynomial::constant(value.constant());
  const auto as_term = [this](SymInt operand) {
    Term term = {{}, 1};
    if (operand.is_constant()) {
      term.coefficient = operand.constant();
    } else if (node(operand).op != SymOp::mul) {
      term.atoms.push_back(operand.index());
    } else {
      for (const SymInt factor : node(operand).operands) {
        if (factor.is_constant()) {
          term.coefficient = factor.constant();
        } else {
          term.atoms.push_back(factor.index());
        }
      }
    }
    return term;
  };
  Polynomial result;
  if (node(value).op != SymOp::add) {
    result.terms.push_back(as_term(value));
    return result;
  }
  for (const SymInt operand : node(value).operands) result.terms.push_back(as_term(operand));
  return result;
}

SymInt SymbolTable::from(const Polynomial& polynomial) {
  if (polynomial.is_constant()) return polynomial.constant_part();
  SymNode sum = {SymOp::add, 0, {}};
  for (const Term& term : polynomial.terms) {
    SymNode factors = {SymOp::mul, 0, {}};
    if (term.coefficient != 1 || term.atoms.empty())
      factors.operands.emplace_back(term.coefficient);
    for (const int32_t atom : term.atoms) factors.operands.push_back(SymInt::expression(atom));
    sum.operands.push_back(factors.operands.size() == 1 ? factors.operands.front()
                                                        : intern(std::move(factors)));
  }
  return sum.operands.size() == 1 ? sum.operands.front() : intern(std::move(sum));
}

SymInt SymbolTable::add_scaled(SymInt a, SymInt b, int64_t scale) {
  if (a.is_constant() && b.is_constant()) {
    return saturating::add(a.constant(), saturating::mul(b.constant(), scale));
  }
  Polynomial result = sum(polynomial(a), polynomial(b), scale);
  if (result.terms.size() > kMaxSumTerms) {
    const auto whole = [](SymInt value) {
      return value.is_constant() ? Polynomial::constant(value.constant())
                                 : Polynomial::atom(value.index());
    };
    result = sum(whole(a), whole(b), scale);
  }
  return from(result);
}

SymInt SymbolTable::add(SymInt a, SymInt b) {
  return add_scaled(a, b, 1);
}
SymInt SymbolTable::sub(SymInt a, SymInt b) {
  return add_scaled(a, b, -1);
}
SymInt SymbolTable::neg(SymInt a) {
  return add_scaled(0, a, -1);
}

SymInt SymbolTable::mul(SymInt a, SymInt b) {
  if (a.is_constant() && b.is_constant()) return saturating::mul(a.constant(), b.constant());
  if (a.is_constant()) return from(scaled(polynomial(b), a.constant()));
  if (b.is_constant()) return from(scaled(polynomial(a), b.constant()));
  if (const auto expanded = backplane::product(polynomial(a), polynomial(b))) {
    return from(*expanded);
  }
  const auto [first, last] = std::minmax({a.index(), b.index()});
  return from({{{{first, last}, 1}}});
}

SymInt SymbolTable::product(std::span<const SymInt> factors) {
  SymInt result = 1;
  for (const SymInt factor : factors) result = mul(result, factor);
  return result;
}

SymInt SymbolTable::floor_div(SymInt a, SymInt b) {
  if (b == SymInt(0)) return intern({SymOp::floor_div, 0, {a, b}});
  if (a.is_constant() && b.is_constant()) {
    return saturating::floor_div(a.constant(), b.constant());
  }
  return divided(polynomial(a), polynomial(b));
}

// -floor(-a / b), or floor((a + b - 1) / b): the form that equal quotients share.
SymInt SymbolTable::ceil_div(SymInt a, SymInt b) {
  if (known_le(1, b) == true) return floor_div(sub(add(a, b), 1), b);
  return neg(floor_div(neg(a), b));
}

SymInt SymbolTable::mod(SymInt a, SymInt b) {
  if (b == SymInt(0)) return intern({SymOp::mod, 0, {a, b}});
  if (a.is_constant() && b.is_constant()) return saturating::mod(a.constant(), b.constant());
  return modulo(polynomial(a), polynomial(b));
}

SymInt SymbolTable::divided(Polynomial numerator, Polynomial denominator) {
  if (numerator.terms.empty()) return 0;
  if (is_saturated(numerator) || is_saturated(denominator)) {
    const SymInt operands[] = {from(numerator), from(denominator)};
    return intern({SymOp::floor_div, 0, {operands[0], operands[1]}});
  }
  if (denominator.terms.front().coefficient < 0) {
    numerator = scaled(numerator, -1);
    denominator = scaled(denominator, -1);
  }
  cancel_common_atoms(numerator, denominator);
  if (denominator.is_constant()) {  // floor((g x + c) / (g d)) = floor((x + floor(c / g)) / d)
    const Polynomial variable = numerator.without_constant();
    const int64_t g = std::gcd(content(variable), denominator.constant_part());
    const int64_t offset = saturating::floor_div(numerator.constant_part(), g);
    numerator = sum(divided_exactly(variable, g), Polynomial::constant(offset));
    denominator = Polynomial::constant(denominator.constant_part() / g);
  } else {
    const int64_t g = std::gcd(content(numerator), content(denominator));
    numerator = divided_exactly(numerator, g);
    denominator = divided_exactly(denominator, g);
  }
  Division division = divide(numerator, denominator);
  if (division.remainder.terms.empty()) return from(division.quotient);
  if (!division.quotient.terms.empty()) {
    return add(from(division.quotient), divided(std::move(division.remainder), denominator));
  }
  const Range range = range_of(numerator);
  if (denominator.is_constant()) {
    const int64_t by = denominator.constant_part();
    if (const auto quotient = only_quotient(range, by)) return *quotient;
    const Polynomial variable = numerator.without_constant();
    if (variable.terms.size() == 1 && variable.terms[0].coefficient == 1 &&
        variable.terms[0].atoms.size() == 1) {  // floor((floor(x / c) + k) / d)
      const SymNode& inner = nodes_[static_cast<size_t>(variable.terms[0].atoms[0])];
      if (inner.op == SymOp::floor_div && inner.operands[1].is_constant() &&
          inner.operands[1].constant() > 0) {
        const int64_t c = inner.operands[1].constant();
        const int64_t both = saturating::mul(c, by);
        const int64_t shift = saturating::mul(numerator.constant_part(), c);
        if (!saturating::is_infinite(both) && !saturating::is_infinite(shift)) {
          return divided(sum(polynomial(inner.operands[0]), Polynomial::constant(shift)),
                         Polynomial::constant(both));
        }
      }
    }
  } else if (range.min >= 0 && range_of(sum(denominator, numerator, -1)).min >= 1) {
    return 0;
  } else if (range.max < 0 && range_of(sum(denominator, numerator)).min >= 0) {
    return -1;
  }
  const SymInt operands[] = {from(numerator), from(denominator)};
  return intern({SymOp::floor_div, 0, {operands[0], operands[1]}});
}

SymInt SymbolTable::modulo(Polynomial numerator, const Polynomial& denominator) {
  if (is_saturated(numerator) || is_saturated(denominator)) {
    const SymInt operands[] = {from(numerator), from(denominator)};
    return intern({SymOp::mod, 0, {operands[0], operands[1]}});
  }
  if (denominator.terms.front().coefficient < 0) {
    return neg(modulo(scaled(numerator, -1), scaled(denominator, -1)));
  }
  if (!denominator.is_constant()) {
    numerator = divide(numerator, denominator).remainder;
    if (numerator.terms.empty()) return 0;
    if (range_of(numerator).min >= 0 && range_of(sum(denominator, numerator, -1)).min >= 1) {
      return from(numerator);
    }
    const SymInt operands[] = {from(numerator), from(denominator)};
    return intern({SymOp::mod, 0, {operands[0], operands[1]}});
  }
  const int64_t by = denominator.constant_part();
  for (const Term& term : std::vector<Term>(numerator.terms)) {  // (k (x mod c)) mod d, d | k c
    if (term.atoms.size() != 1) continue;
    const SymNode& inner = nodes_[static_cast<size_t>(term.atoms[0])];
    if (inner.op == SymOp::mod && inner.operands[1].is_constant() &&
        inner.operands[1].constant() > 0 &&
        saturating::mod(saturating::mul(term.coefficient, inner.operands[1].constant()), by) == 0) {
      numerator = sum(numerator, Polynomial{{term}}, -1);
      numerator = sum(numerator, polynomial(inner.operands[0]), term.coefficient);
    }
  }
  if (const auto quotient = only_quotient(range_of(numerator), by)) {
    return from(sum(numerator, Polynomial::constant(saturating::mul(*quotient, by)), -1));
  }
  for (Term& term : numerator.terms) term.coefficient = saturating::mod(term.coefficient, by);
  normalize(numerator.terms);
  if (numerator.is_constant()) return numerator.constant_part();
  const Polynomial variable = numerator.without_constant();
  const int64_t g = std::gcd(content(variable), by);
  if (g > 1) {  // (g x + c) mod (g d) = g ((x + floor(c / g)) mod d) + c mod g
    const int64_t c = numerator.constant_part();
    const Polynomial x = sum(divided_exactly(variable, g), Polynomial::constant(c / g));
    return add(mul(g, modulo(x, Polynomial::constant(by / g))), c % g);
  }
  if (const auto quotient = only_quotient(range_of(numerator), by)) {
    return from(sum(numerator, Polynomial::constant(saturating::mul(*quotient, by)), -1));
  }
  return intern({SymOp::mod, 0, {from(numerator), by}});
}

}  // namespace backplane
