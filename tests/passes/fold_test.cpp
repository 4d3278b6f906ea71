#include "passes/fold.hpp"

#include <doctest/doctest.h>

#include "graph_builder.hpp"
#include "passes/known_tensors.hpp"
#include "portable/library.hpp"
#include "portable_kernels.hpp"

using namespace backplane;

TEST_SUITE_BEGIN("core/passes");

namespace {

Result<Module> folded(GraphBuilder& b) {
  Module m = b.take();
  const passes::Evaluator evaluator(b.table(), portable_kernels());
  BP_TRY(passes::fold_constants(m, b.table(), evaluator));
  BP_TRY(verify(m));
  return m;
}

const Constant& constant_of(const Module& m, const Output& output) {
  const Value& value = m.root().value(std::get<ValueRef>(output.value).id);
  REQUIRE(value.constant != kNone);
  return m.constants[static_cast<size_t>(value.constant)];
}

}  // namespace

TEST_CASE("a constant expression becomes a constant named after what it came from") {
  GraphBuilder b;
  const ValueRef w = b.constant("fc.weight", DType::i32, {2, 3}, Role::parameter, {1, 0, 0, 0});
  b.output(b.node("aten::add.Tensor", {b.node("aten::mul.Tensor", {w, 5}), 2}));
  const Result<Module> m = folded(b);
  if (!m.ok()) FAIL(m.error().message);
  CHECK(operators(m->root()).empty());
  const Constant& made = constant_of(*m, m->root().outputs[0]);
  CHECK(made.fqn == "fc.weight");
  CHECK(made.dtype == DType::i32);
  REQUIRE(made.nbytes() == 24);
  CHECK(reinterpret_cast<const int32_t*>(made.storage.data())[5] == 7);
}

TEST_CASE("a view of a constant stays a view of its memory") {
  GraphBuilder b;
  const ValueRef w = b.constant("w", DType::f32, {4, 6}, Role::parameter);
  const ValueRef t = b.node("aten::permute", {w, IntList{{1, kNone}, {0, kNone}}});
  b.output(b.node("aten::select.int", {b.node("aten::slice.Tensor", {t, 0, 1, 6, 2}), 1, -1}));
  const std::byte* memory = b.module().constants[0].storage.data();
  const Result<Module> m = folded(b);
  if (!m.ok()) FAIL(m.error().message);
  const Constant& made = constant_of(*m, m->root().outputs[0]);
  CHECK(made.storage.data() == memory);
  CHECK(made.sizes == std::vector<int64_t>{3});
  CHECK(made.strides == std::vector<int64_t>{2});
  CHECK(made.storage_offset == 3 * 6 + 1);
}

TEST_CASE("what would make the program larger is not folded, unless sizes depend on it") {
  const auto grown = [](bool needed) {
    GraphBuilder b;
    const ValueRef big =
        b.node("aten::full", {IntList{{1 << 20, kNone}}, true}, {{"dtype", DType::boolean}});
    b.output(big);
    if (needed) {
      const SymInt u0 = b.symbols().symbol("u0");
      const ValueRef sum = b.node("aten::sum", {big});
      const ValueRef n =
          b.raw("aten::_local_scalar_dense", {{"self", sum}}, {number(ValueKind::sym_int, u0)})[0];
      const ValueRef zeros =
          b.raw("aten::zeros", {{"size", IntList{{0, n.id}}}}, {tensor(DType::f32, {u0})})[0];
      b.output(zeros);
    }
    const Result<Module> m = folded(b);
    if (!m.ok()) FAIL(m.error().message);
    if (needed) {
      const ValueId zeros = std::get<ValueRef>(m->root().outputs[1].value).id;
      CHECK(m->root().value(zeros).type.sizes == std::vector<SymInt>{1 << 20});
    }
    return operators(m->root());
  };
  CHECK(grown(false) == "full");
  CHECK(grown(true) == "zeros");
}

TEST_CASE("a weight that is used otherwise too is not doubled") {
  for (const bool shared : {false, true}) {
    GraphBuilder b;
    const ValueRef w = b.constant("w", DType::f32, {256, 256}, Role::parameter);
    const ValueRef x = b.input("x", DType::f32, {256, 256});
    b.output(
        b.node("aten::mm", {x, b.node("aten::permute", {w, IntList{{1, kNone}, {0, kNone}}})}));
    if (shared) b.output(b.node("aten::mm", {x, w}));
    const Result<Module> m = folded(b);
    if (!m.ok()) FAIL(m.error().message);
    CHECK(count(*m, "aten::permute") == (shared ? 1 : 0));
  }
}

TEST_CASE("random operators and buffers that the method writes are left for run time") {
  GraphBuilder b;
  const ValueRef state = b.constant("state", DType::f32, {3}, Role::buffer);
  b.graph().outputs.push_back(
      {Output::Kind::buffer_mutation, b.node("aten::add.Tensor", {state, 1}), "state"});
  b.output(b.node("aten::rand", {IntList{{3, kNone}}}));
  const Result<Module> m = folded(b);
  if (!m.ok()) FAIL(m.error().message);
  CHECK(operators(m->root()) == "add.Tensor rand");
}

TEST_CASE("an index by a constant mask has a size that is known") {
  GraphBuilder b;
  const ValueRef x = b.input("x", DType::f32, {4, 2});
  const ValueRef mask = b.constant("mask", DType::boolean, {4}, Role::constant, {1, 0, 1, 1});
  const SymInt u0 = b.symbols().symbol("u0");
  b.output(b.raw("aten::index.Tensor", {{"self", x}, {"indices", ValueList{{mask.id}}}},
                 {tensor(DType::f32, {u0, 2})})[0]);
  const Result<Module> m = folded(b);
  if (!m.ok()) FAIL(m.error().message);
  const Node& index = m->root().nodes[0];
  CHECK(m->root().value(index.outputs[0]).type.sizes == std::vector<SymInt>{3, 2});
  const ValueId at = std::get<ValueList>(index.args[1].value).ids[0];
  CHECK(m->root().value(at).type.dtype == DType::i64);
}

TEST_CASE("a known branch is taken, and a check of constants decided") {
  for (const uint8_t flag : {1, 0}) {
    GraphBuilder b;
    const ValueRef x = b.input("x", DType::f32, {3});
    const ValueRef p = b.constant("p", DType::boolean, {}, Role::constant, {flag});
    const auto body = [&](std::string_view op) {
      return b.body(op, [&] { b.output(b.node(op, {b.input("a", DType::f32, {3})})); });
    };
    const GraphRef yes = body("aten::sin");
    const GraphRef no = body("aten::cos");
    b.output(b.raw("higher_order::cond", {{"", p}, {"", yes}, {"", no}, {"", ValueList{{x.id}}}},
                   {tensor(DType::f32, {3})})[0]);
    const Result<Module> m = folded(b);
    if (!m.ok()) FAIL(m.error().message);
    CHECK(operators(m->root()) == (flag != 0 ? "sin" : "cos"));
    CHECK(m->graphs.size() == 1);

    GraphBuilder c;
    const ValueRef q = c.constant("q", DType::boolean, {}, Role::constant, {flag});
    (void)c.raw("aten::_assert_async.msg", {{"self", q}, {"assert_msg", std::string("q holds")}},
                {});
    const Result<Module> checked = folded(c);
    CHECK(checked.ok() == (flag != 0));
    if (flag == 0) CHECK(checked.error().message.find("q holds") != std::string::npos);
  }
}

TEST_SUITE_END();
