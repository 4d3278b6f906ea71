// One pass over a graph's JSON, in whatever order its fields come.
#include "reader/graph_reader.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "reader/argument_reader.hpp"
#include "reader/origin.hpp"
#include "reader/serialized.hpp"
#include "reader/tensor_meta.hpp"

namespace backplane {

using JsonValue = json::Value;

namespace {

constexpr int32_t kMaxDepth = 32;

class GraphReader {
 public:
  explicit GraphReader(GraphScope& scope) : scope_(scope), strings_(scope.context.module.strings) {}

  Status read(JsonValue& object);

 private:
  Status read_field(std::string_view key, JsonValue& value);
  Status read_arguments(JsonValue& array, std::vector<Argument>& out);
  Status read_node(JsonValue& object);
  Status read_input(JsonValue& object, Node& node);
  Status read_output(JsonValue& object, Node& node);
  Status read_metadata(JsonValue& object, Node& node);
  Status read_tensor_types(JsonValue& object);
  Status read_sym_ints(JsonValue& object);
  void name_node(Node& node);

  GraphScope& scope_;
  StringPool& strings_;
  std::unordered_set<std::string> node_names_;
  std::unordered_map<std::string, int64_t> suffixes_;  // last one tried, by name
};

Status GraphReader::read(JsonValue& object) {
  BP_TRY(json::for_each_field(
      object, [&](std::string_view key, JsonValue& value) { return read_field(key, value); }));
  for (const Argument& input : scope_.inputs) {
    if (const auto* ref = std::get_if<ValueRef>(&input)) {
      BP_TRY(scope_.define(ref->id, GraphScope::kByInput));
    }
  }
  return Ok{};
}

Status GraphReader::read_field(std::string_view key, JsonValue& value) {
  if (key == "inputs") return read_arguments(value, scope_.inputs);
  if (key == "outputs") return read_arguments(value, scope_.outputs);
  if (key == "tensor_values") return read_tensor_types(value);
  if (key == "sym_int_values") return read_sym_ints(value);
  if (key != "nodes") return Ok{};
  return json::for_each_element(value, [&](JsonValue& node) -> Status {
    Status status = read_node(node);
    if (status.ok()) return status;
    return std::move(status).error().in("node " + std::to_string(scope_.graph->nodes.size()));
  });
}

Status GraphReader::read_arguments(JsonValue& array, std::vector<Argument>& out) {
  return json::for_each_element(array, [&](JsonValue& element) -> Status {
    BP_ASSIGN_OR_RETURN(Argument argument, read_argument(element, scope_));
    out.push_back(std::move(argument));
    return Ok{};
  });
}

Status GraphReader::read_node(JsonValue& object) {
  Node node;
  BP_TRY(json::for_each_field(object, [&](std::string_view key, JsonValue& value) -> Status {
    if (key == "target") {
      BP_ASSIGN_OR_RETURN(const std::string_view target, json::read_text(value, strings_));
      node.op = op_from_target(target);
    } else if (key == "name" && !json::is_null(value)) {
      BP_ASSIGN_OR_RETURN(node.name, json::read_text(value, strings_));
    } else if (key == "inputs") {
      return json::for_each_element(value,
                                    [&](JsonValue& input) { return read_input(input, node); });
    } else if (key == "outputs") {
      return json::for_each_element(value,
                                    [&](JsonValue& output) { return read_output(output, node); });
    } else if (key == "metadata") {
      return read_metadata(value, node);
    }
    return Ok{};
  }));
  if (node.op.empty()) return json::malformed("it has no target");
  name_node(node);
  scope_.graph->nodes.push_back(std::move(node));
  return Ok{};
}

Status GraphReader::read_input(JsonValue& object, Node& node) {
  NamedArgument argument;
  BP_TRY(json::for_each_field(object, [&](std::string_view key, JsonValue& value) -> Status {
    if (key == "name") {
      BP_ASSIGN_OR_RETURN(const std::string_view name, json::read_text(value, strings_));
      argument.name = strings_.intern(name);
    } else if (key == "arg") {
      BP_ASSIGN_OR_RETURN(argument.value, read_argument(value, scope_));
    }
    return Ok{};
  }));
  node.args.push_back(std::move(argument));
  return Ok{};
}

Status GraphReader::read_output(JsonValue& object, Node& node) {
  BP_ASSIGN_OR_RETURN(const Argument argument, read_argument(object, scope_));
  const size_t first = node.outputs.size();
  if (const auto* ref = std::get_if<ValueRef>(&argument)) {
    node.outputs.push_back(ref->id);
  } else if (const auto* list = std::get_if<ValueList>(&argument)) {
    node.outputs.insert(node.outputs.end(), list->ids.begin(), list->ids.end());
  } else {
    node.outputs.push_back(kNone);
  }
  const auto index = static_cast<int32_t>(scope_.graph->nodes.size());
  for (size_t i = first; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNone) BP_TRY(scope_.define(node.outputs[i], index));
  }
  return Ok{};
}

Status GraphReader::read_metadata(JsonValue& object, Node& node) {
  return json::for_each_field(object, [&](std::string_view key, JsonValue& value) -> Status {
    if (key != "stack_trace" && key != "nn_module_stack") return Ok{};
    BP_ASSIGN_OR_RETURN(const std::string_view text, json::read_escaped(value));
    if (key == "stack_trace") node.origin.source = strings_.intern(innermost_source(text));
    if (key == "nn_module_stack") node.origin.module_path = strings_.intern(innermost_module(text));
    return Ok{};
  });
}

// Files before schema 8.17 don't name nodes; there the first result has the node's name.
void GraphReader::name_node(Node& node) {
  if (node.name.empty()) {
    const auto named = std::find_if(node.outputs.begin(), node.outputs.end(),
                                    [](ValueId id) { return id != kNone; });
    if (named != node.outputs.end()) {
      node.name = scope_.graph->value(*named).name;
    } else {
      const size_t colons = node.op.find("::");
      const std::string tail = colons == std::string::npos ? node.op : node.op.substr(colons + 2);
      node.name = tail.substr(0, tail.find('.'));
    }
  }
  if (node_names_.insert(node.name).second) return;
  const std::string base = node.name;
  for (int64_t& suffix = suffixes_[base]; !node_names_.insert(node.name).second;) {
    node.name = base + "_" + std::to_string(++suffix);
  }
}

Status GraphReader::read_tensor_types(JsonValue& object) {
  return json::for_each_field(object, [&](std::string_view key, JsonValue& value) -> Status {
    BP_ASSIGN_OR_RETURN(const std::string name, json::unescape(key));
    Result<TensorMeta> meta = read_tensor_meta(value, scope_.context);
    if (!meta.ok()) return std::move(meta).error().in("value '" + name + "'");
    const ValueId id = scope_.mention(strings_.intern(name), ValueKind::tensor);
    GraphScope::State& state = scope_.state(id);
    if (state.typed) return json::malformed("value '" + name + "' has two types");
    state.typed = true;
    if (state.fault.empty()) state.fault = std::move(meta->fault);
    scope_.graph->value(id).type = std::move(meta->type);
    return Ok{};
  });
}

Status GraphReader::read_sym_ints(JsonValue& object) {
  return json::for_each_field(object, [&](std::string_view key, JsonValue& field) -> Status {
    BP_ASSIGN_OR_RETURN(const std::string name, json::unescape(key));
    BP_ASSIGN_OR_RETURN(const SymInt expr, read_sym_int(field, scope_.context));
    Value& value = scope_.graph->value(scope_.mention(strings_.intern(name), ValueKind::sym_int));
    value.expr = expr;
    value.has_expr = true;
    return Ok{};
  });
}

}  // namespace

Status read_graph(JsonValue& object, GraphScope& scope) {
  if (scope.depth > kMaxDepth) return json::malformed("graphs are nested too deep");
  return GraphReader(scope).read(object);
}

Result<int32_t> read_body_graph(JsonValue& object, ReadContext& context, int32_t depth) {
  std::vector<std::unique_ptr<Graph>>& graphs = context.module.graphs;
  const auto index = static_cast<int32_t>(graphs.size());
  graphs.emplace_back();
  GraphScope scope(context, depth);
  BP_TRY(read_graph(object, scope));
  BP_TRY(close_scope(scope));
  finish_body(scope);
  graphs[static_cast<size_t>(index)] = std::move(scope.graph);
  return index;
}

}  // namespace backplane
