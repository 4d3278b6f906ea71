#include "passes/rewriter.hpp"

#include <doctest/doctest.h>

#include "graph_builder.hpp"

using namespace backplane;
using passes::Rewriter;

TEST_SUITE_BEGIN("core/passes");

namespace {

// x[s0, 2*s1 + 1] with a node that a visit can replace.
struct Sized {
  GraphBuilder b;
  SymInt s0 = b.symbols().symbol("s0");
  SymInt s1 = b.symbols().symbol("s1");
  Module m;

  Sized() {
    const SymInt odd = b.symbols().add(b.symbols().mul(2, s1), 1);
    const ValueRef x = b.input("x", DType::f32, {s0, odd});
    b.output(b.node("aten::relu", {x}));
    m = b.take();
  }

  // Emits `size` as an operand in place of the relu's; returns what the graph became.
  Result<std::string> emit(SymInt size) {
    Rewriter r(m, m.root(), b.table());
    BP_TRY(r.walk([&](Node& node) -> Status {
      const ValueRef x = r.args(node).tensor("self");
      const Argument operand = r.integer(size);
      if (const auto* ref = std::get_if<ValueRef>(&operand)) r.graph().outputs[0].value = *ref;
      r.replace(node, r.emit("aten::relu", {x}));
      return r.status();
    }));
    BP_TRY(r.finish());
    BP_TRY(verify(m));
    return operators(m.root());
  }
};

}  // namespace

TEST_CASE("a size becomes an operand by asking a tensor that has it and by arithmetic") {
  {
    Sized t;
    CHECK(t.emit(t.s0).value() == "sym_size.int relu");
  }
  {
    Sized t;  // 3 * s0: the size once, then a product
    CHECK(t.emit(t.m.symbols.mul(3, t.s0)).value() == "sym_size.int sym::mul relu");
  }
  {
    Sized t;  // s1 is in no dimension by itself: (size - 1) // 2
    CHECK(t.emit(t.s1).value() == "sym_size.int sym::sub sym::floordiv relu");
  }
  {
    Sized t;
    const SymInt up = t.m.symbols.ceil_div(t.s0, 4);
    const std::string text = t.emit(up).value();
    CHECK(text.find("sym::floordiv") != std::string::npos);
  }
}

TEST_CASE("a size that no value here gives is refused by its name") {
  Sized t;
  const SymInt u7 = t.m.symbols.symbol("u7");
  const auto result = t.emit(u7);
  REQUIRE(!result.ok());
  CHECK(result.error().code == Code::unsupported);
  CHECK(result.error().message.find("u7") != std::string::npos);
}

TEST_CASE("the first error of a chain of emissions stays and is named after the node") {
  Sized t;
  Rewriter r(t.m, t.m.root(), t.b.table());
  const Status walked = r.walk([&](Node& node) -> Status {
    const ValueRef x = r.args(node).tensor("self");
    const ValueRef bad = r.emit("aten::permute", {x, IntList{{5, kNone}, {0, kNone}}});
    const ValueRef worse = r.emit("aten::no_such_operator", {bad});
    CHECK(r.rank(worse) == 0);
    CHECK(r.size(worse, 3) == SymInt(1));
    return r.status();
  });
  REQUIRE(!walked.ok());
  CHECK(walked.error().message.find("aten::relu 'n0'") == 0);
  CHECK(walked.error().message.find("aten::permute") != std::string::npos);
}

TEST_CASE("a replacement takes over name and strides, and must have the same type") {
  GraphBuilder b;
  const ValueRef x = b.input("x", DType::f32, {2, 3});
  const ValueRef y = b.node("aten::relu", {x});
  b.graph().value(y.id).type.strides = {1, 2};
  b.graph().value(y.id).name = "hidden";
  b.output(y);
  Module m = b.take();
  {
    Rewriter r(m, m.root(), b.table());
    REQUIRE(r.walk([&](Node& node) -> Status {
               r.replace(node, r.emit("aten::sigmoid", {r.args(node).tensor("self")}));
               return r.status();
             }).ok());
    REQUIRE(r.finish().ok());
  }
  REQUIRE(verify(m).ok());
  const Value& now = m.root().value(m.root().nodes[0].outputs[0]);
  CHECK(now.name == "hidden");
  CHECK(now.type.strides == std::vector<SymInt>{1, 2});
  CHECK(m.root().nodes[0].name == "hidden");
  Rewriter r(m, m.root(), b.table());
  const Status walked = r.walk([&](Node& node) -> Status {
    r.replace(node, r.emit("aten::sum", {r.args(node).tensor("self")}));
    return r.status();
  });
  REQUIRE(!walked.ok());
  CHECK(walked.error().code == Code::internal);
}

TEST_CASE("defaults are filled in, and values nobody uses are gone after finish") {
  GraphBuilder b;
  const ValueRef x = b.input("x", DType::f32, {2, 3});
  (void)b.node("aten::relu", {x});
  b.output(b.node("aten::add.Tensor", {x, 2}));
  Module m = b.take();
  Rewriter r(m, m.root(), b.table());
  REQUIRE(r.walk([&](Node& node) -> Status {
             return node.op == "aten::relu" ? r.status() : r.keep(std::move(node));
           }).ok());
  REQUIRE(r.finish().ok());
  REQUIRE(verify(m).ok());
  CHECK(m.root().values.size() == 2);
  CHECK(m.root().nodes[0].args.size() == 3);
  CHECK(m.root().nodes[0].args[2].name == "alpha");
}

TEST_SUITE_END();
