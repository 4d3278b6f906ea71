#include "cuda/compiler/index.hpp"

#include <algorithm>

namespace backplane::cuda::compiler {

AtomId IndexPool::variable(SizeId extent) {
  atoms_.push_back({Atom::Kind::variable, extent});
  return static_cast<AtomId>(atoms_.size() - 1);
}

AtomId IndexPool::intern(Atom atom) {
  for (size_t i = atoms_.size(); i-- > 0;) {
    const Atom& a = atoms_[i];
    if (a.kind == atom.kind && a.extent == atom.extent && a.value == atom.value &&
        a.inner == atom.inner && a.kind != Atom::Kind::variable)
      return static_cast<AtomId>(i);
  }
  atoms_.push_back(std::move(atom));
  return static_cast<AtomId>(atoms_.size() - 1);
}

AtomId IndexPool::value(int32_t expr, SizeId extent) {
  return intern({Atom::Kind::value, extent, {}, expr});
}

Index IndexPool::of(AtomId a) {
  if (sizes_.is(atom(a).extent, 1) && atom(a).kind == Atom::Kind::variable) return number(0);
  return {sizes_.constant(0), {{a, sizes_.constant(1)}}};
}

Index IndexPool::add(const Index& a, const Index& b) {
  Index out{sizes_.add(a.constant, b.constant), {}};
  auto x = a.terms.begin();
  auto y = b.terms.begin();
  while (x != a.terms.end() || y != b.terms.end()) {
    if (y == b.terms.end() || (x != a.terms.end() && x->atom < y->atom)) {
      out.terms.push_back(*x++);
    } else if (x == a.terms.end() || y->atom < x->atom) {
      out.terms.push_back(*y++);
    } else {
      const SizeId sum = sizes_.add(x->coefficient, y->coefficient);
      if (!sizes_.is(sum, 0)) out.terms.push_back({x->atom, sum});
      ++x;
      ++y;
    }
  }
  return joined(std::move(out));
}

// c · n · (e / n) + c · (e % n) is c · e.
Index IndexPool::joined(Index a) {
  for (size_t r = 0; r < a.terms.size(); ++r) {
    const Term rest = a.terms[r];
    if (atom(rest.atom).kind != Atom::Kind::rest) continue;
    const Index inner = atom(rest.atom).inner;
    const SizeId n = atom(rest.atom).extent;
    Index whole = quotient(inner, n);
    whole = scale(whole, sizes_.multiply(rest.coefficient, n));
    if (whole.terms.size() != 1 || !sizes_.is(whole.constant, 0)) continue;
    const auto found = std::find(a.terms.begin(), a.terms.end(), whole.terms[0]);
    if (found == a.terms.end()) continue;
    std::erase_if(a.terms, [&](const Term& t) {
      return t.atom == rest.atom || t.atom == whole.terms[0].atom;
    });
    return add(a, scale(inner, rest.coefficient));
  }
  return a;
}

Index IndexPool::scale(const Index& a, SizeId by) {
  if (sizes_.is(by, 0)) return number(0);
  Index out{sizes_.multiply(a.constant, by), {}};
  for (const Term& term : a.terms)
    out.terms.push_back({term.atom, sizes_.multiply(term.coefficient, by)});
  return out;
}

Index IndexPool::dot(const std::vector<Index>& indices, const std::vector<SizeId>& strides) {
  Index out = number(0);
  for (size_t d = 0; d < indices.size(); ++d) out = add(out, scale(indices[d], strides[d]));
  return out;
}

std::optional<IndexPool::Interval> IndexPool::interval(const Index& a) const {
  const auto constant = sizes_.known(a.constant);
  if (!constant) return std::nullopt;
  Interval out{*constant, *constant};
  for (const Term& term : a.terms) {
    const auto c = sizes_.known(term.coefficient);
    const Atom& at = atom(term.atom);
    int64_t top = sizes_.bound(at.extent);
    if (at.kind == Atom::Kind::quotient) {
      const auto inner = interval(at.inner);
      const auto divisor = sizes_.known(at.extent);
      if (!inner || !divisor || inner->min < 0) return std::nullopt;
      top = inner->max / *divisor + 1;
    }
    if (!c || top == INT64_MAX || std::abs(*c) > INT32_MAX || top > INT32_MAX) return std::nullopt;
    (*c < 0 ? out.min : out.max) += *c * std::max<int64_t>(top - 1, 0);
  }
  return out;
}

bool IndexPool::is_below(const Index& a, SizeId limit) {
  const auto range = interval(a);
  const auto top = sizes_.known(limit);
  if (range && top) return range->min >= 0 && range->max < *top;
  // Digits of a mixed radix: each coefficient is the product of the smaller digits' extents.
  if (!sizes_.is(a.constant, 0)) return false;
  SizeId reached = sizes_.constant(1);
  std::vector<Term> left = a.terms;
  while (!left.empty()) {
    const auto next = std::find_if(left.begin(), left.end(), [&](const Term& t) {
      return t.coefficient == reached && atom(t.atom).kind != Atom::Kind::quotient;
    });
    if (next == left.end()) return false;
    reached = sizes_.multiply(reached, atom(next->atom).extent);
    left.erase(next);
  }
  return reached == limit || (sizes_.known(reached) && top && *sizes_.known(reached) <= *top);
}

// The part that `by` divides (already divided), and the rest.
std::pair<Index, Index> IndexPool::split(const Index& a, SizeId by) {
  Index divided = number(0);
  Index left = number(0);
  const auto part = [&](SizeId coefficient) { return sizes_.exact_div(coefficient, by); };
  if (const auto whole = part(a.constant)) {
    divided.constant = *whole;
  } else {
    left.constant = a.constant;
  }
  for (const Term& term : a.terms) {
    const auto whole = part(term.coefficient);
    (whole ? divided : left).terms.push_back({term.atom, whole.value_or(term.coefficient)});
  }
  return {divided, left};
}

Index IndexPool::quotient(const Index& a, SizeId by) {
  if (sizes_.is(by, 0)) return number(0);  // there is no element to ask for
  if (sizes_.is(by, 1)) return a;
  auto [divided, left] = split(a, by);
  if (is_below(left, by)) return divided;
  return add(divided, of(intern({Atom::Kind::quotient, by, left})));
}

Index IndexPool::rest(const Index& a, SizeId by) {
  if (sizes_.is(by, 0)) return number(0);
  if (sizes_.is(by, 1)) return number(0);
  const Index left = split(a, by).second;
  if (is_below(left, by)) return left;
  return of(intern({Atom::Kind::rest, by, left}));
}

Index IndexPool::substitute(const Index& a, const std::function<Index(AtomId)>& with) {
  Index out{a.constant, {}};
  for (const Term& term : a.terms) {
    const Atom at = atom(term.atom);
    Index replaced;
    if (at.kind == Atom::Kind::quotient) {
      replaced = quotient(substitute(at.inner, with), at.extent);
    } else if (at.kind == Atom::Kind::rest) {
      replaced = rest(substitute(at.inner, with), at.extent);
    } else {
      replaced = with(term.atom);
    }
    out = add(out, scale(replaced, term.coefficient));
  }
  return out;
}

}  // namespace backplane::cuda::compiler
