// Indices as sums: constant + Σ coefficient · atom. Reshapes, transpositions and slices of slices
// come together as one such sum, which is what a kernel computes.
//
// An atom is a variable with a range, the quotient or rest of a sum by a size, or a number that the
// kernel has read. Quotients and rests are simplified when they are made: (768 · a + b) / 768 is a
// where 0 ≤ b < 768.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cuda/compiler/size_table.hpp"

namespace backplane::cuda::compiler {

using AtomId = int32_t;

struct Term {
  AtomId atom;
  SizeId coefficient;
  friend bool operator==(const Term&, const Term&) = default;
};
// Sorted by atom; no coefficient is 0.
struct Index {
  SizeId constant;
  std::vector<Term> terms;
  friend bool operator==(const Index&, const Index&) = default;
};

struct Atom {
  enum class Kind : uint8_t { variable, quotient, rest, value } kind;
  SizeId extent;       // variable, value: less than this; rest: the divisor; quotient: the divisor
  Index inner = {};    // quotient, rest
  int32_t value = -1;  // value: the expression (expr.hpp)
};

class IndexPool {
 public:
  explicit IndexPool(SizeTable& sizes) : sizes_(sizes) {}
  [[nodiscard]] SizeTable& sizes() { return sizes_; }
  [[nodiscard]] const Atom& atom(AtomId id) const { return atoms_[static_cast<size_t>(id)]; }

  // A variable of its own, from 0 to below `extent`.
  [[nodiscard]] AtomId variable(SizeId extent);
  // What an expression gives, from 0 to below `extent`.
  [[nodiscard]] AtomId value(int32_t expr, SizeId extent);
  [[nodiscard]] Index of(AtomId atom);
  [[nodiscard]] Index number(int64_t n) { return {sizes_.constant(n), {}}; }
  [[nodiscard]] Index add(const Index& a, const Index& b);
  [[nodiscard]] Index scale(const Index& a, SizeId by);
  // Floored; `a` is not negative.
  [[nodiscard]] Index quotient(const Index& a, SizeId by);
  [[nodiscard]] Index rest(const Index& a, SizeId by);
  // Σ index · stride.
  [[nodiscard]] Index dot(const std::vector<Index>& indices, const std::vector<SizeId>& strides);

  // The index with each atom replaced by what `with` says of variables and values.
  [[nodiscard]] Index substitute(const Index& a, const std::function<Index(AtomId)>& with);
  // Whether `a` is certainly within [0, limit).
  [[nodiscard]] bool is_below(const Index& a, SizeId limit);

 private:
  struct Interval {
    int64_t min, max;
  };
  AtomId intern(Atom atom);
  [[nodiscard]] Index joined(Index a);
  [[nodiscard]] std::optional<Interval> interval(const Index& a) const;
  [[nodiscard]] std::pair<Index, Index> split(const Index& a, SizeId by);

  SizeTable& sizes_;
  std::vector<Atom> atoms_;
};

}  // namespace backplane::cuda::compiler
