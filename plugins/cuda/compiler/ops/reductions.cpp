// Reductions over dimensions.
#include <algorithm>

#include "cuda/compiler/ops/op_call.hpp"

namespace backplane::cuda::compiler {
namespace {

// What is reduced: x over `dims`, and variables for them.
struct Over {
  TensorId x;
  std::vector<size_t> dims;
  bool keeps_dims;

  // The index of x at which a result's element, and one value of `over`, lie.
  [[nodiscard]] std::vector<Index> index(const OpCall& call, const std::vector<Index>& at,
                                         const std::vector<AtomId>& over) const {
    std::vector<Index> from;
    size_t next = 0;
    size_t reduced = 0;
    for (size_t d = 0; d < call.rank(x); ++d) {
      const bool is_over = std::find(dims.begin(), dims.end(), d) != dims.end();
      if (is_over) from.push_back(call.ix.of(over[reduced++]));
      if (!is_over) from.push_back(at[next]);
      if (!is_over || keeps_dims) ++next;
    }
    return from;
  }
  [[nodiscard]] std::vector<AtomId> variables(OpCall& call) const {
    std::vector<AtomId> out;
    for (size_t d = 0; d < call.rank(x); ++d) {
      if (std::find(dims.begin(), dims.end(), d) != dims.end())
        out.push_back(call.ix.variable(call.at(x).shape[d]));
    }
    return out;
  }
  // How many elements, as a number of `dtype`.
  [[nodiscard]] ExprId count(OpCall& call, bp_dtype_t dtype) const {
    SizeId n = call.g.sizes().constant(1);
    for (const size_t d : dims) n = call.g.sizes().multiply(n, call.at(x).shape[d]);
    if (const auto known = call.g.sizes().known(n)) return call.ex.literal(*known, dtype);
    return call.ex.cast(call.ex.index({n, {}}), dtype);
  }
  // The reduction of f(element) at `at`.
  [[nodiscard]] ExprId reduce(OpCall& call, Reduction kind, const std::vector<Index>& at,
                              const std::function<ExprId(ExprId)>& f) const {
    const std::vector<AtomId> over = variables(call);
    const ExprId element = f(call.g.load(x, index(call, at, over)));
    return over.empty() ? element : call.ex.reduce(kind, element, over);
  }
};

Result<Over> over(OpCall& call, size_t dims_arg, size_t keep_arg) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  Over out{x, {}, keep_arg < call.num_args() && call.flag(keep_arg)};
  if (dims_arg >= call.num_args()) {
    for (size_t d = 0; d < call.rank(x); ++d) out.dims.push_back(d);
    return out;
  }
  BP_ASSIGN_OR_RETURN(out.dims, call.dims(dims_arg, call.rank(x)));
  return out;
}

constexpr size_t kNoArg = SIZE_MAX;

// sum, prod, mean: elements in the result's dtype, sums in its accumulator.
Status sum(OpCall& call) {
  const std::string_view op = call.op();
  const bool has_dims =
      op == "aten::sum.dim_IntList" || op == "aten::mean.dim" || op == "aten::prod.dim_int";
  BP_ASSIGN_OR_RETURN(const Over o, over(call, has_dims ? 1 : kNoArg, has_dims ? 2 : kNoArg));
  const bp_dtype_t in = accumulator(call.out_dtype());
  const bool is_product = op.starts_with("aten::prod");
  return call.give([&](const std::vector<Index>& at) {
    const ExprId all =
        o.reduce(call, is_product ? Reduction::product : Reduction::sum, at, [&](ExprId e) {
          return call.ex.cast(is_floating(call.out_dtype()) ? call.ex.cast(e, call.out_dtype()) : e,
                              in);
        });
    if (!op.starts_with("aten::mean")) return all;
    return call.ex.apply(in, "$0 / $1", {all, o.count(call, in)});
  });
}

Status extreme(OpCall& call) {
  const bool has_dims = call.op().starts_with("aten::a");  // amax, amin; max and min take all
  BP_ASSIGN_OR_RETURN(const Over o, over(call, has_dims ? 1 : kNoArg, has_dims ? 2 : kNoArg));
  const bool is_max = call.op().find("max") != std::string_view::npos;
  return call.give([&](const std::vector<Index>& at) {
    return o.reduce(call, is_max ? Reduction::max : Reduction::min, at, [](ExprId e) { return e; });
  });
}

// The place of the largest or smallest, in row-major order of the reduced dimensions.
ExprId place(OpCall& call, const Over& o, bool is_max, const std::vector<Index>& at) {
  const std::vector<AtomId> vars = o.variables(call);
  if (vars.empty()) return call.ex.literal(int64_t{0}, sdk::kInt64);
  std::vector<Index> indices;
  std::vector<SizeId> shape;
  for (const AtomId v : vars) {
    indices.push_back(call.ix.of(v));
    shape.push_back(call.ix.atom(v).extent);
  }
  const ExprId position = call.ex.index(call.ix.dot(indices, call.g.dense(shape)));
  return call.ex.reduce(is_max ? Reduction::arg_max : Reduction::arg_min,
                        call.g.load(o.x, o.index(call, at, vars)), vars, position);
}

// max.dim, min.dim: values, and where they are.
Status extreme_along(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const Over o, over(call, 1, 2));
  const bool is_max = call.op() == "aten::max.dim";
  BP_TRY(call.give([&](const std::vector<Index>& at) {
    return o.reduce(call, is_max ? Reduction::max : Reduction::min, at, [](ExprId e) { return e; });
  }));
  return call.give([&](const std::vector<Index>& at) { return place(call, o, is_max, at); }, 1);
}
Status arg_extreme(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const Over o, over(call, 1, 2));
  const bool is_max = call.op() == "aten::argmax";
  return call.give([&](const std::vector<Index>& at) { return place(call, o, is_max, at); });
}

Status truth(OpCall& call) {
  const bool has_dims = call.op().find('.') != std::string_view::npos;
  BP_ASSIGN_OR_RETURN(const Over o, over(call, has_dims ? 1 : kNoArg, has_dims ? 2 : kNoArg));
  const bool is_any = call.op().starts_with("aten::any");
  return call.give([&](const std::vector<Index>& at) {
    return o.reduce(call, is_any ? Reduction::any : Reduction::all, at,
                    [&](ExprId e) { return call.ex.cast(e, sdk::kBool); });
  });
}

// Σ (x − mean)² / (n − correction), in two passes.
Status variance(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const Over o, over(call, 1, 3));
  double correction = 1;
  if (!call.is_none(2)) {
    BP_ASSIGN_OR_RETURN(correction, call.known_number(2));
  }
  const bp_dtype_t in = accumulator(call.out_dtype());
  const bool is_root = call.op().starts_with("aten::std");
  return call.give([&](const std::vector<Index>& at) {
    const ExprId n = o.count(call, in);
    const auto value = [&](ExprId e) { return call.ex.cast(e, in); };
    const ExprId mean =
        call.ex.apply(in, "$0 / $1", {o.reduce(call, Reduction::sum, at, value), n});
    const ExprId squares = o.reduce(call, Reduction::sum, at, [&](ExprId e) {
      return call.ex.apply(in, "($0 - $1) * ($0 - $1)", {value(e), mean});
    });
    return call.ex.apply(
        in, is_root ? "math_sqrt($0 / math_max($1 - $2, 0))" : "$0 / math_max($1 - $2, 0)",
        {squares, n, call.ex.literal(correction, in)});
  });
}

// (Σ |x|ᵖ)^(1/p) for p of 1, 2 and infinity.
Status vector_norm(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const Over o, over(call, 2, 3));
  BP_ASSIGN_OR_RETURN(const double order, call.known_number(1));
  if (order != 1 && order != 2)
    return call.refuse("a norm that is neither the first nor the second");
  const bp_dtype_t in = accumulator(call.out_dtype());
  return call.give([&](const std::vector<Index>& at) {
    const ExprId all = o.reduce(call, Reduction::sum, at, [&](ExprId e) {
      return call.ex.apply(in, order == 1 ? "math_abs($0)" : "$0 * $0", {call.ex.cast(e, in)});
    });
    return order == 1 ? all : call.ex.apply(in, "math_sqrt($0)", {all});
  });
}

// The sum, or product, of x[0 … i]. Each element sums for itself: for short dimensions.
Status cumulative(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  if (call.rank(x) == 0) return call.give(x);
  BP_ASSIGN_OR_RETURN(const size_t dim, call.dim(1, call.rank(x)));
  const bp_dtype_t in = accumulator(call.out_dtype());
  const bool is_product = call.op() == "aten::cumprod";
  if (call.g.sizes().bound(call.at(x).shape[dim]) > 4096)
    return call.refuse("a cumulative sum over more than 4096 elements");
  return call.give([&](const std::vector<Index>& at) {
    const AtomId j = call.ix.variable(call.at(x).shape[dim]);
    std::vector<Index> from = at;
    from[dim] = call.ix.of(j);
    const Index ahead = call.ix.add(at[dim], call.ix.scale(from[dim], call.g.sizes().constant(-1)));
    const ExprId element = call.ex.cast(call.ex.cast(call.g.load(x, from), call.out_dtype()), in);
    const ExprId counted = call.ex.guard({ahead}, {call.at(x).shape[dim]}, element,
                                         call.ex.literal(int64_t{is_product ? 1 : 0}, in));
    return call.ex.reduce(is_product ? Reduction::product : Reduction::sum, counted, {j});
  });
}

Status softmax(OpCall& call) {
  const bool is_log = call.op() == "aten::_log_softmax";
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  if (call.rank(x) == 0) return call.refuse("softmax of a number");
  BP_ASSIGN_OR_RETURN(const size_t dim, call.dim(1, call.rank(x)));
  const Over o{x, {dim}, true};
  const bp_dtype_t in = accumulator(call.at(x).dtype);
  return call.give([&](const std::vector<Index>& at) {
    const auto value = [&](ExprId e) { return call.ex.cast(e, in); };
    const ExprId top = o.reduce(call, Reduction::max, at, value);
    const auto power = [&](ExprId e) {
      return call.ex.apply(in, "math_exp($0 - $1)", {value(e), top});
    };
    const ExprId all = o.reduce(call, Reduction::sum, at, power);
    const ExprId own = call.g.load(x, at);
    if (is_log) return call.ex.apply(in, "$0 - $1 - math_log($2)", {value(own), top, all});
    return call.ex.apply(in, "$0 / $1", {power(own), all});
  });
}

constexpr OpRule kRules[] = {
    {"aten::sum", sum},
    {"aten::sum.dim_IntList", sum},
    {"aten::mean", sum},
    {"aten::mean.dim", sum},
    {"aten::prod", sum},
    {"aten::prod.dim_int", sum},
    {"aten::amax", extreme},
    {"aten::amin", extreme},
    {"aten::max", extreme},
    {"aten::min", extreme},
    {"aten::max.dim", extreme_along},
    {"aten::min.dim", extreme_along},
    {"aten::argmax", arg_extreme},
    {"aten::argmin", arg_extreme},
    {"aten::any", truth},
    {"aten::any.dim", truth},
    {"aten::any.dims", truth},
    {"aten::all", truth},
    {"aten::all.dim", truth},
    {"aten::all.dims", truth},
    {"aten::var.correction", variance},
    {"aten::std.correction", variance},
    {"aten::linalg_vector_norm", vector_norm},
    {"aten::cumsum", cumulative},
    {"aten::cumprod", cumulative},
    {"aten::_softmax", softmax},
    {"aten::_log_softmax", softmax},
};

}  // namespace

std::span<const OpRule> reduction_rules() {
  return kRules;
}

}  // namespace backplane::cuda::compiler
