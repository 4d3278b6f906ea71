// Losses: distances between tensors element by element or class by class, then a mean or a sum.
#include <array>
#include <cmath>
#include <numbers>

#include "passes/decompose.hpp"

namespace backplane::passes {
namespace {

// PyTorch's numbers for what is done with the elements of a loss.
constexpr int64_t kNoReduction = 0;
constexpr int64_t kMean = 1;

ValueRef cast(Rewriter& r, ValueRef x, DType dtype) {
  if (r.dtype(x) == dtype) return x;
  return r.emit("aten::_to_copy", {x}, {{"dtype", dtype}});
}

ValueRef reduced(Rewriter& r, ValueRef loss, int64_t reduction) {
  if (reduction == kNoReduction) return loss;
  return r.emit(reduction == kMean ? "aten::mean" : "aten::sum", {loss});
}

bool finish(Rewriter& r, const Node& node, ValueRef loss) {
  r.replace(node, reduced(r, loss, r.args(node).integer("reduction")));
  return true;
}

ValueRef sub(Rewriter& r, ValueRef a, ValueRef b) {
  return r.emit("aten::sub.Tensor", {a, b});
}
ValueRef mul(Rewriter& r, ValueRef a, ValueRef b) {
  return r.emit("aten::mul.Tensor", {a, b});
}
ValueRef add(Rewriter& r, ValueRef a, ValueRef b) {
  return r.emit("aten::add.Tensor", {a, b});
}
ValueRef plus(Rewriter& r, ValueRef x, Argument number) {
  return r.emit("aten::add.Scalar", {x, std::move(number)});
}
ValueRef times(Rewriter& r, ValueRef x, double number) {
  return r.emit("aten::mul.Scalar", {x, number});
}
// number - x
ValueRef from(Rewriter& r, Argument number, ValueRef x) {
  return r.emit("aten::rsub.Scalar", {x, std::move(number)});
}
ValueRef neg(Rewriter& r, ValueRef x) {
  return r.emit("aten::neg", {x});
}
// x where `mask`, else 0.
ValueRef where(Rewriter& r, ValueRef mask, ValueRef x) {
  const ValueRef zero = r.emit("aten::full", {IntList{}, int64_t{0}}, {{"dtype", r.dtype(x)}});
  return r.emit("aten::where.self", {mask, x, zero});
}

// -- element by element

// Half types are subtracted and bent in float, and rounded once.
template <class F>
bool of_difference(Rewriter& r, const Node& node, F&& bend) {
  const NodeArgs args = r.args(node);
  ValueRef a = args.tensor("self");
  ValueRef b = args.tensor("target");
  const DType dtype = r.dtype(ValueRef{node.outputs[0]});
  if (!is_floating(dtype)) return false;
  const DType work = dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
  a = cast(r, a, work);
  b = cast(r, b, work);
  return finish(r, node, cast(r, bend(sub(r, a, b)), dtype));
}

bool mse_loss(Rewriter& r, const Node& node) {
  return of_difference(r, node, [&](ValueRef z) { return mul(r, z, z); });
}

bool l1_loss(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef z = sub(r, args.tensor("self"), args.tensor("target"));
  return finish(r, node, r.emit("aten::abs", {z}));
}

// |z| < bound: scale z² / 2, else slope (|z| - bound / 2).
ValueRef bent(Rewriter& r, ValueRef z, double bound, double scale, double slope) {
  const ValueRef size = r.emit("aten::abs", {z});
  const ValueRef near = times(r, mul(r, size, size), scale / 2);
  const ValueRef far = times(r, plus(r, size, -bound / 2), slope);
  return r.emit("aten::where.self", {r.emit("aten::lt.Scalar", {size, bound}), near, far});
}

bool smooth_l1_loss(Rewriter& r, const Node& node) {
  const double beta = r.args(node).number("beta");
  if (beta == 0) return l1_loss(r, node);
  if (beta < 0) (void)r.fail(Code::invalid_argument, "beta is negative");
  return of_difference(r, node, [&](ValueRef z) { return bent(r, z, beta, 1 / beta, 1); });
}

bool huber_loss(Rewriter& r, const Node& node) {
  const double delta = r.args(node).number("delta");
  if (delta <= 0) (void)r.fail(Code::invalid_argument, "delta has to be greater than 0");
  return of_difference(r, node, [&](ValueRef z) { return bent(r, z, delta, 1, delta); });
}

bool soft_margin_loss(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = mul(r, neg(r, args.tensor("self")), args.tensor("target"));
  return finish(r, node, r.emit("aten::log1p", {r.emit("aten::exp", {x})}));
}

bool binary_cross_entropy_with_logits(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const ValueRef target = args.tensor("target");
  ValueRef log_sigmoid = r.emit("aten::log_sigmoid", {x});
  if (!args.is_none("pos_weight")) {
    const ValueRef more = mul(r, plus(r, args.tensor("pos_weight"), int64_t{-1}), target);
    log_sigmoid = mul(r, log_sigmoid, plus(r, more, int64_t{1}));
  }
  ValueRef loss = sub(r, mul(r, from(r, int64_t{1}, target), x), log_sigmoid);
  if (!args.is_none("weight")) loss = mul(r, loss, args.tensor("weight"));
  return finish(r, node, loss);
}

bool kl_div(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const ValueRef target = args.tensor("target");
  if (args.flag("log_target"))
    return finish(r, node, mul(r, r.emit("aten::exp", {target}), sub(r, target, x)));
  const ValueRef entropy = r.emit("aten::xlogy.Tensor", {target, target});
  return finish(r, node, sub(r, entropy, mul(r, target, x)));
}

bool poisson_nll_loss(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("input");
  const ValueRef target = args.tensor("target");
  ValueRef loss;
  if (args.flag("log_input")) {
    loss = sub(r, r.emit("aten::exp", {x}), mul(r, target, x));
  } else {
    const ValueRef log = r.emit("aten::log", {plus(r, x, args.number("eps"))});
    loss = sub(r, x, mul(r, target, log));
  }
  if (args.flag("full")) {  // log(target!) by Stirling, from 2 on
    const ValueRef rough = sub(r, mul(r, target, r.emit("aten::log", {target})), target);
    const ValueRef log = r.emit("aten::log", {times(r, target, 2 * std::numbers::pi)});
    const ValueRef many = r.emit("aten::gt.Scalar", {target, int64_t{1}});
    loss = add(r, loss, where(r, many, add(r, rough, times(r, log, 0.5))));
  }
  return finish(r, node, loss);
}

bool margin_ranking_loss(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef z = sub(r, args.tensor("input1"), args.tensor("input2"));
  const ValueRef loss = plus(r, mul(r, neg(r, args.tensor("target")), z), args.raw("margin"));
  return finish(r, node, r.emit("aten::clamp_min", {loss, int64_t{0}}));
}

// target is 1 or -1; where it is neither, both terms count.
bool hinge_embedding_loss(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const ValueRef target = args.tensor("target");
  const ValueRef room = r.emit("aten::clamp_min", {from(r, args.number("margin"), x), int64_t{0}});
  const ValueRef apart = where(r, r.emit("aten::ne.Scalar", {target, int64_t{1}}), room);
  const ValueRef alike = where(r, r.emit("aten::ne.Scalar", {target, int64_t{-1}}), x);
  return finish(r, node, add(r, apart, alike));
}

// -- vectors

ValueRef distance(Rewriter& r, ValueRef a, ValueRef b, double p, double eps, bool keepdim) {
  const ValueRef z = plus(r, sub(r, a, b), eps);
  return r.emit("aten::linalg_vector_norm", {z, p, IntList{{-1, kNone}}, keepdim});
}

bool pairwise_distance(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  if (r.rank(ValueRef{node.outputs[0]}) == 0 && r.rank(args.tensor("x1")) == 0) return false;
  r.replace(node, distance(r, args.tensor("x1"), args.tensor("x2"), args.number("p"),
                           args.number("eps"), args.flag("keepdim")));
  return true;
}

bool triplet_margin_loss(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef anchor = args.tensor("anchor");
  const ValueRef positive = args.tensor("positive");
  const ValueRef negative = args.tensor("negative");
  const auto apart = [&](ValueRef a, ValueRef b) {
    return distance(r, a, b, args.number("p"), args.number("eps"), false);
  };
  const ValueRef near = apart(anchor, positive);
  ValueRef far = apart(anchor, negative);
  if (args.flag("swap")) far = r.emit("aten::minimum", {far, apart(positive, negative)});
  const ValueRef loss = sub(r, plus(r, near, args.number("margin")), far);
  return finish(r, node, r.emit("aten::clamp_min", {loss, int64_t{0}}));
}

bool cosine_similarity(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const DType dtype = r.dtype(ValueRef{node.outputs[0]});
  const int64_t dim = args.integer("dim");
  if (!is_floating(dtype)) return false;
  ValueRef a = cast(r, args.tensor("x1"), dtype);
  ValueRef b = cast(r, args.tensor("x2"), dtype);
  // `dim` counts in the common shape.
  const ValueRef both = r.rank(a) == r.rank(b) ? a : add(r, a, b);
  for (ValueRef* x : {&a, &b}) {
    if (r.rank(*x) != r.rank(both))
      *x = r.emit("aten::expand", {*x, r.integers(r.type(both).sizes)});
  }
  const auto unit = [&](ValueRef x) {
    const ValueRef norm = r.emit("aten::linalg_vector_norm", {x, 2.0, IntList{{dim, kNone}}, true});
    const ValueRef bounded = r.emit("aten::clamp_min", {norm, args.number("eps")});
    return r.emit("aten::div.Tensor", {x, bounded});
  };
  const ValueRef product = mul(r, unit(a), unit(b));
  r.replace(node, r.emit("aten::sum.dim_IntList", {product, IntList{{dim, kNone}}}));
  return true;
}

bool cosine_embedding_loss(Rewriter& r, const Node& node) {
  constexpr double kEpsilon = 1e-12;
  const NodeArgs args = r.args(node);
  const ValueRef a = args.tensor("input1");
  const ValueRef b = args.tensor("input2");
  const ValueRef target = args.tensor("target");
  const IntList dim = {{r.rank(target), kNone}};
  const auto dot = [&](ValueRef x, ValueRef y) {
    return r.emit("aten::sum.dim_IntList", {mul(r, x, y), dim});
  };
  const ValueRef squares = mul(r, plus(r, dot(a, a), kEpsilon), plus(r, dot(b, b), kEpsilon));
  const ValueRef cosine = r.emit("aten::div.Tensor", {dot(a, b), r.emit("aten::sqrt", {squares})});
  const ValueRef above = plus(r, cosine, -args.number("margin"));
  const ValueRef alike =
      where(r, r.emit("aten::eq.Scalar", {target, int64_t{1}}), from(r, int64_t{1}, cosine));
  const ValueRef apart = where(r, r.emit("aten::eq.Scalar", {target, int64_t{-1}}),
                               r.emit("aten::clamp_min", {above, int64_t{0}}));
  return finish(r, node, add(r, alike, apart));
}

constexpr std::array kRules = {
    DecompositionRule{"aten::binary_cross_entropy_with_logits", binary_cross_entropy_with_logits},
    DecompositionRule{"aten::cosine_embedding_loss", cosine_embedding_loss},
    DecompositionRule{"aten::cosine_similarity", cosine_similarity},
    DecompositionRule{"aten::hinge_embedding_loss", hinge_embedding_loss},
    DecompositionRule{"aten::huber_loss", huber_loss},
    DecompositionRule{"aten::kl_div", kl_div},
    DecompositionRule{"aten::l1_loss", l1_loss},
    DecompositionRule{"aten::margin_ranking_loss", margin_ranking_loss},
    DecompositionRule{"aten::mse_loss", mse_loss},
    DecompositionRule{"aten::pairwise_distance", pairwise_distance},
    DecompositionRule{"aten::poisson_nll_loss", poisson_nll_loss},
    DecompositionRule{"aten::smooth_l1_loss", smooth_l1_loss},
    DecompositionRule{"aten::soft_margin_loss", soft_margin_loss},
    DecompositionRule{"aten::triplet_margin_loss", triplet_margin_loss},
};

}  // namespace

std::span<const DecompositionRule> loss_rules() {
  return kRules;
}

}  // namespace backplane::passes
