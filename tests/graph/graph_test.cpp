#include <doctest/doctest.h>

#include <functional>

#include "graph/graph.hpp"
#include "ops/schema.hpp"

namespace backplane {
namespace {

const ops::Table& table() {
  static const ops::Table schemas;
  return schemas;
}

// x[s0, 4] and the buffer b[4] in; relu(x + b), also written to the buffer; a branch of two bodies.
Module sample() {
  Module m;
  const SymInt s0 = m.symbols.symbol("s0");
  m.symbols.info(0).range = {1, 16};
  for (const char* name : {"forward", "true_graph", "false_graph"}) {
    m.graphs.push_back(std::make_unique<Graph>());
    m.graphs.back()->name = name;
  }
  Constant constant;
  constant.fqn = "stats.mean";
  constant.sizes = {4};
  constant.strides = {1};
  m.constants.push_back(constant);

  const auto value = [](Role role, std::vector<SymInt> sizes) {
    Value v;
    v.role = role;
    v.type.sizes = std::move(sizes);
    return v;
  };
  Graph& g = m.root();
  const ValueId x = g.add_value("x", value(Role::input, {s0, 4}));
  Value buffer = value(Role::buffer, {4});
  buffer.constant = 0;
  const ValueId b = g.add_value("b", std::move(buffer));
  const ValueId sum = g.add_value("add", value(Role::intermediate, {s0, 4}));
  const ValueId relu = g.add_value("relu", value(Role::intermediate, {s0, 4}));
  const ValueId mean = g.add_value("mean", value(Role::intermediate, {4}));
  const ValueId branch = g.add_value("branch", value(Role::intermediate, {4}));
  g.inputs = {{x, {}, "x"}, {kNone, int64_t{3}, "flag"}};
  const auto node = [&](std::string op, std::string name, std::vector<NamedArgument> args,
                        ValueId out) {
    const ops::Schema* schema = table().find(op);
    g.nodes.push_back({std::move(op), std::move(name), schema, std::move(args), {out}, {}});
  };
  node("aten::add.Tensor", "add", {{"self", ValueRef{x}}, {"other", ValueRef{b}}}, sum);
  node("aten::relu", "relu", {{"self", ValueRef{sum}}}, relu);
  node("aten::mean.dim", "mean",
       {{"self", ValueRef{relu}}, {"dim", IntList{{0}}}, {"keepdim", false}}, mean);
  node("higher_order::cond", "cond",
       {{"", true}, {"", GraphRef{1}}, {"", GraphRef{2}}, {"", ValueList{{mean}}}}, branch);
  g.nodes[1].origin = {"encoder.act", "model.py:7 in forward"};
  g.outputs = {{Output::Kind::buffer_mutation, ValueRef{branch}, "stats.mean"},
               {Output::Kind::user, ValueRef{relu}, ""}};
  for (size_t i = 1; i < 3; ++i) {
    Graph& body = *m.graphs[i];
    const ValueId in = body.add_value("arg", value(Role::input, {4}));
    body.inputs = {{in, {}, "arg"}};
    body.outputs = {{Output::Kind::user, ValueRef{in}, ""}};
  }
  g.renumber();
  return m;
}

}  // namespace

TEST_SUITE("core/graph") {
  TEST_CASE("the text of a graph says symbols, types, arguments, origins and what is written") {
    CHECK(print(sample()) == R"(symbol s0 in [1, 16]
graph forward:
  input x %x: float32[s0, 4]
  input flag = 3
  buffer %b: float32[4] "stats.mean"
  %add: float32[s0, 4] = aten::add.Tensor(self=%x, other=%b)
  %relu: float32[s0, 4] = aten::relu(self=%add)  # encoder.act, model.py:7 in forward
  %mean: float32[4] = aten::mean.dim(self=%relu, dim=[0], keepdim=False)
  %branch: float32[4] = higher_order::cond(True, @true_graph, @false_graph, [%mean])
  write buffer "stats.mean" %branch
  return %relu
graph true_graph:
  input arg %arg: float32[4]
  return %arg
graph false_graph:
  input arg %arg: float32[4]
  return %arg
)");
  }

  TEST_CASE("a sound graph passes, and each fault is named") {
    CHECK(verify(sample()).ok());
    struct Case {
      std::function<void(Module&)> damage;
      std::string_view message;
    };
    const auto nodes = [](Module& m) -> std::vector<Node>& { return m.root().nodes; };
    const Case cases[] = {
        {[&](Module& m) { std::swap(nodes(m)[0], nodes(m)[1]), m.root().renumber(); },
         "aten::relu 'relu' (encoder.act, model.py:7 in forward): value 'add' is used before it is "
         "made"},
        {[&](Module& m) { std::swap(nodes(m)[1], nodes(m)[2]); }, "used before"},
        {[&](Module& m) { nodes(m)[0].args[0].value = ValueRef{99}; }, "value 99 is not there"},
        {[&](Module& m) { nodes(m)[0].args[0].value = ValueRef{-7}; }, "value -7 is not there"},
        {[&](Module& m) { nodes(m)[0].args.pop_back(); }, "argument 'other' is missing"},
        {[&](Module& m) { std::swap(nodes(m)[0].args[0], nodes(m)[0].args[1]); },
         "argument 'other' where 'self' is next"},
        {[&](Module& m) {
           nodes(m)[0].args.push_back({"by", int64_t{1}});
         },
         "argument 'by'"},
        {[&](Module& m) { nodes(m)[2].args[1].value = std::string("x"); },
         "'dim' is of another kind"},
        {[&](Module& m) { nodes(m)[2].args[2].value = ValueRef{0}; },
         "'keepdim' is of another kind"},
        {[&](Module& m) { nodes(m)[0].outputs.clear(); }, "has 0 results, and the schema 1"},
        {[&](Module& m) { nodes(m)[1].outputs = {2}; }, "value 'add' is made twice"},
        {[&](Module& m) { nodes(m)[1].outputs = {0}; }, "made twice"},
        {[&](Module& m) { nodes(m)[1].outputs = {77}; }, "result 77 is not there"},
        {[&](Module& m) { nodes(m)[1].name = "add"; }, "two nodes are called 'add'"},
        {[&](Module& m) { m.root().values[3].name = "x"; }, "two values are called 'x'"},
        {[&](Module& m) { m.root().values[3].name = ""; }, "has no name"},
        {[&](Module& m) { m.root().values[3].producer = 0; }, "renumber is due"},
        {[&](Module& m) { m.root().values[3].role = Role::input; }, "has another role"},
        {[&](Module& m) { m.root().values[1].constant = 5; }, "constant 5 of 'b' is not there"},
        {[&](Module& m) { m.root().values[1].role = Role::input; }, "disagree"},
        {[&](Module& m) { m.root().values[0].type.strides = {1}; }, "other strides than sizes"},
        {[&](Module& m) { m.root().inputs[0].value = 50; }, "input 'x' has no value"},
        {[&](Module& m) { m.root().inputs[0].value = 3; }, "input 'x' has another role"},
        {[&](Module& m) { m.root().inputs.push_back(m.root().inputs[0]); },
         "that is there already"},
        {[&](Module& m) { m.root().outputs[0].target = "stats.var"; },
         "writes 'stats.var', which is no buffer"},
        {[&](Module& m) { m.root().outputs[0].kind = Output::Kind::input_mutation; },
         "which is no input"},
        {[&](Module& m) { m.root().outputs[0].value = None{}; }, "writes no value"},
        {[&](Module& m) { m.root().outputs[1].value = ValueRef{8}; }, "value 8 is not there"},
        {[&](Module& m) { nodes(m)[3].args[1].value = GraphRef{9}; }, "a body that is not there"},
        {[&](Module& m) { nodes(m)[3].args[1].value = GraphRef{2}; },
         "graph 'true_graph': is no node's body"},
        {[&](Module& m) { nodes(m)[3].args[1].value = GraphRef{0}; }, "is a body of itself"},
        {[&](Module& m) { m.graphs.clear(); }, "no graph"},
    };
    for (const Case& c : cases) {
      Module m = sample();
      c.damage(m);
      const Status status = verify(m);
      REQUIRE_FALSE_MESSAGE(status.ok(), c.message);
      CHECK(status.error().code == Code::internal);
      CHECK_MESSAGE(status.error().message.find(c.message) != std::string::npos,
                    status.error().message);
    }
  }

  TEST_CASE("uses are counted in nodes, lists, sizes and outputs") {
    Module m = sample();
    m.root().nodes[2].args[1].value = IntList{{0, 0}, {3}};
    CHECK(count_uses(m.root()) == std::vector<int32_t>{2, 1, 1, 2, 1, 1});
  }

  TEST_CASE("new values get names that are free, also many of one hint") {
    Graph g;
    g.values.resize(1);
    g.values[0].name = "t_2";
    CHECK(g.value(g.add_value("t", {})).name == "t");
    CHECK(g.value(g.add_value("t", {})).name == "t_1");
    CHECK(g.value(g.add_value("t", {})).name == "t_3");
    for (int i = 0; i < 50000; ++i) (void)g.add_value("t", {});
    CHECK(g.values.back().name == "t_50003");
  }

  TEST_CASE("bytes follow upper bounds, and contiguity follows sizes") {
    SymbolTable t;
    const SymInt s0 = t.symbol("s0");
    const SymInt u0 = t.symbol("u0");
    t.info(0).range = {0, 10};
    CHECK(max_bytes(t, {DType::f16, {s0, 3}, {}}) == 60);
    CHECK(max_bytes(t, {DType::c128, {}, {}}) == 16);
    CHECK_FALSE(max_bytes(t, {DType::f32, {s0, u0}, {}}).has_value());
    CHECK_FALSE(max_bytes(t, {DType::f32, {int64_t{1} << 40, int64_t{1} << 40}, {}}).has_value());
    CHECK(is_contiguous(t, {DType::f32, {2, s0}, {}}));
    CHECK(is_contiguous(t, {DType::f32, {2, s0, 3}, {t.mul(s0, 3), 3, 1}}));
    CHECK(is_contiguous(t, {DType::f32, {2, s0}, {t.max(s0, 1), 1}}));
    CHECK(is_contiguous(t, {DType::f32, {1, 3}, {77, 1}}));
    CHECK(is_contiguous(t, {DType::f32, {0, 3}, {5, 7}}));
    CHECK_FALSE(is_contiguous(t, {DType::f32, {2, s0}, {1, 2}}));
    CHECK_FALSE(is_contiguous(t, {DType::f32, {2, 3}, {6, 2}}));
  }
}

}  // namespace backplane
