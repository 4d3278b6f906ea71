#include "passes/bodies.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace backplane::passes {
namespace {

// Nodes that do something beside giving results: checks, and whatever is not known well enough.
bool has_effect(const Node& node, const std::vector<bool>& body_has_effect) {
  if (node.outputs.empty()) return true;
  if (node.schema != nullptr) return node.schema->mutates();
  if (node.op.starts_with("sym::")) return false;
  const std::vector<int32_t> bodies = bodies_of(node);
  if (bodies.empty()) return true;
  return std::any_of(bodies.begin(), bodies.end(),
                     [&](int32_t body) { return body_has_effect[static_cast<size_t>(body)]; });
}

// Marks what is needed, from the last node to the first; returns whether the graph has effects.
bool mark_needed(const Graph& graph, const std::vector<bool>& body_has_effect,
                 std::vector<bool>& needed) {
  std::vector<bool> live(graph.values.size());
  const auto use = [&](ValueId id) { live[static_cast<size_t>(id)] = true; };
  for (const Output& output : graph.outputs) for_each_value(output.value, use);
  bool effects = false;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    const bool effect = has_effect(node, body_has_effect);
    effects |= effect;
    needed[i] = effect || std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
                  return id != kNone && live[static_cast<size_t>(id)];
                });
    if (!needed[i]) continue;
    for (const NamedArgument& arg : node.args) for_each_value(arg.value, use);
  }
  return effects;
}

}  // namespace

Status remove_dead_code(Module& module, const ops::Table& table) {
  BP_ASSIGN_OR_RETURN(const std::vector<int32_t> order, bodies_first(module));
  std::vector<bool> body_has_effect(module.graphs.size());
  for (int32_t index : order) {
    Graph& graph = *module.graphs[static_cast<size_t>(index)];
    std::vector<bool> needed(graph.nodes.size());
    body_has_effect[static_cast<size_t>(index)] = mark_needed(graph, body_has_effect, needed);
    Rewriter r(module, graph, table);
    size_t at = 0;
    BP_TRY(r.walk(
        [&](Node& node) -> Status { return needed[at++] ? r.keep(std::move(node)) : r.status(); }));
    BP_TRY(r.finish());
  }
  return drop_unused_bodies(module);
}

}  // namespace backplane::passes
