// One node of the graph while it becomes tensors: its arguments, and what it gives.
#pragma once

#include <backplane/graph.hpp>
#include <backplane/result.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cuda/compiler/tensor_graph.hpp"

namespace backplane::cuda::compiler {

class OpCall {
 public:
  // `tensors`: of each of the graph's values, -1 where there is none (yet). `uses`: how often each
  // value is read.
  OpCall(TensorGraph& g, const sdk::Graph& graph, int32_t node, std::vector<TensorId>& tensors,
         const std::vector<uint32_t>& uses);

  TensorGraph& g;
  IndexPool& ix;
  ExprPool& ex;

  // ---- arguments, by place ----
  [[nodiscard]] std::string_view op() const { return sdk::op(node_); }
  [[nodiscard]] size_t num_args() const { return node_.args.count; }
  [[nodiscard]] const bp_arg_t& arg(size_t i) const { return sdk::args(node_)[i]; }
  [[nodiscard]] bool is_tensor(size_t i) const;
  [[nodiscard]] bool is_none(size_t i) const { return arg(i).kind == BP_ARG_NONE; }
  [[nodiscard]] Result<TensorId> tensor(size_t i) const;
  // -1 where it is None.
  [[nodiscard]] Result<TensorId> tensor_or_none(size_t i) const;
  [[nodiscard]] Result<std::vector<TensorId>> tensors(size_t i) const;
  [[nodiscard]] Result<TensorId> tensor_of(int32_t value) const;
  // A number: a literal in an operator that computes in `dtype`, or an input.
  [[nodiscard]] Result<ExprId> number(size_t i, bp_dtype_t dtype) const;
  [[nodiscard]] Result<double> known_number(size_t i) const;
  [[nodiscard]] Result<int64_t> known_int(size_t i) const;
  [[nodiscard]] bool flag(size_t i) const { return arg(i).kind == BP_ARG_BOOL && arg(i).v.i != 0; }
  [[nodiscard]] std::string_view text(size_t i) const {
    return sdk::string_of(arg(i)).value_or(std::string_view());
  }
  // Empty where it is None.
  [[nodiscard]] Result<std::vector<int64_t>> known_ints(size_t i) const;
  // A size, which may be a symbol.
  [[nodiscard]] Result<SizeId> size(size_t i) const;
  // Dimensions, none of them negative; all of `rank` where the argument is None or empty.
  [[nodiscard]] Result<std::vector<size_t>> dims(size_t i, size_t rank) const;
  [[nodiscard]] Result<size_t> dim(size_t i, size_t rank) const;

  // How often the value of argument i is read, here included.
  [[nodiscard]] uint32_t num_uses(size_t i) const;

  // ---- results ----
  // Whether anybody reads it.
  [[nodiscard]] bool is_used(size_t i) const;
  [[nodiscard]] size_t num_outs() const { return node_.num_outs; }
  [[nodiscard]] bool has_out(size_t i) const { return i < node_.num_outs && node_.outs[i] >= 0; }
  [[nodiscard]] bp_dtype_t out_dtype(size_t i = 0) const;
  [[nodiscard]] Result<std::vector<SizeId>> out_shape(size_t i = 0);
  // What output `i` is: the element at the given indices. Does nothing where nobody asks for it.
  using Element = std::function<ExprId(const std::vector<Index>& at)>;
  Status give(const Element& element, size_t i = 0);
  // The same for a tensor of another shape that output 0 is not; returned.
  [[nodiscard]] TensorId compute(bp_dtype_t dtype, std::vector<SizeId> shape,
                                 const Element& element);
  // Output `i` is that tensor, its elements in row-major order where the shapes differ.
  Status give(TensorId tensor, size_t i = 0);

  // ---- elements ----
  [[nodiscard]] const Tensor& at(TensorId id) const { return g.at(id); }
  [[nodiscard]] size_t rank(TensorId id) const { return g.at(id).shape.size(); }
  // The element of `tensor` that broadcasting puts at `at`.
  [[nodiscard]] ExprId broadcast(TensorId tensor, const std::vector<Index>& at) const;
  [[nodiscard]] ExprId broadcast(TensorId tensor, const std::vector<Index>& at,
                                 bp_dtype_t dtype) const {
    return ex.cast(broadcast(tensor, at), dtype);
  }
  // Indices of the elements of `shape` that lie at the same place in row-major order as `at` does
  // in `from`.
  [[nodiscard]] std::vector<Index> reshaped(const std::vector<Index>& at,
                                            const std::vector<SizeId>& from,
                                            const std::vector<SizeId>& shape) const;
  [[nodiscard]] Error refuse(std::string_view why) const;
  [[nodiscard]] int32_t node_index() const { return index_; }
  [[nodiscard]] const bp_node_t& node() const { return node_; }
  [[nodiscard]] const sdk::Graph& graph() const { return graph_; }

 private:
  const sdk::Graph& graph_;
  const bp_node_t& node_;
  int32_t index_;
  std::vector<TensorId>& tensors_;
  const std::vector<uint32_t>& uses_;
};

// An operator that is compiled. One function may serve several.
struct OpRule {
  std::string_view op;
  Status (*build)(OpCall& call);
};

// The families, each in a file of its own.
[[nodiscard]] std::span<const OpRule> elementwise_rules();
[[nodiscard]] std::span<const OpRule> view_rules();
[[nodiscard]] std::span<const OpRule> reduction_rules();
[[nodiscard]] std::span<const OpRule> norm_rules();
[[nodiscard]] std::span<const OpRule> product_rules();
[[nodiscard]] std::span<const OpRule> convolution_rules();
[[nodiscard]] std::span<const OpRule> window_rules();
[[nodiscard]] std::span<const OpRule> index_rules();

}  // namespace backplane::cuda::compiler
