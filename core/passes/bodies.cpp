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
