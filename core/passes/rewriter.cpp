#include "passes/rewriter.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "passes/names.hpp"

namespace backplane::passes {

Rewriter::Rewriter(Module& module, Graph& graph, const ops::Table& table)
    : module_(module), graph_(graph), table_(table), old_nodes_(std::move(graph.nodes)) {
  graph_.nodes.clear();
  graph_.nodes.reserve(old_nodes_.size());
  forward_.resize(graph_.values.size());
  for (size_t i = 0; i < forward_.size(); ++i) forward_[i] = static_cast<ValueId>(i);
  for (size_t i = 0; i < forward_.size(); ++i) {
    if (graph_.values[i].constant != kNone) {
      constants_.emplace(graph_.values[i].constant, static_cast<ValueId>(i));
    }
  }
  for (const Input& input : graph_.inputs) {
    if (input.value != kNone) note_sizes(input.value);
  }
  first_fresh_ = graph_.values.size();
}

Status Rewriter::fail(Code code, std::string message) {
  if (!error_) error_ = Error{code, std::move(message)};
  return *error_;
}

Status Rewriter::status() const {
  if (error_) return *error_;
  return Ok{};
}

Status Rewriter::walk(const std::function<Status(Node&)>& visit) {
  for (Node& node : old_nodes_) {
    origin_ = node.origin;
    hint_ = node.name;
    first_fresh_ = graph_.values.size();
    for (NamedArgument& arg : node.args) update(arg.value);
    const size_t before = graph_.nodes.size();
    Status visited = visit(node);
    if (visited.ok()) visited = status();
    if (visited.ok()) continue;
    // A node that was kept is gone from the old list.
    const bool moved = node.op.empty() && graph_.nodes.size() > before;
    const Node& named = moved ? graph_.nodes.back() : node;
    return std::move(visited).error().in(describe(named));
  }
  old_nodes_.clear();
  return status();
}

Status Rewriter::keep(Node&& node) {
  graph_.nodes.push_back(std::move(node));
  for (ValueId id : graph_.nodes.back().outputs) {
    if (id != kNone) note_sizes(id);
  }
  return status();
}

ValueId Rewriter::new_value(std::string_view hint, Value value) {
  return graph_.add_value(hint, std::move(value));
}

ValueRef Rewriter::constant(int32_t index) {
  const auto known = constants_.find(index);
  if (known != constants_.end()) return {known->second};
  const Constant& constant = module_.constants[static_cast<size_t>(index)];
  Value value;
  value.role = constant.is_parameter ? Role::parameter : Role::constant;
  value.constant = index;
  value.type.dtype = constant.dtype;
  value.type.sizes.assign(constant.sizes.begin(), constant.sizes.end());
  if (!constant.is_dense()) {
    value.type.strides.assign(constant.strides.begin(), constant.strides.end());
  }
  const ValueId id = new_value(identifier(constant.fqn), std::move(value));
  constants_.emplace(index, id);
  return {id};
}

void Rewriter::adopt_type(ValueRef value, ValueId old) {
  if (!ok()) return;
  const auto index = static_cast<size_t>(value.id);
  if (value.id < 0 || index >= graph_.values.size()) {
    (void)fail(Code::internal, "replaced by a value that does not exist");
    return;
  }
  const Value& was = graph_.value(old);
  Value& now = graph_.value(value.id);
  if (was.kind != now.kind) {
    (void)fail(Code::internal, "'" + was.name + "' is replaced by a value of another kind");
  } else if (was.kind == ValueKind::tensor) {
    bool same = was.type.dtype == now.type.dtype && was.type.sizes.size() == now.type.sizes.size();
    for (size_t d = 0; same && d < was.type.sizes.size(); ++d) {
      same = symbols().known_eq(was.type.sizes[d], now.type.sizes[d]).value_or(true);
    }
    if (!same) {
      (void)fail(Code::internal, "'" + was.name + "' is " + format(symbols(), was.type) +
                                     ", but what replaces it is " + format(symbols(), now.type));
    }
  }
  if (!ok() || index < first_fresh_ || now.role != Role::intermediate) return;
  now.type = was.type;
  if (was.has_expr) {
    now.has_expr = true;
    now.expr = was.expr;
  }
  note_sizes(value.id);
}

void Rewriter::replace(ValueId old, ValueRef by) {
  if (!ok() || old == kNone) return;
  adopt_type(by, old);
  if (!ok()) return;
  Value& now = graph_.value(by.id);
  const bool is_fresh = static_cast<size_t>(by.id) >= first_fresh_;
  if (is_fresh && now.role == Role::intermediate) std::swap(graph_.value(old).name, now.name);
  forward_[static_cast<size_t>(old)] = by.id;
}

void Rewriter::replace(ValueId old, Argument literal) {
  if (const auto* ref = std::get_if<ValueRef>(&literal)) return replace(old, *ref);
  if (ok() && old != kNone) literals_.insert_or_assign(old, std::move(literal));
}

Argument Rewriter::current(ValueId old) const {
  if (static_cast<size_t>(old) >= forward_.size()) return ValueRef{old};
  const auto literal = literals_.find(old);
  if (literal != literals_.end()) return literal->second;
  return ValueRef{forward_[static_cast<size_t>(old)]};
}

void Rewriter::substitute(Argument& argument, const std::function<Argument(ValueId)>& map) {
  if (const auto* ref = std::get_if<ValueRef>(&argument)) {
    argument = map(ref->id);
  } else if (auto* ints = std::get_if<IntList>(&argument)) {
    for (IntElement& e : *ints) {
      if (e.is_literal()) continue;
      const Argument now = map(e.value);
      if (const auto* literal = std::get_if<int64_t>(&now)) {
        e = {*literal, kNone};
      } else {
        e.value = as_value(now).id;
      }
    }
  } else if (auto* list = std::get_if<ValueList>(&argument)) {
    for (ValueId& id : list->ids) {
      if (id != kNone) id = as_value(map(id)).id;
    }
  }
}

void Rewriter::update(Argument& argument) {
  substitute(argument, [this](ValueId id) { return current(id); });
}

std::vector<Argument> Rewriter::inline_body(const Graph& body, std::span<const Argument> operands) {
  if (operands.size() != body.inputs.size()) {
    (void)fail(Code::invalid_argument,
               "body '" + body.name + "' takes " + std::to_string(body.inputs.size()) +
                   " operands, but is given " + std::to_string(operands.size()));
    return std::vector<Argument>(body.outputs.size());
  }
  std::unordered_map<ValueId, Argument> here;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (body.inputs[i].value != kNone) here.emplace(body.inputs[i].value, operands[i]);
  }
  const auto map = [&](ValueId id) -> Argument {
    const auto known = here.find(id);
    if (known != here.end()) return known->second;
    const Value& value = body.value(id);
    Argument made = value.constant != kNone ? Argument(constant(value.constant))
                                            : Argument(ValueRef{new_value(value.name, value)});
    return here.emplace(id, std::move(made)).first->second;
  };
  for (const Node& node : body.nodes) {
    Node copy = node;
    copy.name.clear();
    for (NamedArgument& arg : copy.args) substitute(arg.value, map);
    for (ValueId& id : copy.outputs) {
      if (id != kNone) id = std::get<ValueRef>(map(id)).id;
    }
    (void)keep(std::move(copy));
  }
  std::vector<Argument> results;
  for (const Output& output : body.outputs) {
    results.push_back(output.value);
    substitute(results.back(), map);
  }
  return results;
}

Status Rewriter::finish() {
  BP_TRY(status());
  for (Output& output : graph_.outputs) update(output.value);
  BP_TRY(status());
  compact();
  name_nodes();
  graph_.renumber();
  return Ok{};
}

void Rewriter::compact() {
  std::vector<ValueId> renamed(graph_.values.size(), kNone);
  const auto use = [&](ValueId id) {
    if (id != kNone) renamed[static_cast<size_t>(id)] = 0;
  };
  std::unordered_set<std::string_view> written;
  for (const Input& input : graph_.inputs) use(input.value);
  for (const Output& output : graph_.outputs) {
    for_each_value(output.value, use);
    if (output.kind == Output::Kind::buffer_mutation) written.insert(output.target);
  }
  for (size_t i = 0; i < graph_.values.size(); ++i) {
    const Value& value = graph_.values[i];
    if (value.role != Role::buffer) continue;
    const Constant& buffer = module_.constants[static_cast<size_t>(value.constant)];
    if (written.contains(buffer.fqn)) use(static_cast<ValueId>(i));
  }
  for (const Node& node : graph_.nodes) {
    for (const NamedArgument& arg : node.args) for_each_value(arg.value, use);
    for (ValueId id : node.outputs) use(id);
  }
  size_t kept = 0;
  for (size_t i = 0; i < renamed.size(); ++i) {
    if (renamed[i] == kNone) continue;
    renamed[i] = static_cast<ValueId>(kept);
    if (kept != i) graph_.values[kept] = std::move(graph_.values[i]);
    ++kept;
  }
  graph_.values.resize(kept);
  const auto rename = [&](ValueId& id) {
    if (id != kNone) id = renamed[static_cast<size_t>(id)];
  };
  for (Input& input : graph_.inputs) rename(input.value);
  for (Output& output : graph_.outputs) for_each_value(output.value, rename);
  for (Node& node : graph_.nodes) {
    for (NamedArgument& arg : node.args) for_each_value(arg.value, rename);
    for (ValueId& id : node.outputs) rename(id);
  }
}

void Rewriter::name_nodes() {
  std::unordered_set<std::string_view> taken;
  std::unordered_map<std::string, size_t> next;
  for (const Node& node : graph_.nodes) {
    if (!node.name.empty()) taken.insert(node.name);
  }
  for (Node& node : graph_.nodes) {
    if (!node.name.empty()) continue;
    const bool has_output = !node.outputs.empty() && node.outputs[0] != kNone;
    const std::string hint =
        has_output ? graph_.value(node.outputs[0]).name : std::string(base_name(node.op));
    node.name = hint;
    size_t& n = next[hint];
    while (taken.contains(node.name)) node.name = hint + "_" + std::to_string(++n);
    taken.insert(node.name);
  }
}

}  // namespace backplane::passes
