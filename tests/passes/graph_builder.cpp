#include "graph_builder.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "ops/meta.hpp"
#include "passes/bind.hpp"

namespace backplane {

GraphBuilder::GraphBuilder() {
  module_.graphs.push_back(std::make_unique<Graph>());
  graph_ = module_.graphs[0].get();
  graph_->name = "forward";
}

ValueRef GraphBuilder::input(std::string_view name, DType dtype, std::vector<SymInt> sizes) {
  Value value = tensor(dtype, std::move(sizes));
  value.role = Role::input;
  const ValueId id = graph_->add_value(name, std::move(value));
  graph_->inputs.push_back({id, None{}, std::string(name)});
  return {id};
}

ValueRef GraphBuilder::constant(std::string_view fqn, DType dtype, std::vector<int64_t> sizes,
                                Role role, std::vector<uint8_t> bytes) {
  Constant constant;
  constant.fqn = fqn;
  constant.dtype = dtype;
  constant.sizes = sizes;
  constant.strides.assign(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) {
    constant.strides[d - 1] = constant.strides[d] * std::max<int64_t>(sizes[d], 1);
  }
  constant.is_parameter = role == Role::parameter;
  const std::span<std::byte> memory = module_.buffers.allocate(constant.nbytes());
  for (size_t i = 0; i < memory.size() && !bytes.empty(); ++i) {
    memory[i] = std::byte{bytes[i % bytes.size()]};
  }
  constant.storage = memory;
  module_.constants.push_back(std::move(constant));
  Value value = tensor(dtype, {sizes.begin(), sizes.end()});
  value.role = role;
  value.constant = static_cast<int32_t>(module_.constants.size()) - 1;
  return {graph_->add_value(fqn, std::move(value))};
}

std::vector<ValueRef> GraphBuilder::nodes(std::string_view op, std::vector<Argument> args,
                                          std::vector<NamedArgument> by_name) {
  Node node;
  node.op = op;
  node.schema = table_.find(op);
  assert(node.schema != nullptr);
  for (size_t i = 0; i < args.size(); ++i) {
    node.args.push_back({node.schema->parameters.at(i).name, std::move(args[i])});
  }
  node.args.insert(node.args.end(), by_name.begin(), by_name.end());
  [[maybe_unused]] const Status bound = passes::bind_arguments(node);
  assert(bound.ok());
  auto inferred = ops::infer(module_, *graph_, node);
  assert(inferred.ok());
  return raw(op, std::move(node.args), std::move(inferred).value());
}

ValueRef GraphBuilder::node(std::string_view op, std::vector<Argument> args,
                            std::vector<NamedArgument> by_name) {
  return nodes(op, std::move(args), std::move(by_name)).at(0);
}

std::vector<ValueRef> GraphBuilder::raw(std::string_view op, std::vector<NamedArgument> args,
                                        std::vector<Value> results) {
  Node node;
  node.op = op;
  node.schema = table_.find(op);
  node.name = "n" + std::to_string(graph_->nodes.size());
  node.args = std::move(args);
  std::vector<ValueRef> made;
  for (Value& value : results) {
    node.outputs.push_back(graph_->add_value("v", std::move(value)));
    made.push_back({node.outputs.back()});
  }
  graph_->nodes.push_back(std::move(node));
  return made;
}

void GraphBuilder::output(ValueRef value) {
  graph_->outputs.push_back({Output::Kind::user, value, ""});
}

GraphRef GraphBuilder::begin_body(std::string_view name) {
  const auto index = static_cast<int32_t>(module_.graphs.size());
  module_.graphs.push_back(std::make_unique<Graph>());
  graph_ = module_.graphs.back().get();
  graph_->name = name;
  return {index};
}

Module GraphBuilder::take() {
  for (const std::unique_ptr<Graph>& graph : module_.graphs) graph->renumber();
  return std::move(module_);
}

Value number(ValueKind kind, std::optional<SymInt> expr) {
  Value value;
  value.kind = kind;
  value.has_expr = expr.has_value();
  value.expr = expr.value_or(0);
  return value;
}

Value tensor(DType dtype, std::vector<SymInt> sizes) {
  Value value;
  value.type = {dtype, std::move(sizes), {}};
  return value;
}

std::string operators(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    std::string_view op = node.op;
    if (op.starts_with("aten::")) op.remove_prefix(6);
    text.append(text.empty() ? "" : " ").append(op);
  }
  return text;
}

size_t count(const Module& module, std::string_view op) {
  size_t found = 0;
  for (const std::unique_ptr<Graph>& graph : module.graphs) {
    for (const Node& node : graph->nodes) found += node.op == op ? 1 : 0;
  }
  return found;
}

}  // namespace backplane
