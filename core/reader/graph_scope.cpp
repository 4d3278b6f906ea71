#include "reader/graph_scope.hpp"

#include <optional>
#include <utility>

namespace backplane {
namespace {

std::string_view name_of_kind(ValueKind kind) {
  switch (kind) {
    case ValueKind::tensor:
      return "a tensor";
    case ValueKind::sym_int:
      return "an integer";
    case ValueKind::sym_float:
      return "a float";
    case ValueKind::sym_bool:
      return "a truth value";
    case ValueKind::object:
      return "an object";
  }
  return "";
}

// The first value in `argument` that `f` is true of.
template <class F>
std::optional<ValueId> find_value(const Argument& argument, F f) {
  std::optional<ValueId> found;
  for_each_value(argument, [&](ValueId id) {
    if (!found && f(id)) found = id;
  });
  return found;
}

Status check_use(const GraphScope& scope, const Argument& argument, int32_t user,
                 const std::string& user_name) {
  const auto bad = find_value(argument, [&](ValueId id) {
    const int32_t defined = scope.states[static_cast<size_t>(id)].defined;
    return defined == GraphScope::kUndefined || defined >= user;
  });
  if (!bad) return Ok{};
  const bool late = scope.states[static_cast<size_t>(*bad)].defined != GraphScope::kUndefined;
  return Error{Code::invalid_argument, user_name + " uses '" + scope.graph->value(*bad).name +
                                           "', which " +
                                           (late ? "is made only later" : "nothing makes")};
}

Status check_order(const GraphScope& scope) {
  const std::vector<Node>& nodes = scope.graph->nodes;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const NamedArgument& arg : nodes[i].args) {
      BP_TRY(check_use(scope, arg.value, static_cast<int32_t>(i), describe(nodes[i])));
    }
  }
  for (const Argument& output : scope.outputs) {
    BP_TRY(check_use(scope, output, static_cast<int32_t>(nodes.size()), "the graph's output"));
  }
  return Ok{};
}

void find_faults(GraphScope& scope) {
  for (size_t i = 0; i < scope.states.size(); ++i) {
    GraphScope::State& state = scope.states[i];
    if (state.fault.empty() && scope.graph->values[i].kind == ValueKind::tensor && !state.typed) {
      state.fault = "has no type in the file";
    }
  }
}

// Takes the unusable values out of `argument`.
void replace_faulty(const GraphScope& scope, Argument& argument) {
  const auto faulty = find_value(
      argument, [&](ValueId id) { return !scope.states[static_cast<size_t>(id)].fault.empty(); });
  if (!faulty) return;
  argument = UnknownArgument{"'" + scope.graph->value(*faulty).name + "', which " +
                             scope.states[static_cast<size_t>(*faulty)].fault};
}

// Calls `f` for every argument: of nodes, inputs and outputs.
template <class F>
void for_each_argument(GraphScope& scope, F f) {
  for (Node& node : scope.graph->nodes) {
    for (NamedArgument& arg : node.args) f(arg.value);
  }
  for (Argument& input : scope.inputs) f(input);
  for (Argument& output : scope.outputs) f(output);
}

void remove_unusable(GraphScope& scope) {
  std::vector<ValueId> new_ids(scope.states.size(), kNone);
  std::vector<Value> kept;
  for (size_t i = 0; i < scope.states.size(); ++i) {
    const GraphScope::State& state = scope.states[i];
    if (!state.fault.empty() || state.defined == GraphScope::kUndefined) continue;
    new_ids[i] = static_cast<ValueId>(kept.size());
    kept.push_back(std::move(scope.graph->values[i]));
  }
  scope.graph->values = std::move(kept);
  const auto renumber = [&](ValueId& id) { id = new_ids[static_cast<size_t>(id)]; };
  for_each_argument(scope, [&](Argument& argument) { for_each_value(argument, renumber); });
  for (Node& node : scope.graph->nodes) {
    for (ValueId& id : node.outputs) {
      if (id != kNone) renumber(id);
    }
  }
  scope.states.clear();
  scope.ids.clear();
}

}  // namespace

ValueId GraphScope::mention(std::string_view name, ValueKind kind) {
  const auto [found, is_new] = ids.try_emplace(name, static_cast<ValueId>(states.size()));
  const ValueId id = found->second;
  if (is_new) {
    graph->values.push_back({.name = std::string(name), .kind = kind});
    states.emplace_back();
  } else if (graph->value(id).kind != kind && state(id).fault.empty()) {
    state(id).fault = "is " + std::string(name_of_kind(graph->value(id).kind)) +
                      " in one place and " + std::string(name_of_kind(kind)) + " in another";
  }
  return id;
}

Status GraphScope::define(ValueId id, int32_t node) {
  if (state(id).defined != kUndefined) {
    return Error{Code::invalid_argument, "value '" + graph->value(id).name + "' is made twice"};
  }
  state(id).defined = node;
  return Ok{};
}

Status close_scope(GraphScope& scope) {
  BP_TRY(check_order(scope));
  find_faults(scope);
  for_each_argument(scope, [&](Argument& argument) { replace_faulty(scope, argument); });
  remove_unusable(scope);
  scope.graph->renumber();
  return Ok{};
}

void finish_body(GraphScope& scope) {
  for (Argument& argument : scope.inputs) {
    Input input;
    if (const auto* ref = std::get_if<ValueRef>(&argument)) {
      Value& value = scope.graph->value(ref->id);
      value.role = Role::input;
      input.value = ref->id;
      input.name = value.name;
    } else {
      input.literal = std::move(argument);
    }
    scope.graph->inputs.push_back(std::move(input));
  }
  for (Argument& argument : scope.outputs) {
    scope.graph->outputs.push_back({.kind = Output::Kind::user, .value = std::move(argument)});
  }
}

}  // namespace backplane
