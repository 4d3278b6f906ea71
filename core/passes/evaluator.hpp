// Runs kernels while lowering: what folding computes with.
#pragma once

#include <backplane/ext/kernels.h>
#include <backplane/result.hpp>
#include <backplane/tensor.hpp>

#include <functional>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "ops/schema.hpp"

namespace backplane::passes {

class Evaluator {
 public:
  // The CPU kernel for an operator's out form ("aten::add.out"), or null. Kernels live as long as
  // the evaluator.
  using Lookup = std::function<const bp_kernel_t*(std::string_view)>;
  // What an operand holds, or null.
  using Operands = std::function<const TensorView*(ValueId)>;

  // `table` must outlive it. No result may have more than `max_bytes`.
  Evaluator(const ops::Table& table, Lookup kernels, int64_t max_bytes = int64_t{1} << 30)
      : table_(table), kernels_(std::move(kernels)), max_bytes_(max_bytes) {}

  // Whether `node` has tensors for results, always gives the same ones, and has a kernel.
  [[nodiscard]] bool can_run(const Graph& graph, const Node& node) const;

  // Computes a node that can_run, with literals and `operands` for arguments.
  // invalid_argument: an operand is missing or no literal; and whatever the kernel says.
  [[nodiscard]] Result<std::vector<Tensor>> run(const Graph& graph, const Node& node,
                                                const Operands& operands) const;

 private:
  [[nodiscard]] const ops::Schema* out_form(const ops::Schema& schema) const;

  const ops::Table& table_;
  Lookup kernels_;
  int64_t max_bytes_;
};

}  // namespace backplane::passes
