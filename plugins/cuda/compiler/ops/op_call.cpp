#include "cuda/compiler/ops/op_call.hpp"

#include <algorithm>

namespace backplane::cuda::compiler {

OpCall::OpCall(TensorGraph& g_, const sdk::Graph& graph, int32_t node,
               std::vector<TensorId>& tensors, const std::vector<uint32_t>& uses)
    : g(g_),
      ix(g_.indices()),
      ex(g_.exprs()),
      graph_(graph),
      node_(graph.nodes()[static_cast<uint32_t>(node)]),
      index_(node),
      tensors_(tensors),
      uses_(uses) {}

Error OpCall::refuse(std::string_view why) const {
  return {Code::unsupported, std::string(why)};
}

bool OpCall::is_tensor(size_t i) const {
  const auto value = i < num_args() ? sdk::value_of(arg(i)) : std::nullopt;
  return value && graph_.value(*value).kind == BP_VALUE_TENSOR;
}

Result<TensorId> OpCall::tensor_of(int32_t value) const {
  const TensorId id = value < 0 ? -1 : tensors_[static_cast<size_t>(value)];
  if (id < 0) return refuse("an argument is not a tensor that kernels can hold");
  return id;
}
Result<TensorId> OpCall::tensor(size_t i) const {
  return tensor_of(i < num_args() ? sdk::value_of(arg(i)).value_or(-1) : -1);
}
Result<TensorId> OpCall::tensor_or_none(size_t i) const {
  if (i >= num_args() || is_none(i)) return TensorId{-1};
  return tensor(i);
}
Result<std::vector<TensorId>> OpCall::tensors(size_t i) const {
  const auto values = sdk::values_of(arg(i));
  if (!values) return refuse("an argument is not a list of tensors");
  std::vector<TensorId> out;
  for (const int32_t value : *values) {
    BP_ASSIGN_OR_RETURN(out.emplace_back(), tensor_of(value));
  }
  return out;
}

Result<ExprId> OpCall::number(size_t i, bp_dtype_t dtype) const {
  const bp_arg_t& a = arg(i);
  if (a.kind == BP_ARG_INT || a.kind == BP_ARG_BOOL) return ex.literal(int64_t{a.v.i}, dtype);
  if (a.kind == BP_ARG_FLOAT) return ex.literal(a.v.f, dtype);
  return refuse("a number is not known when lowering");
}
Result<double> OpCall::known_number(size_t i) const {
  if (const auto number = sdk::number_of(arg(i))) return *number;
  return refuse("a number is not known when lowering");
}
Result<int64_t> OpCall::known_int(size_t i) const {
  const bp_arg_t& a = arg(i);
  if (a.kind == BP_ARG_INT || a.kind == BP_ARG_BOOL) return a.v.i;
  return refuse("an integer is not known when lowering");
}
Result<std::vector<int64_t>> OpCall::known_ints(size_t i) const {
  if (i >= num_args() || is_none(i)) return std::vector<int64_t>{};
  if (arg(i).kind == BP_ARG_INT) return std::vector<int64_t>{arg(i).v.i};
  if (const auto ints = sdk::ints_of(arg(i)))
    return std::vector<int64_t>(ints->begin(), ints->end());
  return refuse("a list of integers is not known when lowering");
}
Result<SizeId> OpCall::size(size_t i) const {
  const bp_arg_t& a = arg(i);
  if (a.kind == BP_ARG_INT) return g.sizes().constant(a.v.i);
  const auto value = sdk::value_of(a);
  if (!value) return refuse("a size is not known");
  return g.sizes().of(graph_.value(*value).scalar.symbol >= 0 ? graph_.value(*value).scalar
                                                              : bp_dim_t{INT64_MAX, -1, *value});
}

Result<size_t> OpCall::dim(size_t i, size_t rank) const {
  BP_ASSIGN_OR_RETURN(const int64_t given, known_int(i));
  const int64_t d = given < 0 ? given + static_cast<int64_t>(rank) : given;
  if (rank == 0) return size_t{0};
  if (d < 0 || d >= static_cast<int64_t>(rank)) return refuse("a dimension is out of range");
  return static_cast<size_t>(d);
}
Result<std::vector<size_t>> OpCall::dims(size_t i, size_t rank) const {
  BP_ASSIGN_OR_RETURN(const std::vector<int64_t> given, known_ints(i));
  std::vector<size_t> out;
  for (const int64_t d : given) {
    if (rank != 0) out.push_back(static_cast<size_t>(d < 0 ? d + static_cast<int64_t>(rank) : d));
  }
  if (given.empty()) {
    for (size_t d = 0; d < rank; ++d) out.push_back(d);
  }
  if (std::any_of(out.begin(), out.end(), [&](size_t d) { return d >= rank; }))
    return refuse("a dimension is out of range");
  return out;
}

uint32_t OpCall::num_uses(size_t i) const {
  const auto value = sdk::value_of(arg(i));
  return value ? uses_[static_cast<size_t>(*value)] : 0;
}
bool OpCall::is_used(size_t i) const {
  return has_out(i) && uses_[static_cast<size_t>(node_.outs[i])] > 0;
}

bp_dtype_t OpCall::out_dtype(size_t i) const {
  return graph_.value(node_.outs[i]).dtype;
}
Result<std::vector<SizeId>> OpCall::out_shape(size_t i) {
  std::vector<SizeId> shape;
  for (const bp_dim_t& dim : sdk::dims(graph_.value(node_.outs[i]))) {
    BP_ASSIGN_OR_RETURN(shape.emplace_back(), g.sizes().of(dim));
  }
  return shape;
}

TensorId OpCall::compute(bp_dtype_t dtype, std::vector<SizeId> shape, const Element& element) {
  const TensorId id = g.add(Tensor::Kind::computed, dtype, std::move(shape));
  g.at(id).node = index_;
  const ExprId expr = ex.cast(element(g.variables(id)), dtype);
  g.at(id).expr = expr;
  return id;
}

Status OpCall::give(const Element& element, size_t i) {
  if (!is_used(i)) return Ok{};
  if (!is_supported(out_dtype(i))) return refuse("no kernel holds this dtype");
  BP_ASSIGN_OR_RETURN(std::vector<SizeId> shape, out_shape(i));
  tensors_[static_cast<size_t>(node_.outs[i])] = compute(out_dtype(i), std::move(shape), element);
  return Ok{};
}

Status OpCall::give(TensorId tensor, size_t i) {
  if (!is_used(i)) return Ok{};
  BP_ASSIGN_OR_RETURN(const std::vector<SizeId> shape, out_shape(i));
  if (at(tensor).shape == shape && at(tensor).dtype == out_dtype(i)) {
    tensors_[static_cast<size_t>(node_.outs[i])] = tensor;
    return Ok{};
  }
  return give(
      [&](const std::vector<Index>& at_) {
        return g.load(tensor, reshaped(at_, shape, at(tensor).shape));
      },
      i);
}

ExprId OpCall::broadcast(TensorId tensor, const std::vector<Index>& at_) const {
  const std::vector<SizeId>& shape = at(tensor).shape;
  std::vector<Index> indices(at_.end() - static_cast<std::ptrdiff_t>(shape.size()), at_.end());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (g.sizes().is(shape[d], 1)) indices[d] = ix.number(0);
  }
  return g.load(tensor, std::move(indices));
}

std::vector<Index> OpCall::reshaped(const std::vector<Index>& at_, const std::vector<SizeId>& from,
                                    const std::vector<SizeId>& shape) const {
  Index flat = ix.dot(at_, g.dense(from));
  std::vector<Index> out(shape.size(), ix.number(0));
  for (size_t d = shape.size(); d-- > 0;) {
    out[d] = d == 0 ? flat : ix.rest(flat, shape[d]);
    flat = ix.quotient(flat, shape[d]);
  }
  return out;
}

}  // namespace backplane::cuda::compiler
