#include "passes/bind.hpp"
#include "passes/passes.hpp"

namespace backplane::passes {

Status fill_defaults(Module& module, const ops::Table& table) {
  for (const std::unique_ptr<Graph>& graph : module.graphs) {
    for (Node& node : graph->nodes) {
      if (node.schema == nullptr) node.schema = table.find(node.op);
      if (node.schema == nullptr) continue;
      if (Status bound = bind_arguments(node); !bound.ok()) {
        return std::move(bound).error().in(describe(node));
      }
    }
  }
  return Ok{};
}

}  // namespace backplane::passes
