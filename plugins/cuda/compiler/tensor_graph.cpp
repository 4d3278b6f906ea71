#include "cuda/compiler/tensor_graph.hpp"

namespace backplane::cuda::compiler {

TensorId TensorGraph::add(Tensor::Kind kind, bp_dtype_t dtype, std::vector<SizeId> shape) {
  Tensor tensor{kind, dtype, std::move(shape)};
  for (const SizeId size : tensor.shape) tensor.vars.push_back(indices().variable(size));
  tensor.strides = dense(tensor.shape);
  tensors_.push_back(std::move(tensor));
  return static_cast<TensorId>(tensors_.size() - 1);
}

TensorId TensorGraph::call(Call made, bp_dtype_t dtype, std::vector<SizeId> shape) {
  const TensorId id = add(Tensor::Kind::called, dtype, std::move(shape));
  made.result = id;
  at(id).source = static_cast<int32_t>(calls_.size());
  calls_.push_back(std::move(made));
  return id;
}

std::vector<SizeId> TensorGraph::dense(const std::vector<SizeId>& shape) {
  std::vector<SizeId> strides(shape.size(), sizes_.constant(1));
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = sizes_.multiply(strides[d], shape[d]);
  return strides;
}

SizeId TensorGraph::elements(const std::vector<SizeId>& shape) {
  SizeId product = sizes_.constant(1);
  for (const SizeId size : shape) product = sizes_.multiply(product, size);
  return product;
}

std::vector<Index> TensorGraph::variables(TensorId id) {
  std::vector<Index> out;
  for (const AtomId var : at(id).vars) out.push_back(indices().of(var));
  return out;
}

bool TensorGraph::is_constant(TensorId id) {
  constant_.resize(tensors_.size(), -1);
  int8_t known = constant_[static_cast<size_t>(id)];
  if (known >= 0) return known == 1;
  const Tensor tensor = at(id);
  bool is_constant_here = tensor.kind == Tensor::Kind::weight;
  if (tensor.kind == Tensor::Kind::computed) {
    is_constant_here = true;
    visit(exprs_, tensor.expr, [&](ExprId e) {
      const Expr& expr = exprs_.at(e);
      if (expr.kind == Expr::Kind::number) is_constant_here = false;
      if (expr.kind == Expr::Kind::load)
        is_constant_here = is_constant_here && is_constant(expr.tensor);
    });
    for (const SizeId size : tensor.shape)
      is_constant_here = is_constant_here && sizes_.known(size);
  }
  known = is_constant_here ? 1 : 0;
  constant_[static_cast<size_t>(id)] = known;
  return is_constant_here;
}

}  // namespace backplane::cuda::compiler
