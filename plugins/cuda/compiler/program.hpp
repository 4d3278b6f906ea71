// A graph that becomes tensors, node by node. Partitioning and compiling do the same here, so what
// was claimed is what can be compiled.
#pragma once

#include <backplane/graph.hpp>
#include <backplane/result.hpp>

#include <vector>

#include "cuda/compiler/tensor_graph.hpp"

namespace backplane::cuda::compiler {

class Program {
 public:
  explicit Program(const sdk::Graph& graph);

  // Adds the tensors of a node's results. unsupported: says why not; nothing was added then.
  [[nodiscard]] Status add(int32_t node);
  // Takes a node's results as they come from elsewhere.
  void add_foreign(int32_t node);

  [[nodiscard]] TensorGraph& tensors() { return g_; }
  [[nodiscard]] const sdk::Graph& graph() const { return graph_; }
  // -1: it is a number, or nothing that a kernel can hold.
  [[nodiscard]] TensorId of_value(int32_t value) const {
    return of_value_[static_cast<size_t>(value)];
  }

 private:
  void add_given(int32_t value, Tensor::Kind kind, int32_t source);

  sdk::Graph graph_;
  TensorGraph g_;
  std::vector<TensorId> of_value_;
  std::vector<uint32_t> uses_;
};

}  // namespace backplane::cuda::compiler
