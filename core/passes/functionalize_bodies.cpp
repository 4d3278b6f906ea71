// Bodies that write their inputs give the new contents as results; the node that uses them writes
// its operands with those.
#include <algorithm>

#include "passes/bodies.hpp"
#include "passes/functionalizer.hpp"

namespace backplane::passes {

Status Functionalizer::refuse_shared(const std::vector<Argument>& operands, size_t written) const {
  const auto* target = std::get_if<ValueRef>(&operands[written]);
  if (target == nullptr) return Error{Code::invalid_argument, "its body writes a number"};
  for (size_t i = 0; i < operands.size(); ++i) {
    const auto* other = std::get_if<ValueRef>(&operands[i]);
    if (i == written || other == nullptr || !aliases_.may_share(target->id, other->id)) continue;
    return Error{Code::unsupported, "its body writes '" + graph_.value(target->id).name +
                                        "', which shares memory with '" +
                                        graph_.value(other->id).name + "', another operand"};
  }
  return Ok{};
}

ValueId Functionalizer::new_contents(const Argument& operand) {
  const ValueId old = std::get<ValueRef>(operand).id;
  Value value;
  value.type = graph_.value(old).type;
  const std::string name = graph_.value(old).name;
  return r_.new_value(name, std::move(value));
}

Status Functionalizer::visit_bodies(Node& node) {
  const std::vector<int32_t> bodies = bodies_of(node);
  const bool writes = std::any_of(bodies.begin(), bodies.end(), [&](int32_t body) {
    return !written_[static_cast<size_t>(body)].empty();
  });
  if (!writes) {
    read_operands(node);
    BP_TRY(r_.status());
    return r_.keep(std::move(node));
  }
  if (node.op == "higher_order::cond") return visit_cond(node, bodies);
  if (node.op == "higher_order::while_loop") return visit_while(node, bodies);
  return r_.fail(Code::unsupported, "its body writes an operand; only cond and while_loop may");
}

Status Functionalizer::visit_cond(Node& node, const std::vector<int32_t>& bodies) {
  Written all;
  for (int32_t body : bodies) {
    const Written& some = written_[static_cast<size_t>(body)];
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  const std::vector<Argument> operands = operands_of(node);
  for (size_t at : all) {
    if (at >= operands.size()) return r_.fail(Code::internal, "its body has too many inputs");
    BP_TRY(refuse_shared(operands, at));
  }
  for (int32_t body : bodies) {
    Written& some = written_[static_cast<size_t>(body)];
    Graph& graph = *module_.graphs[static_cast<size_t>(body)];
    const size_t first = graph.outputs.size() - some.size();
    std::vector<Output> extra;
    for (size_t at : all) {
      const auto found = std::find(some.begin(), some.end(), at);
      if (found != some.end()) {
        extra.push_back(graph.outputs[first + static_cast<size_t>(found - some.begin())]);
      } else {
        extra.push_back({Output::Kind::user, ValueRef{graph.inputs[at].value}, ""});
      }
    }
    graph.outputs.resize(first);
    graph.outputs.insert(graph.outputs.end(), extra.begin(), extra.end());
    some.clear();
  }
  read_operands(node);
  const size_t first = node.outputs.size();
  for (size_t at : all) node.outputs.push_back(new_contents(operands[at]));
  const std::vector<ValueId> outputs(node.outputs.begin() + static_cast<ptrdiff_t>(first),
                                     node.outputs.end());
  BP_TRY(r_.keep(std::move(node)));
  for (size_t i = 0; i < all.size() && r_.ok(); ++i) {
    aliases_.write(std::get<ValueRef>(operands[all[i]]).id, {outputs[i]});
  }
  return r_.status();
}

// An operand that the body writes becomes one that it carries.
Status Functionalizer::visit_while(Node& node, const std::vector<int32_t>& bodies) {
  if (bodies.size() != 2 || !written_[static_cast<size_t>(bodies[0])].empty()) {
    return r_.fail(Code::unsupported, "its condition writes an operand");
  }
  Graph& condition = *module_.graphs[static_cast<size_t>(bodies[0])];
  Graph& body = *module_.graphs[static_cast<size_t>(bodies[1])];
  Written& written = written_[static_cast<size_t>(bodies[1])];
  const std::vector<Argument> operands = operands_of(node);
  const size_t num_carried = body.outputs.size() - written.size();
  if (operands.size() != body.inputs.size() || operands.size() != condition.inputs.size() ||
      num_carried > operands.size()) {
    return r_.fail(Code::invalid_argument, "its bodies have other inputs than it has operands");
  }
  std::vector<size_t> order;  // of inputs: carried, written, others
  for (size_t i = 0; i < num_carried; ++i) order.push_back(i);
  std::vector<Output> outputs(body.outputs.begin(),
                              body.outputs.begin() + static_cast<ptrdiff_t>(num_carried));
  for (size_t i = 0; i < written.size(); ++i) {
    BP_TRY(refuse_shared(operands, written[i]));
    // What is carried is the first step's operand alone: nobody may look at that afterwards.
    if (written[i] < num_carried) continue;
    order.push_back(written[i]);
    outputs.push_back(body.outputs[num_carried + i]);
  }
  const size_t now_carried = order.size();
  for (size_t i = num_carried; i < operands.size(); ++i) {
    if (std::find(written.begin(), written.end(), i) == written.end()) order.push_back(i);
  }
  const auto reorder = [&](std::vector<Input>& inputs) {
    std::vector<Input> ordered;
    for (size_t i : order) ordered.push_back(inputs[i]);
    inputs = std::move(ordered);
  };
  reorder(condition.inputs);
  reorder(body.inputs);
  body.outputs = std::move(outputs);

  ValueList carried;
  ValueList others;
  for (size_t i = 0; i < order.size(); ++i) {
    ValueRef operand = r_.as_value(operands[order[i]]);
    if (r_.ok()) operand = aliases_.read(operand.id);
    (i < now_carried ? carried : others).ids.push_back(operand.id);
  }
  node.args = {{"", GraphRef{bodies[0]}},
               {"", GraphRef{bodies[1]}},
               {"", std::move(carried)},
               {"", std::move(others)}};
  for (size_t i = num_carried; i < now_carried; ++i) {
    node.outputs.push_back(new_contents(operands[order[i]]));
  }
  const std::vector<ValueId> results = node.outputs;
  BP_TRY(r_.keep(std::move(node)));
  for (size_t at : written) {
    if (at < num_carried) aliases_.spoil(std::get<ValueRef>(operands[at]).id);
  }
  for (size_t i = num_carried; i < now_carried && r_.ok(); ++i) {
    aliases_.write(std::get<ValueRef>(operands[order[i]]).id, {results[i]});
  }
  written.clear();
  return r_.status();
}

}  // namespace backplane::passes
