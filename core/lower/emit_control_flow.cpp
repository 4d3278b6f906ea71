// Control flow as jumps. A body's values are emitted in place; what a loop carries lies in tensors
// of its own, which each round overwrites at its end.
#include <algorithm>
#include <set>

#include "lower/emitter.hpp"

namespace backplane::lower {

// scan, map and associative_scan are one loop: `init` is carried, rows of `xs` are read one a
// round, results after the carried ones are stacked.
struct Scan {
  int32_t body;
  std::vector<ValueIndex> init;
  std::vector<ValueIndex> xs;
  std::vector<TensorType> x_types;
  std::vector<ValueIndex> additional;
};

namespace {

Result<int32_t> body_of(const Node& node, size_t position) {
  if (position < node.args.size()) {
    if (const auto* ref = std::get_if<GraphRef>(&node.args[position].value)) return ref->index;
  }
  return Error{Code::invalid_argument,
               describe(node) + ": argument " + std::to_string(position) + " is not a body"};
}

const Argument& arg(const Node& node, size_t position) {
  return position < node.args.size() ? node.args[position].value : kNoArgument;
}

}  // namespace

Status Emitter::control_flow(int32_t g, const Node& node) {
  if (node.op == "higher_order::cond") return cond(g, node);
  if (node.op == "higher_order::while_loop") return while_loop(g, node);
  if (node.op == "higher_order::scan" || node.op == "higher_order::map_impl") return scan(g, node);
  return Error{Code::unsupported, describe(node) + ": this control flow is not supported"};
}

Result<std::vector<ValueIndex>> Emitter::operands(int32_t g, const Argument& list) {
  std::vector<ValueIndex> indices;
  if (const auto* values = std::get_if<ValueList>(&list)) {
    for (const ValueId id : values->ids)
      indices.push_back(id == kNone ? builder_.none() : index_of(g, id));
  } else if (const auto* ints = std::get_if<IntList>(&list)) {
    for (const IntElement& e : *ints) {
      indices.push_back(e.is_literal() ? builder_.integer(e.literal) : index_of(g, e.value));
    }
  } else if (!std::holds_alternative<None>(list)) {
    BP_ASSIGN_OR_RETURN(const ValueIndex index, argument(g, list));
    indices.push_back(index);
  }
  return indices;
}

Result<std::vector<ValueIndex>> Emitter::body(int32_t body, std::span<const ValueIndex> inputs) {
  const Graph& graph_of_body = *in_.module.graphs[static_cast<size_t>(body)];
  if (inputs.size() != graph_of_body.inputs.size()) {
    return Error{Code::invalid_argument, "body '" + graph_of_body.name + "' takes " +
                                             std::to_string(graph_of_body.inputs.size()) +
                                             " values but is given " +
                                             std::to_string(inputs.size())};
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (graph_of_body.inputs[i].value != kNone)
      bind(body, graph_of_body.inputs[i].value, inputs[i]);
  }
  BP_TRY(graph(body));
  std::vector<ValueIndex> results;
  for (const Output& output : graph_of_body.outputs) {
    BP_ASSIGN_OR_RETURN(const ValueIndex index, argument(body, output.value));
    results.push_back(index);
  }
  return results;
}

Status Emitter::branch(int32_t g, const Node& node, int32_t body_index,
                       const std::vector<ValueIndex>& inputs) {
  const Graph& source = *in_.module.graphs[static_cast<size_t>(body_index)];
  std::vector<ValueIndex> to;
  for (const ValueId id : node.outputs) to.push_back(id == kNone ? -1 : index_of(g, id));
  // A result that the body makes itself is made where it is wanted.
  std::set<ValueId> seen;
  for (size_t i = 0; i < std::min(to.size(), source.outputs.size()); ++i) {
    const auto* ref = std::get_if<ValueRef>(&source.outputs[i].value);
    if (ref == nullptr || to[i] < 0 || !seen.insert(ref->id).second) continue;
    const Value& value = source.value(ref->id);
    if (value.producer != kNone && value.kind == ValueKind::tensor)
      bind(body_index, ref->id, to[i]);
  }
  BP_ASSIGN_OR_RETURN(const auto results, body(body_index, inputs));
  for (size_t i = 0; i < std::min(to.size(), results.size()); ++i) {
    if (to[i] >= 0 && results[i] != to[i]) clone_into(results[i], to[i]);
  }
  return Ok{};
}

Status Emitter::cond(int32_t g, const Node& node) {
  BP_ASSIGN_OR_RETURN(const int32_t if_true, body_of(node, 1));
  BP_ASSIGN_OR_RETURN(const int32_t if_false, body_of(node, 2));
  BP_ASSIGN_OR_RETURN(const ValueIndex predicate, argument(g, arg(node, 0)));
  BP_ASSIGN_OR_RETURN(const auto inputs, operands(g, arg(node, 3)));
  const int32_t to_false = builder_.jump_if_false(predicate);
  BP_TRY(branch(g, node, if_true, inputs));
  const int32_t to_end = builder_.jump();
  builder_.land(to_false);
  BP_TRY(branch(g, node, if_false, inputs));
  builder_.land(to_end);
  return Ok{};
}

// Overwrites what a loop carries. Results that are (views of) carried values themselves are saved
// first, since another may be overwritten before it is read.
Status Emitter::carry(int32_t body_index, std::span<const ValueIndex> from,
                      std::span<const ValueIndex> to) {
  const Graph& source = *in_.module.graphs[static_cast<size_t>(body_index)];
  std::vector<ValueIndex> saved(from.begin(), from.end());
  for (size_t i = 0; i < to.size(); ++i) {
    const bool carried = std::find(to.begin(), to.end(), builder_.root_of(from[i])) != to.end();
    if (!carried || from[i] == to[i]) continue;
    const auto* ref = std::get_if<ValueRef>(&source.outputs[i].value);
    if (ref == nullptr) continue;
    const Value& value = source.value(ref->id);
    saved[i] = value.kind == ValueKind::tensor ? clone(from[i], value.type)
                                               : builder_.add(placeholder(value.kind));
    if (value.kind != ValueKind::tensor) builder_.move(from[i], saved[i]);
  }
  for (size_t i = 0; i < to.size(); ++i) {
    if (saved[i] != to[i]) clone_into(saved[i], to[i]);
  }
  return Ok{};
}

Status Emitter::while_loop(int32_t g, const Node& node) {
  BP_ASSIGN_OR_RETURN(const int32_t condition, body_of(node, 0));
  BP_ASSIGN_OR_RETURN(const int32_t round, body_of(node, 1));
  BP_ASSIGN_OR_RETURN(const auto init, operands(g, arg(node, 2)));
  BP_ASSIGN_OR_RETURN(const auto additional, operands(g, arg(node, 3)));
  if (node.outputs.size() != init.size()) {
    return Error{Code::invalid_argument, describe(node) + ": carries " +
                                             std::to_string(init.size()) + " values but gives " +
                                             std::to_string(node.outputs.size())};
  }
  std::vector<ValueIndex> carried;
  for (size_t i = 0; i < init.size(); ++i) {
    carried.push_back(node.outputs[i] == kNone ? absent_output() : index_of(g, node.outputs[i]));
    clone_into(init[i], carried[i]);
  }
  std::vector<ValueIndex> inputs = carried;
  inputs.insert(inputs.end(), additional.begin(), additional.end());
  const int32_t first = builder_.next();
  BP_ASSIGN_OR_RETURN(const auto go_on, body(condition, inputs));
  const int32_t to_end = builder_.jump_if_false(go_on.at(0));
  BP_ASSIGN_OR_RETURN(const auto results, body(round, inputs));
  BP_TRY(carry(round, results, carried));
  builder_.jump_to(builder_.jump(), first);
  builder_.end_loop(first);
  builder_.land(to_end);
  return Ok{};
}

Status Emitter::scan(int32_t g, const Node& node) {
  const bool is_map = node.op == "higher_order::map_impl";
  Scan scan;
  BP_ASSIGN_OR_RETURN(scan.body, body_of(node, 0));
  if (!is_map) {
    BP_ASSIGN_OR_RETURN(scan.init, operands(g, arg(node, 1)));
  }
  const Argument& xs = arg(node, is_map ? 1 : 2);
  BP_ASSIGN_OR_RETURN(scan.xs, operands(g, xs));
  BP_ASSIGN_OR_RETURN(scan.additional, operands(g, arg(node, is_map ? 2 : 3)));
  const Graph& source = *in_.module.graphs[static_cast<size_t>(g)];
  for_each_value(xs, [&](ValueId id) { scan.x_types.push_back(source.value(id).type); });
  if (scan.xs.empty() || scan.x_types.size() != scan.xs.size() || scan.x_types[0].sizes.empty()) {
    return Error{Code::unsupported, describe(node) + ": has no tensors to go over"};
  }
  return scan_like(g, node, scan);
}

Status Emitter::scan_like(int32_t g, const Node& node, const Scan& scan) {
  std::vector<ValueIndex> carried;
  for (size_t i = 0; i < scan.init.size(); ++i) {
    carried.push_back(index_of(g, node.outputs[i]));
    clone_into(scan.init[i], carried[i]);
  }
  std::vector<ValueIndex> stacked;
  for (size_t i = carried.size(); i < node.outputs.size(); ++i) {
    const TensorType& type = in_.module.graphs[static_cast<size_t>(g)]->value(node.outputs[i]).type;
    pte::Tensor tensor = tensor_of(in_.module.symbols, type);
    if (tensor.dynamism == pte::ShapeDynamism::fixed) tensor.dynamism = pte::ShapeDynamism::bounded;
    stacked.push_back(builder_.add_planned(std::move(tensor)));
    bind(g, node.outputs[i], stacked.back());
  }
  const SymInt length = scan.x_types[0].sizes[0];
  ValueIndex rounds = builder_.integer(length.is_constant() ? length.constant() : 0);
  if (!length.is_constant()) {
    rounds = builder_.add(int64_t{0});
    builder_.kernel("aten::sym_size.int", {scan.xs[0], builder_.integer(0), rounds});
  }
  const ValueIndex row = builder_.add(int64_t{0});
  builder_.move(builder_.integer(0), row);
  const int32_t first = builder_.next();
  const ValueIndex go_on = builder_.add(false);
  builder_.kernel("executorch_prim::lt.Scalar", {row, rounds, go_on});
  const int32_t to_end = builder_.jump_if_false(go_on);
  std::vector<ValueIndex> inputs = carried;
  for (size_t i = 0; i < scan.xs.size(); ++i) {
    TensorType type = scan.x_types[i];
    type.sizes.erase(type.sizes.begin());
    const ValueIndex x = builder_.add_planned(tensor_of(in_.module.symbols, type));
    builder_.kernel("aten::select_copy.int_out", {scan.xs[i], builder_.integer(0), row, x, x});
    inputs.push_back(x);
  }
  inputs.insert(inputs.end(), scan.additional.begin(), scan.additional.end());
  BP_ASSIGN_OR_RETURN(const auto results, body(scan.body, inputs));
  for (size_t i = 0; i < stacked.size() && carried.size() + i < results.size(); ++i) {
    builder_.kernel("executorch_prim::et_copy_index.tensor",
                    {stacked[i], results[carried.size() + i], row});
  }
  BP_TRY(carry(scan.body, std::span(results).first(carried.size()), carried));
  builder_.kernel("executorch_prim::add.Scalar", {row, builder_.integer(1), row});
  builder_.jump_to(builder_.jump(), first);
  builder_.end_loop(first);
  builder_.land(to_end);
  return Ok{};
}

}  // namespace backplane::lower
