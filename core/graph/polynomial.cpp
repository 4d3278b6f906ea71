#include "graph/polynomial.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>

#include "graph/saturating.hpp"

namespace backplane {
namespace {

// Beyond these, products stay unexpanded: sizes never get there, and hostile files must not grow.
constexpr size_t kMaxTerms = 64;
constexpr size_t kMaxDegree = 32;

bool by_order(const Term& a, const Term& b) {
  return precedes(a.atoms, b.atoms);
}

// a without the atoms of b, if it has them all.
std::optional<Monomial> quotient(const Monomial& a, const Monomial& b) {
  if (!std::includes(a.begin(), a.end(), b.begin(), b.end())) return std::nullopt;
  Monomial result;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

Division divide_by_term(const Polynomial& a, const Term& by) {
  Division result;
  for (const Term& term : a.terms) {
    std::optional<Monomial> atoms = quotient(term.atoms, by.atoms);
    int64_t times = 0;
    if (atoms) {
      times = term.atoms.empty() ? saturating::floor_div(term.coefficient, by.coefficient)
                                 : term.coefficient / by.coefficient;
      if (times != 0) result.quotient.terms.push_back({*std::move(atoms), times});
    }
    const int64_t rest = saturating::sub(term.coefficient, saturating::mul(times, by.coefficient));
    if (rest != 0) result.remainder.terms.push_back({term.atoms, rest});
  }
  return result;
}

}  // namespace

Polynomial Polynomial::constant(int64_t value) {
  Polynomial result;
  if (value != 0) result.terms.push_back({{}, saturating::add(value, 0)});
  return result;
}

Polynomial Polynomial::atom(int32_t index) {
  return {{{{index}, 1}}};
}

bool Polynomial::is_constant() const {
  return terms.empty() || terms.front().atoms.empty();
}

int64_t Polynomial::constant_part() const {
  return !terms.empty() && terms.back().atoms.empty() ? terms.back().coefficient : 0;
}

Polynomial Polynomial::without_constant() const {
  Polynomial result = *this;
  if (!terms.empty() && terms.back().atoms.empty()) result.terms.pop_back();
  return result;
}

bool precedes(const Monomial& a, const Monomial& b) {
  if (a.size() != b.size()) return a.size() > b.size();
  return a < b;
}

void normalize(std::vector<Term>& terms) {
  std::sort(terms.begin(), terms.end(), by_order);
  size_t kept = 0;
  for (size_t i = 0; i < terms.size();) {
    Term merged = std::move(terms[i]);
    for (++i; i < terms.size() && terms[i].atoms == merged.atoms; ++i) {
      merged.coefficient = saturating::add(merged.coefficient, terms[i].coefficient);
    }
    if (merged.coefficient != 0) terms[kept++] = std::move(merged);
  }
  terms.resize(kept);
}

Polynomial scaled(const Polynomial& a, int64_t scale) {
  Polynomial result = a;
  if (scale == 0) result.terms.clear();
  for (Term& term : result.terms) term.coefficient = saturating::mul(term.coefficient, scale);
  return result;
}

Polynomial divided_exactly(Polynomial a, int64_t by) {
  for (Term& term : a.terms) term.coefficient /= by;
  return a;
}

Polynomial sum(const Polynomial& a, const Polynomial& b, int64_t scale) {
  Polynomial result = scaled(b, scale);
  result.terms.insert(result.terms.end(), a.terms.begin(), a.terms.end());
  normalize(result.terms);
  return result;
}

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  if (a.terms.empty() || b.terms.empty()) return Polynomial();
  const size_t degree = a.terms.front().atoms.size() + b.terms.front().atoms.size();
  if (a.terms.size() * b.terms.size() > kMaxTerms || degree > kMaxDegree) return std::nullopt;
  Polynomial result;
  for (const Term& x : a.terms) {
    for (const Term& y : b.terms) {
      Monomial atoms;
      std::merge(x.atoms.begin(), x.atoms.end(), y.atoms.begin(), y.atoms.end(),
                 std::back_inserter(atoms));
      result.terms.push_back({std::move(atoms), saturating::mul(x.coefficient, y.coefficient)});
    }
  }
  normalize(result.terms);
  return result;
}

Division divide(const Polynomial& a, const Polynomial& b) {
  if (b.terms.size() == 1) return divide_by_term(a, b.terms.front());
  const Term& lead = b.terms.front();
  Division result = {{}, a};
  for (size_t steps = 0; !result.remainder.terms.empty(); ++steps) {
    const Term& top = result.remainder.terms.front();
    std::optional<Monomial> atoms = quotient(top.atoms, lead.atoms);
    if (!atoms || top.coefficient % lead.coefficient != 0 || steps == kMaxTerms) return {{}, a};
    const Polynomial times = {{{std::move(*atoms), top.coefficient / lead.coefficient}}};
    const std::optional<Polynomial> taken = product(times, b);
    if (!taken) return {{}, a};
    result.quotient.terms.push_back(times.terms.front());
    result.remainder = sum(result.remainder, *taken, -1);
  }
  return result;
}

int64_t content(const Polynomial& a) {
  int64_t result = 0;
  for (const Term& term : a.terms) result = std::gcd(result, term.coefficient);
  return result;
}

void cancel_common_atoms(Polynomial& a, Polynomial& b) {
  if (a.terms.empty() || b.terms.empty()) return;
  Monomial common = a.terms.front().atoms;
  for (const Polynomial* p : {&a, &b}) {
    for (const Term& term : p->terms) {
      Monomial shared;
      std::set_intersection(common.begin(), common.end(), term.atoms.begin(), term.atoms.end(),
                            std::back_inserter(shared));
      common = std::move(shared);
    }
  }
  if (common.empty()) return;
  for (Polynomial* p : {&a, &b}) {
    for (Term& term : p->terms) term.atoms = *quotient(term.atoms, common);
  }
}

}  // namespace backplane
