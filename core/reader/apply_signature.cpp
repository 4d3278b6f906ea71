// A signature applied to a graph: weights become constants, the rest inputs and outputs.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "reader/signature.hpp"

namespace backplane {
namespace {

using InputKind = InputSpec::Kind;
using OutputKind = OutputSpec::Kind;

Error disagree(std::string what) {
  return {Code::invalid_argument, "signature and graph disagree: " + std::move(what)};
}

Role role_of(InputKind kind) {
  switch (kind) {
    case InputKind::parameter:
      return Role::parameter;
    case InputKind::buffer:
      return Role::buffer;
    case InputKind::constant:
      return Role::constant;
    case InputKind::user:
    case InputKind::other:
      break;
  }
  return Role::input;
}

std::string_view noun(InputKind kind) {
  switch (kind) {
    case InputKind::parameter:
      return "parameter";
    case InputKind::buffer:
      return "buffer";
    default:
      return "constant";
  }
}

class Applier {
 public:
  Applier(GraphScope& scope, const Signature& signature, ModelPayloads& payloads)
      : scope_(scope), signature_(signature), payloads_(payloads) {}

  Status run();

 private:
  Status check_counts() const;
  void find_used();
  Status bind(size_t index);
  Result<int32_t> constant(const InputSpec& spec);
  Status check_type(ValueId id, const Constant& constant) const;
  Status set_roles();
  Status add_output(const OutputSpec& spec, Argument&& value);
  bool make_buffer(const std::string& fqn);
  [[nodiscard]] bool is_input(const std::string& name) const;

  [[nodiscard]] const ValueRef* input(size_t index) const {
    return std::get_if<ValueRef>(&scope_.inputs[index]);
  }

  GraphScope& scope_;
  const Signature& signature_;
  ModelPayloads& payloads_;
  std::vector<bool> used_;                            // by ValueId
  std::vector<std::string> names_;                    // of inputs
  std::unordered_map<std::string, int32_t> indices_;  // of constants, by FQN
};

Status Applier::run() {
  BP_TRY(check_counts());
  find_used();
  for (size_t i = 0; i < signature_.inputs.size(); ++i) {
    const ValueRef* ref = input(i);
    const std::string& given = signature_.inputs[i].name;
    names_.push_back(ref == nullptr ? given : scope_.graph->value(ref->id).name);
    if (signature_.inputs[i].kind != InputKind::user) BP_TRY(bind(i));
  }
  BP_TRY(close_scope(scope_));
  return set_roles();
}

Status Applier::check_counts() const {
  const auto check = [](std::string_view what, size_t in_signature, size_t in_graph) -> Status {
    if (in_signature == in_graph) return Ok{};
    return disagree(std::to_string(in_signature) + " and " + std::to_string(in_graph) + " " +
                    std::string(what));
  };
  BP_TRY(check("inputs", signature_.inputs.size(), scope_.inputs.size()));
  return check("outputs", signature_.outputs.size(), scope_.outputs.size());
}

void Applier::find_used() {
  used_.assign(scope_.states.size(), false);
  const auto use = [&](ValueId id) { used_[static_cast<size_t>(id)] = true; };
  for (const Node& node : scope_.graph->nodes) {
    for (const NamedArgument& arg : node.args) for_each_value(arg.value, use);
  }
  for (const Argument& output : scope_.outputs) for_each_value(output, use);
}

// Finds what stands behind an input that is not the user's.
Status Applier::bind(size_t index) {
  const InputSpec& spec = signature_.inputs[index];
  const ValueRef* ref = input(index);
  if (spec.kind == InputKind::other) {
    if (ref != nullptr) scope_.state(ref->id).fault = "is an object or a token";
    return Ok{};
  }
  const std::string what = std::string(noun(spec.kind)) + " '" + spec.target + "'";
  if (ref == nullptr || scope_.graph->value(ref->id).name != spec.name) {
    return disagree(what + " is not input " + std::to_string(index));
  }
  Result<int32_t> found = constant(spec);
  Value& value = scope_.graph->value(ref->id);
  if (!found.ok()) {
    if (used_[static_cast<size_t>(ref->id)]) return std::move(found).error().in(what);
    scope_.state(ref->id).fault = "has no data";
    return Ok{};
  }
  const Constant& constant = scope_.context.module.constants[static_cast<size_t>(*found)];
  Status same = check_type(ref->id, constant);
  if (!same.ok()) return std::move(same).error().in(what);
  value.role = role_of(spec.kind);
  value.constant = *found;
  value.type = {.dtype = constant.dtype,
                .sizes = {constant.sizes.begin(), constant.sizes.end()},
                .strides = {constant.strides.begin(), constant.strides.end()}};
  scope_.state(ref->id).typed = true;
  return Ok{};
}

Result<int32_t> Applier::constant(const InputSpec& spec) {
  if (const auto known = indices_.find(spec.target); known != indices_.end()) return known->second;
  const bool in_weights =
      spec.kind == InputKind::parameter || (spec.kind == InputKind::buffer && spec.persistent);
  Payloads& first = in_weights ? payloads_.weights : payloads_.constants;
  Payloads& second = in_weights ? payloads_.constants : payloads_.weights;
  Payloads& source = !first.contains(spec.target) && second.contains(spec.target) ? second : first;
  BP_ASSIGN_OR_RETURN(Constant constant, source.find(spec.target));
  constant.is_parameter = spec.kind == InputKind::parameter;
  constant.persistent = in_weights;
  std::vector<Constant>& constants = scope_.context.module.constants;
  const auto index = static_cast<int32_t>(constants.size());
  constants.push_back(std::move(constant));
  indices_.emplace(spec.target, index);
  return index;
}

Status Applier::check_type(ValueId id, const Constant& constant) const {
  const Value& value = scope_.graph->value(id);
  if (!scope_.states[static_cast<size_t>(id)].typed) return Ok{};
  const bool same_sizes =
      std::equal(value.type.sizes.begin(), value.type.sizes.end(), constant.sizes.begin(),
                 constant.sizes.end(), [](SymInt a, int64_t b) { return a == SymInt(b); });
  if (same_sizes && value.type.dtype == constant.dtype) return Ok{};
  return disagree("its data is of another type or shape than the graph says");
}

Status Applier::set_roles() {
  Graph& graph = *scope_.graph;
  for (size_t i = 0; i < signature_.inputs.size(); ++i) {
    if (signature_.inputs[i].kind != InputKind::user) continue;
    Input input{.name = names_[i]};
    if (const auto* ref = std::get_if<ValueRef>(&scope_.inputs[i])) {
      graph.value(ref->id).role = Role::input;
      input.value = ref->id;
    } else {
      input.literal = std::move(scope_.inputs[i]);
    }
    graph.inputs.push_back(std::move(input));
  }
  for (size_t i = 0; i < signature_.outputs.size(); ++i) {
    BP_TRY(add_output(signature_.outputs[i], std::move(scope_.outputs[i])));
  }
  return Ok{};
}

Status Applier::add_output(const OutputSpec& spec, Argument&& value) {
  Graph& graph = *scope_.graph;
  Output output{.value = std::move(value), .target = spec.target};
  switch (spec.kind) {
    case OutputKind::token:
      return Ok{};
    case OutputKind::gradient:
      return Error{Code::unsupported, "a program that gives gradients; export it for inference"};
    case OutputKind::user:
      graph.outputs.push_back(std::move(output));
      return Ok{};
    case OutputKind::buffer_mutation:
      output.kind = Output::Kind::buffer_mutation;
      break;
    case OutputKind::input_mutation:
      output.kind = Output::Kind::input_mutation;
      break;
  }
  const bool to_buffer = spec.kind == OutputKind::buffer_mutation;
  if (to_buffer ? !make_buffer(spec.target) : !is_input(spec.target)) {
    return disagree("'" + spec.target + "' is written, but is no " +
                    (to_buffer ? "buffer that can be read" : "input"));
  }
  if (!std::holds_alternative<ValueRef>(output.value)) {
    const auto* unknown = std::get_if<UnknownArgument>(&output.value);
    return Error{Code::unsupported, "what is written to '" + spec.target + "' is " +
                                        (unknown == nullptr ? "no tensor" : unknown->tag)};
  }
  graph.outputs.push_back(std::move(output));
  return Ok{};
}

// Marks the values of a constant that is written. False: there are none.
bool Applier::make_buffer(const std::string& fqn) {
  const auto constant = indices_.find(fqn);
  if (constant == indices_.end()) return false;
  bool found = false;
  for (Value& value : scope_.graph->values) {
    if (value.constant != constant->second) continue;
    value.role = Role::buffer;
    found = true;
  }
  return found;
}

bool Applier::is_input(const std::string& name) const {
  const std::vector<Input>& inputs = scope_.graph->inputs;
  return std::any_of(inputs.begin(), inputs.end(),
                     [&](const Input& input) { return input.name == name; });
}

}  // namespace

Status apply_signature(GraphScope& scope, const Signature& signature, ModelPayloads& payloads) {
  return Applier(scope, signature, payloads).run();
}

}  // namespace backplane
