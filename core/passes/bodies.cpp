#include "passes/bodies.hpp"

#include <cstdint>
#include <utility>

namespace backplane::passes {

std::vector<int32_t> bodies_of(const Node& node) {
  std::vector<int32_t> bodies;
  for (const NamedArgument& arg : node.args) {
    if (const auto* body = std::get_if<GraphRef>(&arg.value)) bodies.push_back(body->index);
  }
  return bodies;
}

Result<std::vector<int32_t>> bodies_first(const Module& module) {
  enum class State : uint8_t { fresh, open, done };
  std::vector<State> states(module.graphs.size(), State::fresh);
  std::vector<int32_t> order;
  std::vector<std::pair<int32_t, bool>> todo = {{0, false}};  // graph, whether its bodies are done
  while (!todo.empty()) {
    const auto [index, closing] = todo.back();
    todo.pop_back();
    State& state = states[static_cast<size_t>(index)];
    if (closing) {
      state = State::done;
      order.push_back(index);
      continue;
    }
    if (state == State::done) continue;
    if (state == State::open) {
      return Error{Code::internal, "graph '" + module.graphs[static_cast<size_t>(index)]->name +
                                       "' is its own body"};
    }
    state = State::open;
    todo.emplace_back(index, true);
    for (const Node& node : module.graphs[static_cast<size_t>(index)]->nodes) {
      for (int32_t body : bodies_of(node)) {
        if (states[static_cast<size_t>(body)] != State::done) todo.emplace_back(body, false);
      }
    }
  }
  return order;
}

Status drop_unused_bodies(Module& module) {
  BP_ASSIGN_OR_RETURN(const std::vector<int32_t> used, bodies_first(module));
  if (used.size() == module.graphs.size()) return Ok{};
  std::vector<int32_t> renamed(module.graphs.size(), kNone);
  for (int32_t index : used) renamed[static_cast<size_t>(index)] = 0;
  std::vector<std::unique_ptr<Graph>> kept;
  for (size_t i = 0; i < renamed.size(); ++i) {
    if (renamed[i] == kNone) continue;
    renamed[i] = static_cast<int32_t>(kept.size());
    kept.push_back(std::move(module.graphs[i]));
  }
  module.graphs = std::move(kept);
  for (const std::unique_ptr<Graph>& graph : module.graphs) {
    for (Node& node : graph->nodes) {
      for (NamedArgument& arg : node.args) {
        auto* body = std::get_if<GraphRef>(&arg.value);
        if (body != nullptr) body->index = renamed[static_cast<size_t>(body->index)];
      }
    }
  }
  return Ok{};
}

std::vector<Argument> operands_of(const Node& node) {
  size_t first = 0;
  for (size_t i = 0; i < node.args.size(); ++i) {
    if (std::holds_alternative<GraphRef>(node.args[i].value)) first = i + 1;
  }
  std::vector<Argument> operands;
  for (size_t i = first; i < node.args.size(); ++i) {
    const Argument& argument = node.args[i].value;
    if (!node.args[i].name.empty() || std::holds_alternative<std::string>(argument)) continue;
    if (const auto* list = std::get_if<ValueList>(&argument)) {
      for (ValueId id : list->ids) operands.push_back(id == kNone ? Argument() : ValueRef{id});
    } else if (const auto* ints = std::get_if<IntList>(&argument)) {
      for (const IntElement& e : *ints) {
        operands.push_back(e.is_literal() ? Argument(e.literal) : ValueRef{e.value});
      }
    } else {
      operands.push_back(argument);
    }
  }
  return operands;
}

}  // namespace backplane::passes
