#include "passes/pipeline.hpp"

#include <algorithm>
#include <functional>

#include "passes/decompose.hpp"
#include "passes/fold.hpp"
#include "passes/passes.hpp"

namespace backplane::passes {
namespace {

// A pass, and its name for the one who reads that it broke the graph.
struct Step {
  std::string_view name;
  std::function<Status(Module&, const ops::Table&)> run;
};

Status run_all(Module& module, const ops::Table& table, const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    BP_TRY(step.run(module, table));
#ifndef NDEBUG
    Status sound = verify(module);
    if (!sound.ok()) return std::move(sound).error().in("after pass " + std::string(step.name));
#endif
  }
  return Ok{};
}

}  // namespace

namespace {

bool names(const std::vector<std::string>& ops, const Node& node) {
  return std::find(ops.begin(), ops.end(), node.op) != ops.end();
}

// From composites to the form that is partitioned.
Status decompose_and_simplify(Module& module, const ops::Table& table,
                              const PrepareOptions& options,
                              const std::function<bool(const Node&)>& keep) {
  const Evaluator evaluator(table, options.kernels, options.max_folded_bytes);
  const auto fold = [&](Module& m, const ops::Table& t) {
    return options.kernels ? fold_constants(m, t, evaluator) : Status(Ok{});
  };
  return run_all(
      module, table,
      {
          {"decompose", [&](Module& m, const ops::Table& t) { return decompose(m, t, keep); }},
          {"remove_noops", remove_noops},
          {"remove_dead_code", remove_dead_code},
          {"fold_constants", fold},
          {"simplify_sizes", simplify_sizes},
          {"remove_noops", remove_noops},
          {"merge_common_subexpressions", merge_common_subexpressions},
          {"remove_dead_code", remove_dead_code},
      });
}

}  // namespace

Status prepare(Module& module, const ops::Table& table, const PrepareOptions& options) {
  BP_TRY(run_all(module, table,
                 {
                     {"fill_defaults", fill_defaults},
                     {"inline_wrappers", inline_wrappers},
                     {"functionalize", functionalize},
                     {"simplify_sizes", simplify_sizes},
                     {"remove_noops", remove_noops},
                 }));
  return decompose_and_simplify(module, table, options,
                                [&](const Node& node) { return names(options.kept_ops, node); });
}

Status decompose_rest(Module& module, const ops::Table& table, const PrepareOptions& options,
                      const std::function<bool(const Node&)>& keep) {
  return decompose_and_simplify(module, table, options, keep);
}

}  // namespace backplane::passes
