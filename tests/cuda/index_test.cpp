// Indices that come together: what reshapes, transpositions and slices leave of each other.
#include <doctest/doctest.h>

#include "cuda/compiler/index.hpp"

namespace backplane::cuda::compiler {
namespace {

struct Fixture {
  bp_symbol_t symbol{};
  bp_graph_t raw{};
  SizeTable sizes{sdk::Graph(with_symbol())};
  IndexPool ix{sizes};

  const bp_graph_t& with_symbol() {
    symbol.max = 1000;
    symbol.source = BP_SOURCE_INPUT;
    raw.symbols = {&symbol, 1, sizeof symbol};
    return raw;
  }
  SizeId n(int64_t number) { return sizes.constant(number); }
  SizeId dynamic() { return *sizes.of({1000, 0, -1}); }
};

TEST_SUITE("cuda/index") {
  TEST_CASE("digits of a flat index, put together again, are that index") {
    Fixture f;
    for (const SizeId outer : {f.n(12), f.dynamic()}) {
      const Index i = f.ix.of(f.ix.variable(f.sizes.multiply(outer, f.n(35))));
      const Index last = f.ix.rest(i, f.n(7));
      const Index rows = f.ix.quotient(i, f.n(7));
      const Index middle = f.ix.rest(rows, f.n(5));
      const Index first = f.ix.quotient(rows, f.n(5));
      CHECK(f.ix.dot({first, middle, last}, {f.n(35), f.n(7), f.n(1)}) == i);
    }
  }

  TEST_CASE("a reshape of known digits leaves no division") {
    Fixture f;
    for (const SizeId width : {f.n(768), f.dynamic()}) {
      const Index row = f.ix.of(f.ix.variable(f.n(197)));
      const Index column = f.ix.of(f.ix.variable(width));
      const Index flat = f.ix.dot({row, column}, {width, f.n(1)});
      CHECK(f.ix.quotient(flat, width) == row);
      CHECK(f.ix.rest(flat, width) == column);
    }
  }

  TEST_CASE("what may reach the divisor is divided") {
    Fixture f;
    const Index i = f.ix.of(f.ix.variable(f.n(10)));
    CHECK(f.ix.quotient(i, f.n(10)) == f.ix.number(0));
    CHECK_FALSE(f.ix.quotient(i, f.n(9)) == f.ix.number(0));
    CHECK_FALSE(f.ix.rest(i, f.n(9)) == i);
    CHECK(f.ix.is_below(i, f.n(10)));
    CHECK_FALSE(f.ix.is_below(f.ix.add(i, f.ix.number(-1)), f.n(10)));
    CHECK_FALSE(f.ix.is_below(i, f.dynamic()));
  }

  TEST_CASE("of nothing there is no digit, and nobody divides by its size") {
    Fixture f;
    const Index i = f.ix.of(f.ix.variable(f.n(0)));
    CHECK(f.ix.quotient(i, f.n(0)) == f.ix.number(0));
    CHECK(f.ix.rest(f.ix.add(i, f.ix.number(3)), f.n(0)) == f.ix.number(0));
  }

  TEST_CASE("equal sizes are one, however they were made") {
    Fixture f;
    const SizeId s = f.dynamic();
    CHECK(f.sizes.multiply(f.n(4), f.sizes.multiply(s, f.n(2))) == f.sizes.multiply(s, f.n(8)));
    CHECK(f.sizes.exact_div(f.sizes.multiply(s, f.n(8)), s) == f.n(8));
    CHECK_FALSE(f.sizes.exact_div(f.sizes.multiply(s, f.n(8)), f.n(3)).has_value());
    CHECK(f.sizes.bound(f.sizes.multiply(s, f.n(8))) == 8000);
    CHECK(f.sizes.ceil_div(f.n(-7), f.n(2)) == f.n(-3));
  }
}

}  // namespace
}  // namespace backplane::cuda::compiler
