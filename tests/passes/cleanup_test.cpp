// remove_noops, merge_common_subexpressions, remove_dead_code.
#include <doctest/doctest.h>

#include "graph_builder.hpp"
#include "passes/passes.hpp"

using namespace backplane;

TEST_SUITE_BEGIN("core/passes");

namespace {

using Pass = Status (*)(Module&, const ops::Table&);

std::string after(GraphBuilder& b, Pass pass) {
  Module m = b.take();
  if (Status done = pass(m, b.table()); !done.ok()) return done.error().message;
  if (Status sound = verify(m); !sound.ok()) return sound.error().message;
  return operators(m.root());
}

IntList ints(std::initializer_list<int64_t> values) {
  IntList list;
  for (int64_t value : values) list.push_back({value, kNone});
  return list;
}

}  // namespace

TEST_CASE("what hands its operand on is removed, what changes it is not") {
  const struct {
    std::string_view op;
    std::vector<Argument> args;  // after self
    bool is_noop;
  } cases[] = {
      {"aten::detach", {}, true},
      {"aten::clone", {}, true},
      {"aten::contiguous", {}, true},
      {"aten::lift_fresh_copy", {}, true},
      {"aten::dropout", {0.5, false}, true},
      {"aten::dropout", {0.0, true}, true},
      {"aten::dropout", {0.5, true}, false},
      {"aten::to.dtype", {DType::f32}, true},
      {"aten::to.dtype", {DType::f64}, false},
      {"aten::expand", {ints({2, 3})}, true},
      {"aten::expand", {ints({4, 2, 3})}, false},
      {"aten::view", {ints({2, 3})}, true},
      {"aten::view", {ints({3, 2})}, false},
      {"aten::permute", {ints({0, 1})}, true},
      {"aten::permute", {ints({0, -1})}, true},
      {"aten::permute", {ints({1, 0})}, false},
      {"aten::slice.Tensor", {0, None{}, std::numeric_limits<int64_t>::max(), 1}, true},
      {"aten::slice.Tensor", {0, 0, 1, 1}, false},
      {"aten::constant_pad_nd", {ints({0, 0}), 1.0}, true},
      {"aten::constant_pad_nd", {ints({0, 1}), 1.0}, false},
      {"aten::as_strided", {ints({2, 3}), ints({3, 1})}, true},
      {"aten::as_strided", {ints({2, 3}), ints({1, 2})}, false},
      {"aten::add.Tensor", {0}, false},
  };
  for (const auto& c : cases) {
    CAPTURE(c.op);
    CAPTURE(c.is_noop);
    GraphBuilder b;
    std::vector<Argument> args = {b.input("x", DType::f32, {2, 3})};
    args.insert(args.end(), c.args.begin(), c.args.end());
    b.output(b.node("aten::relu", {b.node(c.op, args)}));
    const std::string left = after(b, passes::remove_noops);
    CHECK((left == "relu") == c.is_noop);
  }
}

TEST_CASE("equal nodes become one, unless they are random or have other results") {
  GraphBuilder b;
  const ValueRef x = b.input("x", DType::f32, {2, 3});
  const ValueRef y = b.input("y", DType::f32, {2, 3});
  const auto chain = [&](const ValueRef& from, double by) {
    return b.node("aten::relu", {b.node("aten::mul.Tensor", {from, by})});
  };
  b.output(chain(x, 2.0));
  b.output(chain(x, 2.0));
  b.output(chain(y, 2.0));
  b.output(chain(x, 3.0));
  b.output(b.node("aten::rand_like", {x}));
  b.output(b.node("aten::rand_like", {x}));
  CHECK(after(b, passes::merge_common_subexpressions) ==
        "mul.Tensor relu mul.Tensor relu mul.Tensor relu rand_like rand_like");
}

TEST_CASE("zeros of other sign and other types of number are other arguments") {
  GraphBuilder b;
  const ValueRef x = b.input("x", DType::f32, {2, 3});
  for (const Argument& other :
       {Argument(0.0), Argument(-0.0), Argument(int64_t{0}), Argument(false)}) {
    b.output(b.node("aten::mul.Tensor", {x, other}));
  }
  CHECK(after(b, passes::merge_common_subexpressions) ==
        "mul.Tensor mul.Tensor mul.Tensor mul.Tensor");
}

TEST_CASE("dead nodes and bodies go, checks and written buffers stay") {
  GraphBuilder b;
  const ValueRef x = b.input("x", DType::f32, {2, 3});
  const ValueRef p = b.input("p", DType::boolean, {});
  const ValueRef state = b.constant("state", DType::f32, {2, 3}, Role::buffer);
  (void)b.node("aten::exp", {b.node("aten::relu", {x})});
  const GraphRef body = b.body("body", [&] {
    b.output(b.node("aten::relu", {b.input("a", DType::f32, {2, 3})}));
  });
  (void)b.raw("higher_order::cond", {{"", p}, {"", body}, {"", body}, {"", ValueList{{x.id}}}},
              {tensor(DType::f32, {2, 3})});
  (void)b.raw("aten::_assert_async.msg", {{"self", p}, {"assert_msg", std::string("p")}}, {});
  const ValueRef next = b.node("aten::neg", {x});
  b.graph().outputs.push_back({Output::Kind::buffer_mutation, next, "state"});
  (void)state;
  Module m = b.take();
  REQUIRE(passes::remove_dead_code(m, b.table()).ok());
  REQUIRE(verify(m).ok());
  CHECK(operators(m.root()) == "_assert_async.msg neg");
  CHECK(m.graphs.size() == 1);
}

TEST_SUITE_END();
