// Matrix products: cuBLASLt where it has the dtype, else sums of our own.
#include "cuda/compiler/ops/op_call.hpp"

namespace backplane::cuda::compiler {
namespace {

bool has_library(bp_dtype_t dtype) {
  return dtype == sdk::kFloat32 || dtype == sdk::kFloat16 || dtype == sdk::kBFloat16 ||
         dtype == sdk::kFloat64;
}

// [b, m, k] · [b, k, n] as a tensor [b, m, n]. `bias`: [n], or -1.
TensorId product(OpCall& call, TensorId a, TensorId b, TensorId bias) {
  const Tensor x = call.at(a);
  const Tensor y = call.at(b);
  const std::vector<SizeId> shape = {x.shape[0], x.shape[1], y.shape[2]};
  if (has_library(x.dtype)) {
    Call made{Call::Kind::gemm};
    made.a = a;
    made.b = b;
    made.bias = bias;
    const TensorId out = call.g.call(std::move(made), x.dtype, shape);
    call.g.at(out).node = call.node_index();
    return out;
  }
  const bp_dtype_t in = accumulator(x.dtype);
  return call.compute(x.dtype, shape, [&](const std::vector<Index>& at) {
    const AtomId k = call.ix.variable(x.shape[2]);
    const ExprId element =
        call.ex.apply(in, "$0 * $1",
                      {call.ex.cast(call.g.load(a, {at[0], at[1], call.ix.of(k)}), in),
                       call.ex.cast(call.g.load(b, {at[0], call.ix.of(k), at[2]}), in)});
    return call.ex.reduce(Reduction::sum, element, {k});
  });
}

// A matrix as a batch of one.
TensorId as_batch(OpCall& call, TensorId matrix) {
  const Tensor m = call.at(matrix);
  if (m.shape.size() == 3) return matrix;
  return call.compute(m.dtype, {call.g.sizes().constant(1), m.shape[0], m.shape[1]},
                      [&](const std::vector<Index>& at) {
                        return call.g.load(matrix, {at[1], at[2]});
                      });
}

// Whether the last dimension, which is summed over, is known to be empty.
bool is_over_nothing(OpCall& call, TensorId a) {
  const Tensor t = call.at(a);
  return !t.shape.empty() && call.g.sizes().is(t.shape.back(), 0);
}

Status multiply(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId a, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId b, call.tensor(1));
  if (call.at(a).dtype != call.at(b).dtype) return call.refuse("factors of two dtypes");
  if (is_over_nothing(call, a)) return call.refuse("a product over nothing");
  return call.give(product(call, as_batch(call, a), as_batch(call, b), -1));
}

// addmm, baddbmm: beta · addend + alpha · a · b.
Status multiply_add(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId addend, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId a, call.tensor(1));
  BP_ASSIGN_OR_RETURN(const TensorId b, call.tensor(2));
  if (is_over_nothing(call, a)) return call.refuse("a product over nothing");
  BP_ASSIGN_OR_RETURN(const double beta, call.known_number(3));
  BP_ASSIGN_OR_RETURN(const double alpha, call.known_number(4));
  const bp_dtype_t dtype = call.out_dtype();
  const bool is_bias = beta == 1 && alpha == 1 && call.rank(addend) == 1 && has_library(dtype) &&
                       call.at(addend).dtype == dtype &&
                       call.at(addend).shape[0] == call.at(b).shape.back();
  const TensorId out =
      product(call, as_batch(call, a), as_batch(call, b), is_bias ? addend : TensorId{-1});
  if (is_bias) return call.give(out);
  const bp_dtype_t in = is_floating(dtype) ? accumulator(dtype) : dtype;
  BP_ASSIGN_OR_RETURN(const std::vector<SizeId> shape, call.out_shape());
  return call.give([&](const std::vector<Index>& at) {
    const std::vector<Index> from = call.reshaped(at, shape, call.at(out).shape);
    const ExprId scaled =
        call.ex.apply(in, alpha == 1 ? "$0" : "$1 * $0",
                      {call.ex.cast(call.g.load(out, from), in), call.ex.literal(alpha, in)});
    if (beta == 0) return scaled;
    return call.ex.apply(in, "$1 * $0 + $2",
                         {call.broadcast(addend, at, in), call.ex.literal(beta, in), scaled});
  });
}

// x[…, k] · weight[n, k]ᵀ + bias[n]
Status linear(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId weight, call.tensor(1));
  BP_ASSIGN_OR_RETURN(const TensorId bias, call.tensor_or_none(2));
  const std::vector<SizeId> shape = call.at(x).shape;
  if (shape.empty() || call.rank(weight) != 2) return call.refuse("linear of numbers");
  if (!has_library(call.at(x).dtype)) return call.refuse("linear of integers");
  if (is_over_nothing(call, x)) return call.refuse("a product over nothing");
  SizeTable& sizes = call.g.sizes();
  SizeId rows = sizes.constant(1);
  for (size_t d = 0; d + 1 < shape.size(); ++d) rows = sizes.multiply(rows, shape[d]);
  const std::vector<SizeId> flat = {sizes.constant(1), rows, shape.back()};
  const TensorId a = call.compute(call.at(x).dtype, flat, [&](const std::vector<Index>& at) {
    return call.g.load(x, call.reshaped(at, flat, shape));
  });
  const std::vector<SizeId> of_weight = call.at(weight).shape;
  const TensorId b =
      call.compute(call.at(weight).dtype, {sizes.constant(1), of_weight[1], of_weight[0]},
                   [&](const std::vector<Index>& at) {
                     return call.g.load(weight, {at[2], at[1]});
                   });
  return call.give(product(call, a, b, bias));
}

constexpr OpRule kRules[] = {
    {"aten::mm", multiply},          {"aten::bmm", multiply},  {"aten::addmm", multiply_add},
    {"aten::baddbmm", multiply_add}, {"aten::linear", linear},
};

}  // namespace

std::span<const OpRule> product_rules() {
  return kRules;
}

}  // namespace backplane::cuda::compiler
