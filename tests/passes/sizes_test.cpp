#include <doctest/doctest.h>

#include "graph_builder.hpp"
#include "passes/passes.hpp"

using namespace backplane;

TEST_SUITE_BEGIN("core/passes");

namespace {

struct Sizes {
  GraphBuilder b;

  SymInt symbol(std::string_view name, Range range) {
    const SymInt made = b.symbols().symbol(name);
    b.symbols().info(*b.symbols().as_symbol(made)).range = range;
    return made;
  }
  ValueRef size_of(ValueRef x, int64_t dim) {
    const SymInt size = b.graph().value(x.id).type.sizes[static_cast<size_t>(dim)];
    return b.raw("aten::sym_size.int", {{"self", x}, {"dim", dim}},
                 {number(ValueKind::sym_int, size)})[0];
  }
  ValueRef sym(std::string_view op, Argument a, Argument c, ValueKind kind) {
    return b.raw(op, {{"a", std::move(a)}, {"b", std::move(c)}}, {number(kind)})[0];
  }
  void check(ValueRef condition) {
    (void)b.raw("aten::_assert_scalar", {{"self", condition}, {"assert_msg", std::string("fits")}},
                {});
  }
  Result<std::string> simplified() {
    Module m = b.take();
    BP_TRY(passes::simplify_sizes(m, b.table()));
    BP_TRY(passes::remove_dead_code(m, b.table()));
    BP_TRY(verify(m));
    return operators(m.root());
  }
};

}  // namespace

TEST_CASE("a check that all allowed sizes of an input pass is dropped") {
  Sizes t;
  const ValueRef x = t.b.input("x", DType::f32, {t.symbol("s0", {2, 16}), 4});
  const ValueRef n = t.size_of(x, 0);
  t.check(t.sym("sym::le", n, 16, ValueKind::sym_bool));
  t.check(t.sym("sym::ge", n, 2, ValueKind::sym_bool));
  t.b.output(t.b.node("aten::relu", {x}));
  CHECK(t.simplified().value() == "relu");
}

TEST_CASE("a check that some sizes fail stays, one that all fail is an error") {
  for (const int64_t bound : {8, 1}) {
    Sizes t;
    const ValueRef x = t.b.input("x", DType::f32, {t.symbol("s0", {2, 16}), 4});
    t.check(t.sym("sym::le", t.size_of(x, 0), bound, ValueKind::sym_bool));
    t.b.output(t.b.node("aten::relu", {x}));
    const auto left = t.simplified();
    if (bound == 8) {
      CHECK(left.value() == "sym_size.int sym::le _assert_scalar relu");
    } else {
      REQUIRE(!left.ok());
      CHECK(left.error().message.find("fits") != std::string::npos);
    }
  }
}

// What range the exporter notes for a number read from data comes from the check itself.
TEST_CASE("a check of a number that data gives stays, though its range says that it holds") {
  Sizes t;
  const ValueRef x = t.b.input("x", DType::i64, {});
  const SymInt u0 = t.symbol("u0", {0, 10});
  const ValueRef n = t.b.raw("aten::item", {{"self", x}}, {number(ValueKind::sym_int, u0)})[0];
  t.check(t.sym("sym::le", n, 10, ValueKind::sym_bool));
  t.b.output(t.b.node("aten::relu", {x}));
  CHECK(t.simplified().value() == "item sym::le _assert_scalar relu");
}

TEST_CASE("a count of elements needs no check that it is at most all") {
  for (const int64_t bound : {24, 10}) {
    Sizes t;
    const ValueRef mask = t.b.input("mask", DType::boolean, {4, 6});
    const SymInt u0 = t.symbol("u0", {0, bound});
    const ValueRef places =
        t.b.raw("aten::nonzero", {{"self", mask}}, {tensor(DType::i64, {u0, 2})})[0];
    t.check(t.sym("sym::le", t.size_of(places, 0), bound, ValueKind::sym_bool));
    t.b.output(places);
    const std::string checked = "nonzero sym_size.int sym::le _assert_scalar";
    CHECK(t.simplified().value() == (bound == 24 ? "nonzero" : checked));
  }
}

TEST_CASE("metadata is compared now, and sizes that aren't known when the program runs") {
  const SymInt unknown = SymInt(-1);  // stands for the symbol below
  const struct {
    std::vector<int64_t> sizes;
    DType dtype;
    std::string_view left;
  } cases[] = {
      {{4, 3}, DType::f32, "relu"},
      {{4, 3}, DType::f64, "float64"},
      {{5, 3}, DType::f32, "never holds"},
      {{4, 7}, DType::f32, "sym_size.int sym::eq _assert_scalar relu"},
  };
  (void)unknown;
  for (const auto& c : cases) {
    Sizes t;
    const bool dynamic = c.sizes[1] == 7;
    const ValueRef x =
        t.b.input("x", DType::f32, {4, dynamic ? t.symbol("s0", {2, 16}) : SymInt(c.sizes[1])});
    IntList sizes = {{c.sizes[0], kNone}, {c.sizes[1], kNone}};
    (void)t.b.raw("aten::_assert_tensor_metadata",
                  {{"a", x},
                   {"size", sizes},
                   {"stride", None{}},
                   {"dtype", c.dtype},
                   {"device", None{}},
                   {"layout", None{}}},
                  {});
    t.b.output(t.b.node("aten::relu", {x}));
    const auto left = t.simplified();
    const std::string text = left.ok() ? *left : left.error().message;
    CHECK_MESSAGE(text.find(c.left) != std::string::npos, text);
  }
}

TEST_CASE("equal sizes become one value, and constant ones numbers") {
  Sizes t;
  const SymInt s0 = t.symbol("s0", {2, 16});
  const ValueRef x = t.b.input("x", DType::f32, {s0, 4});
  const ValueRef y = t.b.node("aten::relu", {x});
  const ValueRef a = t.size_of(x, 0);
  const ValueRef c = t.size_of(y, 0);
  const ValueRef twice = t.sym("sym::mul", a, t.size_of(y, 1), ValueKind::sym_int);
  t.b.graph().value(twice.id).expr = t.b.symbols().mul(4, s0);
  t.b.graph().value(twice.id).has_expr = true;
  t.b.output(t.b.node("aten::view", {y, IntList{{0, twice.id}}}));
  t.b.output(t.b.node("aten::expand", {x, IntList{{0, c.id}, {4, kNone}}}));
  CHECK(t.simplified().value() == "relu sym_size.int sym::mul view expand");
}

TEST_SUITE_END();
