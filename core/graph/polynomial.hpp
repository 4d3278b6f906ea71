// Polynomials with integer coefficients over numbered atoms: the arithmetic behind SymbolTable.
//
// Terms lie in descending graded lexicographic order (atom 0 is the greatest), which a product
// keeps, so that division by leading terms works.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace backplane {

// Atoms in ascending order, repeated for powers; empty for 1.
using Monomial = std::vector<int32_t>;

struct Term {
  Monomial atoms;
  int64_t coefficient = 0;
  friend bool operator==(const Term&, const Term&) = default;
};

// The zero polynomial has no terms; others have no term with coefficient 0.
struct Polynomial {
  std::vector<Term> terms;

  [[nodiscard]] static Polynomial constant(int64_t value);
  [[nodiscard]] static Polynomial atom(int32_t index);

  [[nodiscard]] bool is_constant() const;
  [[nodiscard]] int64_t constant_part() const;
  [[nodiscard]] Polynomial without_constant() const;
  friend bool operator==(const Polynomial&, const Polynomial&) = default;
};

// Whether `a` comes before `b`.
[[nodiscard]] bool precedes(const Monomial& a, const Monomial& b);

// Sorts, adds up equal monomials, drops zeros.
void normalize(std::vector<Term>& terms);

// a + b * scale.
[[nodiscard]] Polynomial sum(const Polynomial& a, const Polynomial& b, int64_t scale = 1);
[[nodiscard]] Polynomial scaled(const Polynomial& a, int64_t scale);
// `by` divides all coefficients.
[[nodiscard]] Polynomial divided_exactly(Polynomial a, int64_t by);
// Nothing if the result would be too large to be worth it.
[[nodiscard]] std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b);

// a = quotient * b + remainder.
struct Division {
  Polynomial quotient;
  Polynomial remainder;
};

// By a single term: takes out of each term of `a` what the divisor goes into (rounding coefficients
// to zero; a constant by a constant rounds down). By several terms: the quotient is zero unless the
// division is exact. b is not zero.
[[nodiscard]] Division divide(const Polynomial& a, const Polynomial& b);

// The greatest common divisor of the coefficients; 0 for the zero polynomial.
[[nodiscard]] int64_t content(const Polynomial& a);

// Divides numerator and denominator by the atoms that all their terms share.
void cancel_common_atoms(Polynomial& a, Polynomial& b);

}  // namespace backplane
