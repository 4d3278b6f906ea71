#include <doctest/doctest.h>

#include <array>

#include "graph/symbols.hpp"

namespace backplane {
namespace {

// s0, s1 >= 0; s2 in [2, 64]; u0 of either sign.
struct Sizes {
  SymbolTable t;
  SymInt s0 = t.symbol("s0");
  SymInt s1 = t.symbol("s1");
  SymInt s2 = t.symbol("s2");
  SymInt u0 = t.symbol("u0");
  Sizes() {
    t.info(2).range = {2, 64};
    t.info(2).hint = 10;
    t.info(3).range = {-kUnbounded, kUnbounded};
  }
};

}  // namespace

TEST_SUITE("core/symbols") {
  TEST_CASE("equal sizes get one form, and it reads well") {
    Sizes z;
    SymbolTable& t = z.t;
    const SymInt s0 = z.s0;
    const SymInt s1 = z.s1;
    const SymInt s2 = z.s2;
    const SymInt u0 = z.u0;
    const auto conv = [&](SymInt x) { return t.add(t.floor_div(t.sub(x, 1), 2), 1); };
    struct Case {
      SymInt value;
      std::string_view text;
    };
    const Case cases[] = {
        {t.add(s0, 0), "s0"},
        {t.sub(t.add(s0, s1), s1), "s0"},
        {t.mul(t.add(s0, 1), t.add(s1, 2)), "s0*s1 + s0*2 + s1 + 2"},
        {t.sub(s1, s0), "-s0 + s1"},
        {t.neg(t.mul(s0, 3)), "-s0*3"},
        {t.floor_div(t.mul(4, s0), 2), "s0*2"},
        {t.mod(t.mul(s0, 4), 4), "0"},
        {t.mod(t.add(t.mul(s0, 4), 6), 4), "2"},
        {t.mod(t.add(t.mul(s0, 2), 1), 4), "(s0 % 2)*2 + 1"},
        {t.floor_div(t.add(t.mul(s0, 4), 5), 4), "s0 + 1"},
        {t.floor_div(t.mul(t.mul(s0, s1), 6), t.mul(s1, 3)), "s0*2"},
        {t.floor_div(t.mul(t.add(s0, 1), t.add(s1, 1)), t.add(s1, 1)), "s0 + 1"},
        {t.floor_div(t.floor_div(s0, 2), 3), "s0 // 6"},
        {t.mul(t.floor_div(s0, s1), s1), "s1*(s0 // s1)"},
        {conv(conv(s0)), "(s0 + 3) // 4"},
        {t.ceil_div(s0, 4), "(s0 + 3) // 4"},
        {t.floor_div(s2, 100), "0"},
        {t.mod(s2, 65), "s2"},
        {t.max(s2, 2), "s2"},
        {t.max(s2, 1), "s2"},
        {t.min(t.min(s0, 7), t.min(5, s1)), "min(s0, s1, 5)"},
        {t.max(t.add(s0, 1), s0), "s0 + 1"},
        {t.min(t.floor_div(s0, 2), s0), "s0 // 2"},
        {t.max(u0, 0), "max(u0, 0)"},
        {t.make(SymOp::lt, std::array{s2, SymInt(2)}), "0"},
        {t.make(SymOp::lt, std::array{s0, s1}), "s0 + 1 <= s1"},
        {t.make(SymOp::logical_not, std::array{t.make(SymOp::eq, std::array{s0, s1})}), "s0 != s1"},
        {t.make(SymOp::eq, std::array{t.mul(2, s0), SymInt(3)}), "0"},
        {t.make(SymOp::eq, std::array{t.mul(2, s0), SymInt(6)}), "s0 == 3"},
        {t.make(SymOp::where, std::array{t.make(SymOp::le, std::array{s0, s1}), s1, s1}), "s1"},
        {t.make(SymOp::pow, std::array{s0, SymInt(2)}), "s0*s0"},
        {t.make(SymOp::shift_left, std::array{s0, SymInt(3)}), "s0*8"},
    };
    for (const Case& c : cases) CHECK(t.text(c.value) == c.text);
  }

  TEST_CASE("bounds follow the symbols' ranges, also when those become narrower") {
    Sizes z;
    CHECK(z.t.upper_bound(z.t.add(z.t.mul(z.s2, 4), 3)) == 259);
    CHECK_FALSE(z.t.upper_bound(z.s0).has_value());
    CHECK(z.t.upper_bound(z.t.min(z.s0, z.s2)) == 64);
    CHECK(z.t.range(z.t.sub(z.s0, z.t.floor_div(z.s0, 2))).min == 0);
    CHECK(z.t.range(z.t.sub(z.t.max(z.s0, 5), z.s0)).min == 0);
    const SymInt product = z.t.mul(z.s0, z.s2);
    CHECK_FALSE(z.t.upper_bound(product).has_value());
    z.t.info(0).range.max = 3;
    CHECK(z.t.upper_bound(product) == 192);
    CHECK(z.t.hint(z.t.mul(z.s2, z.s2)) == 100);
    CHECK_FALSE(z.t.hint(product).has_value());
  }

  TEST_CASE("what is too large saturates and what has no value gives none") {
    Sizes z;
    const SymInt large = int64_t{1} << 62;
    CHECK(z.t.mul(large, large) == SymInt(kUnbounded));
    CHECK(z.t.mul(large, z.t.neg(large)) == SymInt(-kUnbounded));
    CHECK(z.t.add(std::numeric_limits<int64_t>::min(), -1) == SymInt(-kUnbounded));
    CHECK_FALSE(z.t.upper_bound(z.t.mul(z.t.mul(z.s2, large), z.s2)).has_value());
    const SymInt divided = z.t.floor_div(z.s0, 0);
    CHECK_FALSE(z.t.evaluate(divided, {4}).has_value());
    CHECK_FALSE(z.t.evaluate(z.t.floor_div(z.s0, z.s1), {4, 0}).has_value());
    CHECK_FALSE(z.t.evaluate(z.t.add(z.s0, z.s1), {4}).has_value());
    CHECK(z.t.make(SymOp::mod, std::array{SymInt(5), SymInt(0)}) == z.t.mod(5, 0));
  }

  TEST_CASE("a dense stride is told from another") {
    Sizes z;
    SymbolTable& t = z.t;
    const std::array sizes = {z.s0, SymInt(3), t.mul(z.u0, 2)};
    CHECK(t.is_product(t.mul(t.mul(z.s0, 6), z.u0), sizes));
    CHECK(t.is_product(t.mul(t.mul(3, t.max(z.s0, 1)), t.max(t.mul(z.u0, 2), 1)), sizes));
    CHECK_FALSE(t.is_product(t.mul(z.s0, 6), sizes));
    CHECK(t.is_product(1, {}));
  }

  TEST_CASE("long chains take neither the stack nor quadratic time") {
    SymbolTable t;
    SymInt sum = 0;
    SymInt nested = t.symbol("a");
    SymInt power = t.symbol("a");
    for (int i = 0; i < 5000; ++i) {
      const SymInt next = t.symbol("u" + std::to_string(i));
      sum = t.add(sum, next);
      nested = t.floor_div(nested, next);
      power = t.mul(power, t.add(power, next));
    }
    for (const SymInt value : {sum, nested, power}) {
      (void)t.range(value);
      CHECK(t.text(value).size() < 100000);
      CHECK(t.symbols_of(value).size() >= 5000);
      CHECK(t.evaluate(value, SymbolValues(t.num_symbols(), 1)).has_value());
    }
  }
}

}  // namespace backplane
