#include <algorithm>
#include <array>

#include "ops/meta.hpp"
#include "passes/bodies.hpp"
#include "passes/names.hpp"
#include "passes/passes.hpp"
#include "passes/rewriter.hpp"

namespace backplane::passes {
namespace {

bool is_wrapper(const Node& node) {
  constexpr std::array<std::string_view, 7> kWrappers = {"higher_order::wrap_with_set_grad_enabled",
                                                         "higher_order::wrap_with_autocast",
                                                         "higher_order::hints_wrapper",
                                                         "higher_order::invoke_subgraph",
                                                         "higher_order::run_const_graph",
                                                         "higher_order::wrap",
                                                         "higher_order::tag_activation_checkpoint"};
  return std::find(kWrappers.begin(), kWrappers.end(), node.op) != kWrappers.end();
}

bool is_mixed(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32;
}

// The floating dtype that a node's result has; nothing if it converts by itself, or has none.
std::optional<DType> result_dtype(const Graph& graph, const Node& node) {
  constexpr std::array<std::string_view, 5> kConversions = {"to", "type_as", "view", "copy",
                                                            "lift_fresh_copy"};
  if (node.schema == nullptr || node.schema->mutates()) return std::nullopt;
  if (std::find(kConversions.begin(), kConversions.end(), base_name(node.op)) !=
      kConversions.end()) {
    return std::nullopt;
  }
  for (const NamedArgument& arg : node.args) {
    if (std::holds_alternative<DType>(arg.value)) return std::nullopt;
  }
  for (ValueId id : node.outputs) {
    if (id == kNone || graph.value(id).kind != ValueKind::tensor) continue;
    if (is_mixed(graph.value(id).type.dtype)) return graph.value(id).type.dtype;
  }
  return std::nullopt;
}

// Whether ordinary promotion gives the result that was recorded.
bool is_plain(Module& module, const Graph& graph, const Node& node) {
  const auto inferred = ops::infer(module, graph, node);
  if (!inferred.ok() || inferred->size() != node.outputs.size()) return false;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId id = node.outputs[i];
    if (id == kNone || graph.value(id).kind != ValueKind::tensor) continue;
    if (graph.value(id).type.dtype != (*inferred)[i].type.dtype) return false;
  }
  return true;
}

// Makes the conversions of autocast visible in a body and in the bodies below it.
Status convert_operands(Module& module, Graph& graph, const ops::Table& table) {
  Rewriter r(module, graph, table);
  BP_TRY(r.walk([&](Node& node) -> Status {
    for (int32_t body : bodies_of(node)) {
      BP_TRY(convert_operands(module, *module.graphs[static_cast<size_t>(body)], table));
    }
    const std::optional<DType> dtype = result_dtype(graph, node);
    if (!dtype || is_plain(module, graph, node)) return r.keep(std::move(node));
    for (NamedArgument& arg : node.args) {
      for_each_value(arg.value, [&](ValueId& id) {
        const bool is_tensor = graph.value(id).kind == ValueKind::tensor;
        const DType from = graph.value(id).type.dtype;
        if (!r.ok() || !is_tensor || !is_mixed(from) || from == *dtype) return;
        id = r.emit("aten::_to_copy", {ValueRef{id}}, {{"dtype", *dtype}}).id;
      });
    }
    BP_TRY(r.status());
    return r.keep(std::move(node));
  }));
  return r.finish();
}

Status inline_in(Module& module, Graph& graph, const ops::Table& table) {
  Rewriter r(module, graph, table);
  BP_TRY(r.walk([&](Node& node) -> Status {
    const std::vector<int32_t> bodies = bodies_of(node);
    if (!is_wrapper(node) || bodies.size() != 1) return r.keep(std::move(node));
    const Graph& body = *module.graphs[static_cast<size_t>(bodies[0])];
    const std::vector<Argument> results = r.inline_body(body, operands_of(node));
    BP_TRY(r.status());
    if (results.size() != node.outputs.size()) {
      return r.fail(Code::invalid_argument, "its body has another number of results");
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (node.outputs[i] != kNone) r.replace(node.outputs[i], results[i]);
    }
    return r.status();
  }));
  return r.finish();
}

}  // namespace

Status inline_wrappers(Module& module, const ops::Table& table) {
  BP_ASSIGN_OR_RETURN(const std::vector<int32_t> order, bodies_first(module));
  for (int32_t index : order) {
    for (const Node& node : module.graphs[static_cast<size_t>(index)]->nodes) {
      const bool converts = node.op == "higher_order::wrap_with_autocast";
      for (int32_t body : bodies_of(node)) {
        if (!converts) break;
        BP_TRY(convert_operands(module, *module.graphs[static_cast<size_t>(body)], table));
      }
    }
  }
  for (int32_t index : order) {
    BP_TRY(inline_in(module, *module.graphs[static_cast<size_t>(index)], table));
  }
  return drop_unused_bodies(module);
}

}  // namespace backplane::passes
