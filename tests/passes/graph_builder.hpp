// Graphs for the tests of passes, written down node by node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "ops/schema.hpp"

namespace backplane {

// One method whose nodes are appended in order. Result types come from the shape rules; asserts
// that there is one.
class GraphBuilder {
 public:
  GraphBuilder();

  ValueRef input(std::string_view name, DType dtype, std::vector<SymInt> sizes);
  // A constant filled with `bytes` (repeated; zeros if there are none).
  ValueRef constant(std::string_view fqn, DType dtype, std::vector<int64_t> sizes,
                    Role role = Role::constant, std::vector<uint8_t> bytes = {});
  // A node of an operator of the table; the only result, or all.
  ValueRef node(std::string_view op, std::vector<Argument> args,
                std::vector<NamedArgument> by_name = {});
  std::vector<ValueRef> nodes(std::string_view op, std::vector<Argument> args,
                              std::vector<NamedArgument> by_name = {});
  // A node with the result types given: higher-order, symbolic, or without a rule.
  std::vector<ValueRef> raw(std::string_view op, std::vector<NamedArgument> args,
                            std::vector<Value> results);
  void output(ValueRef value);
  // A body with its own inputs and outputs; `f` fills it through this builder.
  template <class F>
  GraphRef body(std::string_view name, F&& f) {
    Graph* const outer = graph_;
    const GraphRef made = begin_body(name);
    f();
    graph_ = outer;
    return made;
  }

  [[nodiscard]] Module take();
  Module& module() { return module_; }
  SymbolTable& symbols() { return module_.symbols; }
  Graph& graph() { return *graph_; }
  const ops::Table& table() { return table_; }

 private:
  GraphRef begin_body(std::string_view name);

  ops::Table table_;
  Module module_;
  Graph* graph_;
};

// A value of a kind that is no tensor.
[[nodiscard]] Value number(ValueKind kind, std::optional<SymInt> expr = std::nullopt);
[[nodiscard]] Value tensor(DType dtype, std::vector<SymInt> sizes);

// The operators of a graph in order, without "aten::": "mul.Tensor add.Tensor".
[[nodiscard]] std::string operators(const Graph& graph);
// How many nodes have this operator, in all graphs.
[[nodiscard]] size_t count(const Module& module, std::string_view op);

}  // namespace backplane
