// Normalisations: layer, root-mean-square, group and batch norm. Statistics in float32 (float64).
#include <algorithm>

#include "cuda/compiler/ops/op_call.hpp"

namespace backplane::cuda::compiler {
namespace {

// Σ f(x) / n over the last `num_dims` dimensions, for the row that `at` is in.
ExprId mean_of(OpCall& call, TensorId x, const std::vector<Index>& at, size_t num_dims,
               const std::function<ExprId(ExprId)>& f) {
  const size_t rank = call.rank(x);
  const bp_dtype_t in = accumulator(call.at(x).dtype);
  std::vector<Index> from(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(rank - num_dims));
  std::vector<AtomId> over;
  SizeId n = call.g.sizes().constant(1);
  for (size_t d = rank - num_dims; d < rank; ++d) {
    over.push_back(call.ix.variable(call.at(x).shape[d]));
    from.push_back(call.ix.of(over.back()));
    n = call.g.sizes().multiply(n, call.at(x).shape[d]);
  }
  const ExprId sum =
      call.ex.reduce(Reduction::sum, f(call.ex.cast(call.g.load(x, from), in)), over);
  return call.ex.apply(in, "$0 / $1", {sum, call.ex.cast(call.ex.index({n, {}}), in)});
}

struct Statistics {
  ExprId mean, rstd;
};
Statistics statistics(OpCall& call, TensorId x, const std::vector<Index>& at, size_t num_dims,
                      double eps) {
  const bp_dtype_t in = accumulator(call.at(x).dtype);
  const ExprId mean = mean_of(call, x, at, num_dims, [](ExprId e) { return e; });
  const ExprId variance = mean_of(call, x, at, num_dims, [&](ExprId e) {
    return call.ex.apply(in, "($0 - $1) * ($0 - $1)", {e, mean});
  });
  return {mean, call.ex.apply(in, "math_rsqrt($0 + $1)", {variance, call.ex.literal(eps, in)})};
}

// e · weight + bias, either of which may be absent (-1); at their place `at`.
ExprId affine(OpCall& call, ExprId e, TensorId weight, TensorId bias, const std::vector<Index>& at,
              bp_dtype_t in) {
  if (weight >= 0) e = call.ex.apply(in, "$0 * $1", {e, call.broadcast(weight, at, in)});
  if (bias >= 0) e = call.ex.apply(in, "$0 + $1", {e, call.broadcast(bias, at, in)});
  return e;
}

// native_layer_norm(x, normalized_shape, weight?, bias?, eps)
Status layer_norm(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId weight, call.tensor_or_none(2));
  BP_ASSIGN_OR_RETURN(const TensorId bias, call.tensor_or_none(3));
  BP_ASSIGN_OR_RETURN(const double eps, call.known_number(4));
  const size_t num_dims = call.arg(1).count;
  const bp_dtype_t in = accumulator(call.at(x).dtype);
  BP_TRY(call.give([&](const std::vector<Index>& at) {
    const Statistics s = statistics(call, x, at, num_dims, eps);
    const ExprId own = call.ex.cast(call.g.load(x, at), in);
    return affine(call, call.ex.apply(in, "($0 - $1) * $2", {own, s.mean, s.rstd}), weight, bias,
                  at, in);
  }));
  for (const size_t i : {1U, 2U}) {
    BP_TRY(call.give(
        [&](const std::vector<Index>& at) {
          const Statistics s = statistics(call, x, at, num_dims, eps);
          return i == 1 ? s.mean : s.rstd;
        },
        i));
  }
  return Ok{};
}

// rms_norm(x, normalized_shape, weight?, eps?)
Status rms_norm(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId weight, call.tensor_or_none(2));
  const bp_dtype_t dtype = call.at(x).dtype;
  double eps = dtype == sdk::kFloat64 ? 2.220446049250313e-16 : 1.1920928955078125e-07;
  if (!call.is_none(3)) {
    BP_ASSIGN_OR_RETURN(eps, call.known_number(3));
  }
  const size_t num_dims = call.arg(1).count;
  const bp_dtype_t in = accumulator(dtype);
  return call.give([&](const std::vector<Index>& at) {
    const ExprId squares =
        mean_of(call, x, at, num_dims, [&](ExprId e) { return call.ex.apply(in, "$0 * $0", {e}); });
    const ExprId own =
        call.ex.apply(in, "$0 * math_rsqrt($1 + $2)",
                      {call.ex.cast(call.g.load(x, at), in), squares, call.ex.literal(eps, in)});
    return affine(call, own, weight, -1, at, in);
  });
}

// native_group_norm(x, weight?, bias?, n, c, hxw, groups, eps): statistics first, [n, groups].
Status group_norm(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId weight, call.tensor_or_none(1));
  BP_ASSIGN_OR_RETURN(const TensorId bias, call.tensor_or_none(2));
  BP_ASSIGN_OR_RETURN(const int64_t num_groups, call.known_int(6));
  BP_ASSIGN_OR_RETURN(const double eps, call.known_number(7));
  SizeTable& sizes = call.g.sizes();
  const std::vector<SizeId> shape = call.at(x).shape;
  const SizeId groups = sizes.constant(num_groups);
  const auto width = sizes.exact_div(shape[1], groups);
  if (!width) return call.refuse("group norm with channels that the groups don't divide");
  const bp_dtype_t in = accumulator(call.at(x).dtype);
  // x as [n, groups, c / groups, …].
  std::vector<SizeId> grouped = shape;
  grouped[1] = *width;
  grouped.insert(grouped.begin() + 1, groups);
  const TensorId view = call.compute(call.at(x).dtype, grouped, [&](const std::vector<Index>& at) {
    return call.g.load(x, call.reshaped(at, grouped, shape));
  });
  const size_t num_dims = grouped.size() - 2;
  const auto statistic = [&](bool is_mean) {
    return call.compute(in, {shape[0], groups}, [&](const std::vector<Index>& at) {
      const Statistics s = statistics(call, view, at, num_dims, eps);
      return is_mean ? s.mean : s.rstd;
    });
  };
  const TensorId mean = statistic(true);
  const TensorId rstd = statistic(false);
  BP_TRY(call.give([&](const std::vector<Index>& at) {
    const std::vector<Index> row = {at[0], call.ix.quotient(at[1], *width)};
    const ExprId own = call.ex.apply(
        in, "($0 - $1) * $2",
        {call.ex.cast(call.g.load(x, at), in), call.g.load(mean, row), call.g.load(rstd, row)});
    return affine(call, own, weight, bias, {at[1]}, in);
  }));
  BP_TRY(call.give(mean, 1));
  return call.give(rstd, 2);
}

struct BatchNorm {
  TensorId x, weight, bias, mean, variance;
  double eps;
};

// The convolution that made x, if nobody else reads x and its weights are constants.
Call* foldable(OpCall& call, const BatchNorm& norm) {
  const Tensor& x = call.at(norm.x);
  if (x.kind != Tensor::Kind::called || call.num_uses(0) != 1) return nullptr;
  Call& made = call.g.calls()[static_cast<size_t>(x.source)];
  const bool is_plain = made.kind == Call::Kind::convolution && !made.is_transposed &&
                        made.addend < 0 && made.epilogue == Epilogue::none;
  for (const TensorId t : {made.b, made.bias, norm.weight, norm.bias, norm.mean, norm.variance}) {
    if (t >= 0 && !call.g.is_constant(t)) return nullptr;
  }
  return is_plain ? &made : nullptr;
}

// weight / √(variance + ε) of a channel.
ExprId scale_of(OpCall& call, const BatchNorm& norm, const Index& channel, bp_dtype_t in) {
  ExprId scale = call.ex.apply(
      in, "math_rsqrt($0 + $1)",
      {call.ex.cast(call.g.load(norm.variance, {channel}), in), call.ex.literal(norm.eps, in)});
  if (norm.weight >= 0) {
    scale = call.ex.apply(in, "$0 * $1",
                          {scale, call.ex.cast(call.g.load(norm.weight, {channel}), in)});
  }
  return scale;
}

// The convolution with scaled weights and another bias instead of the norm.
Status fold(OpCall& call, const BatchNorm& norm, Call made, bp_dtype_t in) {
  const Tensor weight = call.at(made.b);
  const TensorId old_bias = made.bias;
  const TensorId old_weight = made.b;
  made.b = call.compute(weight.dtype, weight.shape, [&](const std::vector<Index>& at) {
    return call.ex.apply(
        in, "$0 * $1",
        {call.ex.cast(call.g.load(old_weight, at), in), scale_of(call, norm, at[0], in)});
  });
  made.bias = call.compute(weight.dtype, {weight.shape[0]}, [&](const std::vector<Index>& at) {
    ExprId e = call.ex.cast(call.g.load(norm.mean, at), in);
    e = old_bias < 0
            ? call.ex.apply(in, "-$0", {e})
            : call.ex.apply(in, "$0 - $1", {call.ex.cast(call.g.load(old_bias, at), in), e});
    e = call.ex.apply(in, "$0 * $1", {e, scale_of(call, norm, at[0], in)});
    if (norm.bias < 0) return e;
    return call.ex.apply(in, "$0 + $1", {e, call.ex.cast(call.g.load(norm.bias, at), in)});
  });
  const Tensor x = call.at(norm.x);
  const TensorId folded = call.g.call(std::move(made), x.dtype, x.shape);
  call.g.at(folded).node = call.node_index();
  return call.give(folded);
}

// _native_batch_norm_legit_no_training(x, weight?, bias?, mean, variance, momentum, eps)
Status batch_norm(OpCall& call) {
  BatchNorm norm{};
  BP_ASSIGN_OR_RETURN(norm.x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(norm.weight, call.tensor_or_none(1));
  BP_ASSIGN_OR_RETURN(norm.bias, call.tensor_or_none(2));
  BP_ASSIGN_OR_RETURN(norm.mean, call.tensor(3));
  BP_ASSIGN_OR_RETURN(norm.variance, call.tensor(4));
  BP_ASSIGN_OR_RETURN(norm.eps, call.known_number(6));
  if (call.is_used(1) || call.is_used(2)) return call.refuse("the saved statistics are read");
  const bp_dtype_t in = accumulator(call.at(norm.x).dtype);
  if (const Call* made = foldable(call, norm)) return fold(call, norm, *made, in);
  return call.give([&](const std::vector<Index>& at) {
    ExprId e = call.ex.apply(
        in, "($0 - $1) * $2",
        {call.ex.cast(call.g.load(norm.x, at), in),
         call.ex.cast(call.g.load(norm.mean, {at[1]}), in), scale_of(call, norm, at[1], in)});
    if (norm.bias < 0) return e;
    return call.ex.apply(in, "$0 + $1", {e, call.ex.cast(call.g.load(norm.bias, {at[1]}), in)});
  });
}

constexpr OpRule kRules[] = {
    {"aten::native_layer_norm", layer_norm},
    {"aten::rms_norm", rms_norm},
    {"aten::native_group_norm", group_norm},
    {"aten::_native_batch_norm_legit_no_training", batch_norm},
};

}  // namespace

std::span<const OpRule> norm_rules() {
  return kRules;
}

}  // namespace backplane::cuda::compiler
