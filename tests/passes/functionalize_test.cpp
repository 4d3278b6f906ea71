// Programs exported by tests/data/make/passes.py, and graphs that torch.export does not write.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "graph_builder.hpp"
#include "passes/passes.hpp"
#include "reader/pt2.hpp"

using namespace backplane;

TEST_SUITE_BEGIN("core/passes");

namespace {

Result<Module> functional(const std::string& path, const ops::Table& table) {
  BP_ASSIGN_OR_RETURN(Module m, read_pt2(path));
  BP_TRY(passes::fill_defaults(m, table));
  BP_TRY(passes::inline_wrappers(m, table));
  BP_TRY(passes::functionalize(m, table));
  BP_TRY(verify(m));
  return m;
}

// "buffer ring, input x": what a method writes, in order.
std::string writes(const Module& m) {
  std::string text;
  for (const Output& output : m.root().outputs) {
    if (output.kind == Output::Kind::user) continue;
    text += text.empty() ? "" : ", ";
    text += output.kind == Output::Kind::buffer_mutation ? "buffer " : "input ";
    text += output.target;
  }
  return text;
}

Status functionalize(GraphBuilder& b, Module& m) {
  m = b.take();
  BP_TRY(passes::functionalize(m, b.table()));
  return verify(m);
}

}  // namespace

TEST_CASE("programs that write become functional and give what they wrote") {
  const ops::Table table;
  const std::map<std::string, std::string> programs = {
      {"batch_norm_train",
       "buffer bn.running_mean, buffer bn.running_var, buffer bn.num_batches_tracked, "
       "buffer inorm.running_mean, buffer inorm.running_var"},
      {"buffers", "buffer n, buffer ring, buffer scratch"},
      {"chain_of_in_place", ""},
      {"complex_views", ""},
      {"cond_writes", "buffer count"},
      {"copies", ""},
      {"detached", ""},
      {"dynamic_views", ""},
      {"masks", ""},
      {"maybe_views", ""},
      {"modes", "buffer seen, input x"},
      {"old_state", "buffer a, buffer b, input x"},
      {"out_variants", ""},
      {"parts", ""},
      {"shape_in_place", ""},
      {"stale_views", ""},
      {"strided", ""},
      {"user_inputs", "input x, input y"},
      {"view_depth_1", ""},
      {"view_depth_4", ""},
      {"while_carries", ""},
      {"while_writes", "buffer total"},
  };
  for (const auto& [name, expected] : programs) {
    CAPTURE(name);
    const Result<Module> m = functional("passes/" + name + ".pt2", table);
    if (!m.ok()) FAIL_CHECK(m.error().message);
    if (!m.ok()) continue;
    CHECK(writes(*m) == expected);
    for (const auto& graph : m->graphs) {
      for (const Node& node : graph->nodes) {
        CAPTURE(describe(node));
        CHECK((node.schema == nullptr || !node.schema->mutates()));
      }
    }
  }
}

TEST_CASE("a write through a chain of views is put back step by step") {
  GraphBuilder b;
  const ValueRef x = b.input("x", DType::f32, {4, 6});
  const ValueRef y = b.node("aten::relu", {x});
  const ValueRef rows = b.node("aten::slice.Tensor", {y, 0, 1, 3, 1});
  const ValueRef column = b.node("aten::select.int", {rows, 1, -1});
  (void)b.node("aten::mul_.Tensor", {column, 2});
  b.output(y);
  Module m;
  REQUIRE(functionalize(b, m).ok());
  CHECK(operators(m.root()) ==
        "relu slice.Tensor select.int mul.Tensor select_scatter slice_scatter");
}

TEST_CASE("a stale view is taken anew where it is read, and only there") {
  GraphBuilder b;
  const ValueRef y = b.node("aten::relu", {b.input("x", DType::f32, {4, 6})});
  const ValueRef read = b.node("aten::select.int", {y, 0, 0});
  (void)b.node("aten::select.int", {y, 0, 1});
  (void)b.node("aten::add_.Tensor", {y, 1});
  b.output(read);
  Module m;
  REQUIRE(functionalize(b, m).ok());
  CHECK(operators(m.root()) == "relu select.int select.int add.Tensor select.int");
}

TEST_CASE("a functional program stays as it is") {
  GraphBuilder b;
  const ValueRef x = b.input("x", DType::f32, {4, 6});
  b.output(b.node("aten::detach", {b.node("aten::view", {x, IntList{{24, kNone}}})}));
  Module m;
  REQUIRE(functionalize(b, m).ok());
  CHECK(operators(m.root()) == "view detach");
}

TEST_CASE("names of one buffer are one memory") {
  GraphBuilder b;
  const ValueRef a = b.constant("a", DType::f32, {3}, Role::buffer);
  const ValueRef same = b.constant("b", DType::f32, {3}, Role::buffer);
  b.module().constants[1].storage = b.module().constants[0].storage;
  (void)b.node("aten::add_.Tensor", {a, 1});
  b.output(b.node("aten::relu", {same}));
  Module m;
  REQUIRE(functionalize(b, m).ok());
  CHECK(writes(m) == "buffer a, buffer b");
  CHECK(m.root().nodes[1].args[0].value == Argument(ValueRef{m.root().nodes[0].outputs[0]}));
}

TEST_CASE("what can't be made functional is refused with the reason") {
  using Fill = void (*)(GraphBuilder&);
  const struct {
    Fill fill;
    std::string_view says;
  } cases[] = {
      {[](GraphBuilder& b) {  // elements of the view share memory
         const ValueRef y = b.node("aten::relu", {b.input("x", DType::f32, {1, 3})});
         const ValueRef wide = b.node("aten::expand", {y, IntList{{2, kNone}, {3, kNone}}});
         (void)b.node("aten::add_.Tensor", {wide, 1});
         b.output(y);
       },
       "expanded view"},
      {[](GraphBuilder& b) {  // whether reshape copies depends on the size
         const SymInt n = b.symbols().symbol("n");
         const ValueRef x = b.input("x", DType::f32, {n, 4});
         const ValueRef t = b.node("aten::t", {x});
         b.graph().value(t.id).type.strides = {1, 4};
         const ValueRef flat = b.node("aten::reshape", {t, IntList{{-1, kNone}}});
         (void)b.node("aten::add_.Tensor", {flat, 1});
         b.output(flat);
       },
       "may share memory"},
      {[](GraphBuilder& b) {  // constants that overlap in part
         const ValueRef all = b.constant("all", DType::f32, {4}, Role::buffer);
         (void)b.constant("some", DType::f32, {2}, Role::buffer);
         b.module().constants[1].storage = b.module().constants[0].storage;
         (void)b.node("aten::add_.Tensor", {all, 1});
         b.output(all);
       },
       "shares part of its memory"},
      {[](GraphBuilder& b) {  // map has no place for what its body writes
         const ValueRef x = b.input("x", DType::f32, {4, 3});
         const ValueRef k = b.node("aten::relu", {b.input("k", DType::f32, {3})});
         const GraphRef body = b.body("body", [&] {
           const ValueRef row = b.input("row", DType::f32, {3});
           const ValueRef operand = b.input("operand", DType::f32, {3});
           (void)b.node("aten::add_.Tensor", {operand, row});
           b.output(b.node("aten::relu", {row}));
         });
         b.output(b.raw("higher_order::map_impl",
                        {{"", body}, {"", ValueList{{x.id}}}, {"", ValueList{{k.id}}}},
                        {tensor(DType::f32, {4, 3})})[0]);
       },
       "only cond and while_loop"},
      {[](GraphBuilder& b) {  // both operands of a branch are one memory, and it writes one
         const ValueRef p = b.input("p", DType::boolean, {});
         const ValueRef y = b.node("aten::relu", {b.input("x", DType::f32, {3})});
         const ValueRef part = b.node("aten::slice.Tensor", {y, 0, 0, 2, 1});
         const GraphRef body = b.body("body", [&] {
           const ValueRef a = b.input("a", DType::f32, {3});
           const ValueRef c = b.input("c", DType::f32, {2});
           (void)b.node("aten::add_.Tensor", {a, 1});
           b.output(b.node("aten::relu", {c}));
         });
         b.output(b.raw("higher_order::cond",
                        {{"", p}, {"", body}, {"", body}, {"", ValueList{{y.id, part.id}}}},
                        {tensor(DType::f32, {2})})[0]);
       },
       "shares memory with"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.says);
    GraphBuilder b;
    c.fill(b);
    Module m;
    const Status status = functionalize(b, m);
    REQUIRE(!status.ok());
    CHECK(status.error().code == Code::unsupported);
    CHECK_MESSAGE(status.error().message.find(c.says) != std::string::npos, status.error().message);
  }
}

TEST_CASE("a value that may share memory may be written if the other is not read again") {
  GraphBuilder b;
  const SymInt n = b.symbols().symbol("n");
  const ValueRef x = b.node("aten::relu", {b.input("x", DType::f32, {n, 4})});
  const ValueRef t = b.node("aten::t", {x});
  b.graph().value(t.id).type.strides = {1, 4};
  const ValueRef flat = b.node("aten::reshape", {t, IntList{{-1, kNone}}});
  (void)b.node("aten::add_.Tensor", {flat, 1});
  b.output(flat);
  Module m;
  CHECK(functionalize(b, m).ok());
}

TEST_SUITE_END();
