#include "lower/graph_part.hpp"

#include <algorithm>

namespace backplane::lower {

bool is_state(const Module& module, const Value& value, const StateNames& state) {
  return value.constant != kNone &&
         state.contains(module.constants[static_cast<size_t>(value.constant)].fqn);
}

GraphPart make_part(const Module& module, const StateNames& state, int32_t graph,
                    std::vector<NodeId> nodes) {
  const Graph& source = *module.graphs[static_cast<size_t>(graph)];
  GraphPart part{graph, std::move(nodes), {}, {}};
  std::vector<uint8_t> inside(source.nodes.size(), 0);
  for (const NodeId n : part.nodes) inside[static_cast<size_t>(n)] = 1;
  std::vector<uint8_t> seen(source.values.size(), 0);
  std::vector<uint8_t> wanted(source.values.size(), 0);
  for (size_t n = 0; n < source.nodes.size(); ++n) {
    for (const NamedArgument& arg : source.nodes[n].args) {
      for_each_value(arg.value, [&](ValueId id) {
        const Value& value = source.value(id);
        const bool made_inside =
            value.producer != kNone && inside[static_cast<size_t>(value.producer)] != 0;
        if (inside[n] == 0) {
          if (made_inside) wanted[static_cast<size_t>(id)] = 1;
        } else if (!made_inside && (value.constant == kNone || is_state(module, value, state)) &&
                   seen[static_cast<size_t>(id)]++ == 0) {
          part.inputs.push_back(id);
        }
      });
    }
  }
  for (const Output& output : source.outputs) {
    for_each_value(output.value, [&](ValueId id) { wanted[static_cast<size_t>(id)] = 1; });
  }
  for (const NodeId n : part.nodes) {
    for (const ValueId out : source.nodes[static_cast<size_t>(n)].outputs) {
      if (out != kNone && wanted[static_cast<size_t>(out)] != 0) part.outputs.push_back(out);
    }
  }
  return part;
}

Selection everything(const Module& module, const StateNames& state, const Graph& graph) {
  Selection all;
  for (size_t n = 0; n < graph.nodes.size(); ++n) all.nodes.push_back(static_cast<NodeId>(n));
  for (size_t v = 0; v < graph.values.size(); ++v) all.values.push_back(static_cast<ValueId>(v));
  for (const Input& input : graph.inputs) {
    if (input.value != kNone) all.inputs.push_back(input.value);
  }
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (is_state(module, graph.values[v], state)) all.inputs.push_back(static_cast<ValueId>(v));
  }
  for (const Output& output : graph.outputs) {
    for_each_value(output.value, [&](ValueId id) { all.outputs.push_back(id); });
  }
  return all;
}

Selection of_part(const Graph& graph, const GraphPart& part) {
  Selection some{part.nodes, {}, part.inputs, part.outputs};
  std::vector<bool> seen(graph.values.size(), false);
  const auto show = [&](ValueId id) {
    if (seen[static_cast<size_t>(id)]) return;
    seen[static_cast<size_t>(id)] = true;
    some.values.push_back(id);
  };
  std::for_each(part.inputs.begin(), part.inputs.end(), show);
  for (const NodeId n : part.nodes) {
    const Node& node = graph.nodes[static_cast<size_t>(n)];
    for (const NamedArgument& arg : node.args) for_each_value(arg.value, show);
    for (const ValueId out : node.outputs) {
      if (out != kNone) show(out);
    }
  }
  return some;
}

}  // namespace backplane::lower
