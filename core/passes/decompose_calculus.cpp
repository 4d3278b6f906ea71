// Differences, gradients and integrals over sampled functions, rounded where PyTorch rounds.
#include <algorithm>
#include <array>
#include <string>

#include "passes/decompose.hpp"
#include "passes/emit_views.hpp"

namespace backplane::passes {
namespace {

ValueRef add(Rewriter& r, ValueRef a, ValueRef b) {
  return r.emit("aten::add.Tensor", {a, b});
}
ValueRef sub(Rewriter& r, ValueRef a, ValueRef b) {
  return r.emit("aten::sub.Tensor", {a, b});
}
ValueRef mul(Rewriter& r, ValueRef a, ValueRef b) {
  return r.emit("aten::mul.Tensor", {a, b});
}
ValueRef div(Rewriter& r, ValueRef a, ValueRef b) {
  return r.emit("aten::div.Tensor", {a, b});
}
ValueRef times(Rewriter& r, ValueRef a, double b) {
  return r.emit("aten::mul.Scalar", {a, b});
}
ValueRef over(Rewriter& r, ValueRef a, double b) {
  return r.emit("aten::div.Scalar", {a, b});
}

// All elements of `dim` but the last, and all but the first: neighbours.
ValueRef before(Rewriter& r, ValueRef x, int64_t dim) {
  return slice(r, x, dim, 0, r.symbols().sub(r.size(x, dim), 1));
}
ValueRef after(Rewriter& r, ValueRef x, int64_t dim) {
  return slice_from(r, x, dim, 1);
}

bool diff(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  ValueRef x = args.tensor("self");
  if (r.rank(x) == 0) return false;
  const int64_t dim = r.wrap_dim(args.integer("dim"), r.rank(x));
  std::vector<ValueRef> parts;
  if (!args.is_none("prepend")) parts.push_back(args.tensor("prepend"));
  parts.push_back(x);
  if (!args.is_none("append")) parts.push_back(args.tensor("append"));
  x = cat(r, parts, dim);
  int64_t times = args.integer("n");
  if (times < 0) return false;
  const SymInt size = r.size(x, dim);
  if (size.is_constant()) times = std::min(times, size.constant());
  const bool logical = r.dtype(x) == DType::boolean;
  for (; times > 0 && r.ok(); --times) {
    x = r.emit(logical ? "aten::logical_xor" : "aten::sub.Tensor",
               {after(r, x, dim), before(r, x, dim)});
  }
  r.replace(node, x);
  return true;
}

// -- gradient

// One element of a tensor of rank 1, counted from the end if negative.
ValueRef element(Rewriter& r, ValueRef x, int64_t index) {
  return r.emit("aten::select.int", {x, int64_t{0}, index});
}

// `count` slices of `x` along `dim` that begin at 0, or end at the end.
template <size_t Count>
std::array<ValueRef, Count> first_slices(Rewriter& r, ValueRef x, int64_t dim) {
  std::array<ValueRef, Count> out{};
  for (size_t i = 0; i < Count; ++i) {
    const auto at = static_cast<int64_t>(i);
    out[i] = slice(r, x, dim, at, at + 1);
  }
  return out;
}
template <size_t Count>
std::array<ValueRef, Count> last_slices(Rewriter& r, ValueRef x, int64_t dim) {
  std::array<ValueRef, Count> out{};
  const SymInt size = r.size(x, dim);
  for (size_t i = 0; i < Count; ++i) {
    const SymInt at = r.symbols().sub(size, static_cast<int64_t>(Count - i));
    out[i] = slice(r, x, dim, at, r.symbols().add(at, 1));
  }
  return out;
}
// The points before, at and after every inner one.
std::array<ValueRef, 3> inner_slices(Rewriter& r, ValueRef x, int64_t dim) {
  const SymInt size = r.size(x, dim);
  SymbolTable& symbols = r.symbols();
  return {slice(r, x, dim, 0, symbols.sub(size, 2)), slice(r, x, dim, 1, symbols.sub(size, 1)),
          slice_from(r, x, dim, 2)};
}

// Samples a constant `step` apart.
ValueRef even_gradient(Rewriter& r, ValueRef x, int64_t dim, double step, int64_t edge_order) {
  const auto inner = inner_slices(r, x, dim);
  const ValueRef center = over(r, over(r, sub(r, inner[2], inner[0]), step), 2);
  ValueRef first;
  ValueRef last;
  if (edge_order == 1) {
    const auto a = first_slices<2>(r, x, dim);
    const auto b = last_slices<2>(r, x, dim);
    first = over(r, sub(r, a[1], a[0]), step);
    last = over(r, sub(r, b[1], b[0]), step);
  } else {
    const auto a = first_slices<3>(r, x, dim);
    const auto b = last_slices<3>(r, x, dim);
    first = add(r, times(r, a[0], -1.5), times(r, a[1], 2));
    first = over(r, sub(r, first, times(r, a[2], 0.5)), step);
    last = sub(r, times(r, b[0], 0.5), times(r, b[1], 2));
    last = over(r, add(r, last, times(r, b[2], 1.5)), step);
  }
  const std::array parts = {first, center, last};
  return cat(r, parts, dim);
}

// The derivative in one of three points that lie h and k apart: their weights, for the point
// between them (inner) or for the one on h's side (edge).
using Weights = std::array<ValueRef, 3>;
Weights inner_weights(Rewriter& r, ValueRef h, ValueRef k) {
  const ValueRef both = add(r, h, k);
  return {div(r, r.emit("aten::neg", {k}), mul(r, h, both)), div(r, sub(r, k, h), mul(r, h, k)),
          div(r, h, mul(r, k, both))};
}
Weights edge_weights(Rewriter& r, ValueRef h, ValueRef k) {
  const ValueRef both = add(r, h, k);
  return {r.emit("aten::neg", {div(r, add(r, times(r, h, 2), k), mul(r, h, both))}),
          div(r, both, mul(r, h, k)), div(r, r.emit("aten::neg", {h}), mul(r, k, both))};
}
ValueRef weighted(Rewriter& r, const Weights& weights, const std::array<ValueRef, 3>& x) {
  return add(r, add(r, mul(r, weights[0], x[0]), mul(r, weights[1], x[1])),
             mul(r, weights[2], x[2]));
}

// Samples at `points`, a tensor of rank 1.
ValueRef uneven_gradient(Rewriter& r, ValueRef x, int64_t dim, ValueRef points,
                         int64_t edge_order) {
  const ValueRef steps = sub(r, after(r, points, 0), before(r, points, 0));
  Weights weights = inner_weights(r, before(r, steps, 0), after(r, steps, 0));
  for (ValueRef& weight : weights) {
    Sizes sizes(static_cast<size_t>(r.rank(x)), SymInt(1));
    sizes[static_cast<size_t>(dim)] = r.size(weight, 0);
    weight = view(r, weight, sizes);
  }
  const ValueRef center = weighted(r, weights, inner_slices(r, x, dim));
  ValueRef first;
  ValueRef last;
  if (edge_order == 1) {
    const auto a = first_slices<2>(r, x, dim);
    const auto b = last_slices<2>(r, x, dim);
    first = div(r, sub(r, a[1], a[0]), element(r, steps, 0));
    last = div(r, sub(r, b[1], b[0]), element(r, steps, -1));
  } else {
    first = weighted(r, edge_weights(r, element(r, steps, 0), element(r, steps, 1)),
                     first_slices<3>(r, x, dim));
    Weights back = edge_weights(r, element(r, steps, -1), element(r, steps, -2));
    for (ValueRef& weight : back) weight = r.emit("aten::neg", {weight});
    std::swap(back[0], back[2]);
    last = weighted(r, back, last_slices<3>(r, x, dim));
  }
  const std::array parts = {first, center, last};
  return cat(r, parts, dim);
}

// One number for all dimensions, or a list.
std::vector<double> numbers(Rewriter& r, const Argument& argument) {
  if (const auto* list = std::get_if<std::vector<double>>(&argument)) return *list;
  std::vector<double> out;
  if (const auto* one = std::get_if<double>(&argument)) return {*one};
  for (const SymInt value : r.expressions(argument)) {
    if (!value.is_constant()) (void)r.fail(Code::unsupported, "a spacing that is not a number");
    out.push_back(static_cast<double>(value.constant()));
  }
  return out;
}

bool gradient(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  std::vector<int64_t> dims = args.is_none("dim") ? identity(r.rank(x)) : args.integers("dim");
  const int64_t edge_order = args.integer("edge_order");
  if (dims.size() != node.outputs.size() || (edge_order != 1 && edge_order != 2)) return false;
  std::vector<ValueRef> points;
  std::vector<double> steps(dims.size(), 1);
  if (node.op.starts_with("aten::gradient.tensor")) {
    points = args.tensors("spacing");
    if (points.size() != dims.size()) return false;
  } else if (node.op != "aten::gradient.array" && !args.is_none("spacing")) {
    steps = numbers(r, args.raw("spacing"));
    if (steps.size() == 1) steps.resize(dims.size(), steps[0]);
    if (steps.size() != dims.size()) return false;
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = r.wrap_dim(dims[i], r.rank(x));
    r.replace(node.outputs[i], points.empty() ? even_gradient(r, x, dim, steps[i], edge_order)
                                              : uneven_gradient(r, x, dim, points[i], edge_order));
  }
  return true;
}

// -- integrals

// The distances of the points `x` for samples `y` along `dim`, so that they broadcast.
ValueRef distances(Rewriter& r, ValueRef x, ValueRef y, int64_t dim) {
  Sizes sizes = r.type(x).sizes;
  const auto rank = static_cast<size_t>(r.rank(y));
  if (sizes.size() == 1) {
    const SymInt count = sizes[0];
    sizes.assign(rank, SymInt(1));
    sizes[static_cast<size_t>(dim)] = count;
  } else if (sizes.size() < rank) {
    sizes.insert(sizes.begin(), rank - sizes.size(), SymInt(1));
  }
  const ValueRef points = view(r, x, sizes);
  return sub(r, after(r, points, dim), before(r, points, dim));
}

template <bool Cumulative>
bool trapezoid(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef y = args.tensor("y");
  if (r.rank(y) == 0) return false;
  const int64_t dim = r.wrap_dim(args.integer("dim"), r.rank(y));
  const bool by_points = node.op.ends_with(".x");
  if (!Cumulative && r.size(y, dim) == SymInt(0)) {
    r.replace(node, full(r, result_type(r, node), 0));
    return true;
  }
  const auto sum = [&](ValueRef x) {
    const std::array along = {dim};
    return Cumulative ? r.emit("aten::cumsum", {x, dim})
                      : r.emit("aten::sum.dim_IntList", {x, literals(along), false});
  };
  if (by_points) {
    const ValueRef pairs = add(r, before(r, y, dim), after(r, y, dim));
    r.replace(node, over(r, sum(mul(r, pairs, distances(r, args.tensor("x"), y, dim))), 2));
    return true;
  }
  const double step = args.number("dx");
  if (Cumulative) {
    r.replace(node, sum(times(r, add(r, before(r, y, dim), after(r, y, dim)), step / 2)));
    return true;
  }
  const ValueRef ends = add(r, r.emit("aten::select.int", {y, dim, int64_t{0}}),
                            r.emit("aten::select.int", {y, dim, int64_t{-1}}));
  r.replace(node, times(r, sub(r, sum(y), times(r, ends, 0.5)), step));
  return true;
}

constexpr std::array kRules = {
    DecompositionRule{"aten::cumulative_trapezoid.dx", trapezoid<true>},
    DecompositionRule{"aten::cumulative_trapezoid.x", trapezoid<true>},
    DecompositionRule{"aten::diff", diff},
    DecompositionRule{"aten::gradient.array", gradient},
    DecompositionRule{"aten::gradient.scalararray", gradient},
    DecompositionRule{"aten::gradient.scalarint", gradient},
    DecompositionRule{"aten::gradient.scalarrayarray", gradient},
    DecompositionRule{"aten::gradient.scalarrayint", gradient},
    DecompositionRule{"aten::gradient.tensorarray", gradient},
    DecompositionRule{"aten::gradient.tensorarrayint", gradient},
    DecompositionRule{"aten::trapezoid.dx", trapezoid<false>},
    DecompositionRule{"aten::trapezoid.x", trapezoid<false>},
    DecompositionRule{"aten::trapz.dx", trapezoid<false>},
    DecompositionRule{"aten::trapz.x", trapezoid<false>},
};

}  // namespace

std::span<const DecompositionRule> calculus_rules() {
  return kRules;
}

}  // namespace backplane::passes
