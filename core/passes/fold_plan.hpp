// What is constant in a graph, and what of it is worth computing while lowering.
#pragma once

#include <vector>

#include "passes/evaluator.hpp"

namespace backplane::passes {

struct FoldPlan {
  std::vector<bool> is_constant;  // by node: depends on no input, and can be computed
  std::vector<bool> is_needed;    // by node: constant, and sizes, checks or branches depend on it
};

// `is_fixed`: by value, whether it is a constant of the module that nothing writes.
[[nodiscard]] FoldPlan plan_folding(const Module& module, const Graph& graph,
                                    const Evaluator& evaluator, const std::vector<bool>& is_fixed);

// Whether a node's result may be put into the program: its bytes are no more than half as much
// again as those of the constants that go (those that only folded nodes use), or few.
[[nodiscard]] bool is_worth_it(int64_t result_bytes, int64_t bytes_gone);

}  // namespace backplane::passes
