#include <algorithm>

#include "graph/graph.hpp"
#include "ops/schema.hpp"

namespace backplane {
namespace {

using ops::Kind;

class Verifier {
 public:
  explicit Verifier(const Module& module) : module_(module) {}
  Status verify();

 private:
  Status verify_graph(const Graph& graph);
  Status verify_values(const Graph& graph);
  Status verify_node(const Graph& graph, const Node& node);
  Status verify_arguments(const Graph& graph, const Node& node);
  Status verify_results(const Graph& graph, const Node& node);
  Status verify_outputs(const Graph& graph);
  Status verify_bodies();
  Status use(const Graph& graph, ValueId id);

  [[nodiscard]] Error fault(std::string message) const {
    std::string text = "graph '" + graph_name_ + "'";
    if (!where_.empty()) text += ", " + where_;
    return {Code::internal, text + ": " + std::move(message)};
  }

  const Module& module_;
  std::string graph_name_;
  std::string where_;                         // the node, once there is one
  std::vector<bool> defined_;                 // values, so far
  std::vector<std::vector<int32_t>> bodies_;  // graphs that each graph's nodes refer to
};

bool in_range(int32_t index, size_t size) {
  return index >= 0 && static_cast<size_t>(index) < size;
}

// Whether a value of the graph can be what the schema says. Numbers stand in for tensors, and the
// other way round nothing does.
bool can_be(Kind kind, ValueKind value) {
  switch (kind) {
    case Kind::tensor:
      return value != ValueKind::object;
    case Kind::scalar:
      return value != ValueKind::tensor && value != ValueKind::object;
    case Kind::integer:
    case Kind::floating:
    case Kind::boolean:
      return value == ValueKind::sym_int || value == ValueKind::sym_bool ||
             value == ValueKind::sym_float;
    case Kind::other:
      return true;
    default:
      return false;
  }
}

template <class T>
bool is(const Argument& argument) {
  return std::holds_alternative<T>(argument);
}

// Whether a literal can be. A list fits where the schema has a list, one element always.
bool is_literal_of(const ops::Parameter& p, const Argument& a) {
  if (is<UnknownArgument>(a)) return true;  // refused where it is used
  const bool is_number =
      is<int64_t>(a) || is<bool>(a) || is<double>(a) || is<std::complex<double>>(a);
  const bool is_no_list = is<ValueList>(a) && std::get<ValueList>(a).ids.empty();  // of any kind
  if (p.list && p.kind != Kind::tensor && is_no_list) return true;
  switch (p.kind) {
    case Kind::tensor:
      return p.list ? is<ValueList>(a) : is_number;
    case Kind::scalar:
      return is_number ||
             (p.list && (is<IntList>(a) || is<ValueList>(a) || is<std::vector<double>>(a)));
    case Kind::integer:
      return is<int64_t>(a) || is<bool>(a) || (p.list && is<IntList>(a));
    case Kind::floating:
      return is<int64_t>(a) || is<bool>(a) || is<double>(a) ||
             (p.list && (is<IntList>(a) || is<std::vector<double>>(a)));
    case Kind::boolean:
      return is<bool>(a) || is<int64_t>(a) || (p.list && is<std::vector<bool>>(a));
    case Kind::string:
      return is<std::string>(a) || (p.list && is<std::vector<std::string>>(a));
    case Kind::dtype:
      return is<DType>(a);
    case Kind::layout:
      return is<Layout>(a);
    case Kind::memory_format:
      return is<MemoryFormat>(a);
    case Kind::device:
      return is<DeviceArg>(a);
    default:
      return true;
  }
}

Status Verifier::use(const Graph& graph, ValueId id) {
  if (!in_range(id, graph.values.size()))
    return fault("value " + std::to_string(id) + " is not there");
  if (!defined_[static_cast<size_t>(id)]) {
    return fault("value '" + graph.value(id).name + "' is used before it is made");
  }
  return Ok{};
}

// Names, constants, and which values are there before the first node.
Status Verifier::verify_values(const Graph& graph) {
  std::unordered_set<std::string_view> names;
  defined_.assign(graph.values.size(), false);
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (value.name.empty()) return fault("value " + std::to_string(i) + " has no name");
    if (!names.insert(value.name).second)
      return fault("two values are called '" + value.name + "'");
    const bool is_constant =
        value.role == Role::parameter || value.role == Role::buffer || value.role == Role::constant;
    if (is_constant != (value.constant != kNone)) {
      return fault("value '" + value.name + "' and its role disagree on its constant");
    }
    if (is_constant && !in_range(value.constant, module_.constants.size())) {
      return fault("constant " + std::to_string(value.constant) + " of '" + value.name +
                   "' is not there");
    }
    if (value.kind == ValueKind::tensor && !value.type.strides.empty() &&
        value.type.strides.size() != value.type.sizes.size()) {
      return fault("value '" + value.name + "' has other strides than sizes");
    }
    defined_[i] = is_constant;
  }
  for (const Input& input : graph.inputs) {
    if (input.value == kNone) continue;
    if (!in_range(input.value, graph.values.size()))
      return fault("input '" + input.name + "' has no value");
    const auto index = static_cast<size_t>(input.value);
    if (defined_[index])
      return fault("input '" + input.name + "' is a value that is there already");
    if (graph.values[index].role != Role::input)
      return fault("input '" + input.name + "' has another role");
    defined_[index] = true;
  }
  return Ok{};
}

Status Verifier::verify_arguments(const Graph& graph, const Node& node) {
  const std::vector<ops::Parameter>& parameters = node.schema->parameters;
  size_t next = 0;
  for (const NamedArgument& arg : node.args) {
    const size_t from = next;
    while (next < parameters.size() && parameters[next].name != arg.name) {
      if (!parameters[next].default_value && !parameters[next].optional) break;
      ++next;
    }
    if (next == parameters.size() || parameters[next].name != arg.name) {
      const std::string expected = from < parameters.size() ? parameters[from].name : "no more";
      return fault("argument '" + std::string(arg.name) + "' where '" + expected + "' is next");
    }
    const ops::Parameter& parameter = parameters[next++];
    bool fits = true;
    if (const auto* ref = std::get_if<ValueRef>(&arg.value)) {
      fits = can_be(parameter.kind, graph.value(ref->id).kind);
    } else if (std::holds_alternative<None>(arg.value)) {
      fits = parameter.optional || parameter.kind == Kind::other ||
             parameter.kind == Kind::tensor || parameter.kind == Kind::generator;
    } else {
      fits = is_literal_of(parameter, arg.value);
    }
    if (!fits)
      return fault("argument '" + parameter.name + "' is of another kind than the schema's");
  }
  for (; next < parameters.size(); ++next) {
    if (!parameters[next].default_value && !parameters[next].optional && !parameters[next].is_out) {
      return fault("argument '" + parameters[next].name + "' is missing");
    }
  }
  return Ok{};
}

Status Verifier::verify_results(const Graph& graph, const Node& node) {
  for (const ValueId id : node.outputs) {
    if (id == kNone) continue;
    if (!in_range(id, graph.values.size()))
      return fault("result " + std::to_string(id) + " is not there");
    if (defined_[static_cast<size_t>(id)]) {
      return fault("value '" + graph.value(id).name + "' is made twice");
    }
    if (graph.value(id).role != Role::intermediate) {
      return fault("value '" + graph.value(id).name + "' is made by a node but has another role");
    }
    defined_[static_cast<size_t>(id)] = true;
  }
  if (node.schema == nullptr) return Ok{};
  const std::vector<ops::Return>& returns = node.schema->returns;
  const auto lists = static_cast<size_t>(
      std::count_if(returns.begin(), returns.end(), [](const ops::Return& r) { return r.list; }));
  const size_t singles = returns.size() - lists;
  if (node.outputs.size() < singles || (lists == 0 && node.outputs.size() != singles)) {
    return fault("has " + std::to_string(node.outputs.size()) + " results, and the schema " +
                 std::to_string(singles));
  }
  for (size_t i = 0; lists == 0 && i < singles; ++i) {
    const ValueId id = node.outputs[i];
    const bool is_tensor = id != kNone && graph.value(id).kind == ValueKind::tensor;
    if (id != kNone && is_tensor != (returns[i].kind == Kind::tensor)) {
      return fault("result '" + graph.value(id).name + "' is of another kind than the schema's");
    }
  }
  return Ok{};
}

Status Verifier::verify_node(const Graph& graph, const Node& node) {
  where_ = describe(node);
  Status used = Ok{};
  for (const NamedArgument& arg : node.args) {
    for_each_value(arg.value, [&](ValueId id) {
      if (used.ok()) used = use(graph, id);
    });
    if (const auto* ref = std::get_if<GraphRef>(&arg.value)) {
      if (!in_range(ref->index, module_.graphs.size())) return fault("a body that is not there");
      bodies_.back().push_back(ref->index);
    }
  }
  BP_TRY(std::move(used));
  if (node.schema != nullptr) BP_TRY(verify_arguments(graph, node));
  return verify_results(graph, node);
}

Status Verifier::verify_outputs(const Graph& graph) {
  std::unordered_set<std::string_view> inputs;
  std::unordered_set<std::string_view> buffers;
  for (const Input& input : graph.inputs) inputs.insert(input.name);
  for (const Value& value : graph.values) {
    if (value.role == Role::buffer)
      buffers.insert(module_.constants[static_cast<size_t>(value.constant)].fqn);
  }
  for (const Output& output : graph.outputs) {
    Status used = Ok{};
    for_each_value(output.value, [&](ValueId id) {
      if (used.ok()) used = use(graph, id);
    });
    BP_TRY(std::move(used));
    if (output.kind == Output::Kind::user) continue;
    const bool to_buffer = output.kind == Output::Kind::buffer_mutation;
    if (!(to_buffer ? buffers : inputs).contains(output.target)) {
      return fault("writes '" + output.target + "', which is no " +
                   (to_buffer ? "buffer" : "input"));
    }
    if (!std::holds_alternative<ValueRef>(output.value))
      return fault("writes no value to '" + output.target + "'");
  }
  return Ok{};
}

Status Verifier::verify_graph(const Graph& graph) {
  graph_name_ = graph.name;
  where_.clear();
  bodies_.emplace_back();
  BP_TRY(verify_values(graph));
  std::unordered_set<std::string_view> names;
  for (const Node& node : graph.nodes) {
    BP_TRY(verify_node(graph, node));
    for (const ValueId id : node.outputs) {
      const auto index = static_cast<NodeId>(&node - graph.nodes.data());
      if (id != kNone && graph.value(id).producer != index) {
        return fault("value '" + graph.value(id).name + "' has another producer: renumber is due");
      }
    }
    if (!names.insert(node.name).second) return fault("two nodes are called '" + node.name + "'");
  }
  where_.clear();
  return verify_outputs(graph);
}

// Every body is used, and none within itself: from the method, each is reached and left once.
Status Verifier::verify_bodies() {
  enum class State : uint8_t { unseen, open, done };
  std::vector<State> states(module_.graphs.size(), State::unseen);
  std::vector<std::pair<int32_t, size_t>> path = {{0, 0}};  // graph, next of its bodies
  states[0] = State::open;
  while (!path.empty()) {
    auto& [graph, next] = path.back();
    const std::vector<int32_t>& bodies = bodies_[static_cast<size_t>(graph)];
    if (next == bodies.size()) {
      states[static_cast<size_t>(graph)] = State::done;
      path.pop_back();
      continue;
    }
    const int32_t body = bodies[next++];
    State& state = states[static_cast<size_t>(body)];
    graph_name_ = module_.graphs[static_cast<size_t>(body)]->name;
    if (state == State::open) return fault("is a body of itself");
    if (state == State::unseen) {
      state = State::open;
      path.emplace_back(body, 0);
    }
  }
  for (size_t i = 0; i < states.size(); ++i) {
    graph_name_ = module_.graphs[i]->name;
    if (states[i] == State::unseen) return fault("is no node's body");
  }
  return Ok{};
}

Status Verifier::verify() {
  if (module_.graphs.empty()) return Error{Code::internal, "the module has no graph"};
  for (const auto& graph : module_.graphs) BP_TRY(verify_graph(*graph));
  where_.clear();
  return verify_bodies();
}

}  // namespace

Status verify(const Module& module) {
  return Verifier(module).verify();
}

}  // namespace backplane
