// The program as tensors: each is stored (inputs, weights, what a library makes) or says what its
// elements are (expr.hpp). Views, broadcasts, casts, joins and gathers are expressions too.
#pragma once

#include <backplane/graph.hpp>

#include <vector>

#include "cuda/compiler/expr.hpp"

namespace backplane::cuda::compiler {

struct Tensor {
  enum class Kind : uint8_t { input, weight, computed, called } kind;
  bp_dtype_t dtype;
  std::vector<SizeId> shape;
  std::vector<SizeId> strides;  // as it lies in memory, if it does
  std::vector<AtomId> vars;     // of its dimensions, which `expr` is in terms of
  ExprId expr = -1;             // computed
  int32_t source = -1;          // input: which; weight: the graph's value; called: which call
  int32_t node = -1;            // that made it, for messages
};

// A product or convolution by a library: what is absent is -1.
struct Call {
  enum class Kind : uint8_t { gemm, convolution } kind;
  TensorId a = -1, b = -1;  // gemm [b, m, k] · [b, k, n]; convolution x, w
  TensorId bias = -1;
  TensorId addend = -1;  // c or z
  TensorId result = -1;
  Epilogue epilogue = Epilogue::none;
  std::vector<int64_t> stride = {}, padding = {}, dilation = {};
  int64_t groups = 1;
  bool is_transposed = false;
};

class TensorGraph {
 public:
  explicit TensorGraph(const sdk::Graph& graph) : sizes_(graph), exprs_(sizes_) {}
  TensorGraph(const TensorGraph&) = delete;
  TensorGraph& operator=(const TensorGraph&) = delete;

  [[nodiscard]] SizeTable& sizes() { return sizes_; }
  [[nodiscard]] ExprPool& exprs() { return exprs_; }
  [[nodiscard]] IndexPool& indices() { return exprs_.indices(); }
  [[nodiscard]] const Tensor& at(TensorId id) const { return tensors_[static_cast<size_t>(id)]; }
  [[nodiscard]] Tensor& at(TensorId id) { return tensors_[static_cast<size_t>(id)]; }
  [[nodiscard]] size_t size() const { return tensors_.size(); }
  [[nodiscard]] std::vector<Call>& calls() { return calls_; }

  // A tensor of that shape with variables, dense in row-major order; its element is to be set.
  [[nodiscard]] TensorId add(Tensor::Kind kind, bp_dtype_t dtype, std::vector<SizeId> shape);
  [[nodiscard]] TensorId call(Call call, bp_dtype_t dtype, std::vector<SizeId> shape);
  [[nodiscard]] std::vector<SizeId> dense(const std::vector<SizeId>& shape);
  [[nodiscard]] SizeId elements(const std::vector<SizeId>& shape);
  // Whether it depends on weights alone.
  [[nodiscard]] bool is_constant(TensorId id);
  [[nodiscard]] std::vector<Index> variables(TensorId id);
  [[nodiscard]] ExprId load(TensorId id, std::vector<Index> at) {
    return exprs_.load(id, this->at(id).dtype, std::move(at));
  }

 private:
  SizeTable sizes_;
  ExprPool exprs_;
  std::vector<Tensor> tensors_;
  std::vector<Call> calls_;
  std::vector<int8_t> constant_;  // of each tensor: 1 yes, 0 no, -1 not known yet
};

}  // namespace backplane::cuda::compiler
