// Composites become the operators that backends and kernels have: core ATen, mostly.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "passes/rewriter.hpp"

namespace backplane::passes {

// Replaces each node that has a rule and for which `keep` does not say yes, in bodies too. What has
// no rule stays.
Status decompose(Module& module, const ops::Table& table,
                 const std::function<bool(const Node&)>& keep);

// One rule. The function emits what stands for `node`, replaces its outputs and returns true; or it
// returns false and has emitted nothing: the node stays. Errors stick in the rewriter.
struct DecompositionRule {
  std::string_view op;
  bool (*apply)(Rewriter& r, const Node& node);
};

// The rules by family, each in a file of its own.
[[nodiscard]] std::span<const DecompositionRule> arithmetic_rules();
[[nodiscard]] std::span<const DecompositionRule> attention_rules();
[[nodiscard]] std::span<const DecompositionRule> calculus_rules();
[[nodiscard]] std::span<const DecompositionRule> class_loss_rules();
[[nodiscard]] std::span<const DecompositionRule> einsum_rules();
[[nodiscard]] std::span<const DecompositionRule> join_rules();
[[nodiscard]] std::span<const DecompositionRule> layer_rules();
[[nodiscard]] std::span<const DecompositionRule> loss_rules();
[[nodiscard]] std::span<const DecompositionRule> network_rules();
[[nodiscard]] std::span<const DecompositionRule> product_rules();
[[nodiscard]] std::span<const DecompositionRule> sampling_rules();
[[nodiscard]] std::span<const DecompositionRule> view_rules();

// Whether a rule exists.
[[nodiscard]] bool can_decompose(std::string_view op);

}  // namespace backplane::passes
