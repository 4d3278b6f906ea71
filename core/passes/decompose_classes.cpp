// Losses over classes: the negative log-likelihood and what is built on it.
#include <array>
#include <limits>

#include "passes/decompose.hpp"

namespace backplane::passes {
namespace {

constexpr int64_t kNoReduction = 0;
constexpr int64_t kMean = 1;

ValueRef view(Rewriter& r, ValueRef x, std::span<const SymInt> sizes) {
  return r.emit("aten::view", {x, r.integers(sizes)});
}

struct Likelihood {
  ValueRef x, target;
  Argument weight;
  int64_t reduction;
  Argument ignored;
};

// The loss, and the sum of the weights that it counted.
std::vector<ValueRef> likelihood(Rewriter& r, const Likelihood& l) {
  const auto call = [&](const char* op, ValueRef x, ValueRef target) {
    return r.emit_all(op, {x, target, l.weight, l.reduction, l.ignored});
  };
  const std::vector<SymInt> sizes = r.type(l.x).sizes;
  if (sizes.size() <= 2) return call("aten::nll_loss_forward", l.x, l.target);
  if (sizes.size() == 4) return call("aten::nll_loss2d_forward", l.x, l.target);
  const SymInt area = r.symbols().product(std::span(sizes).subspan(2));
  const std::array<SymInt, 4> flat = {sizes[0], sizes[1], SymInt(1), area};
  const std::array<SymInt, 3> places = {sizes[0], SymInt(1), area};
  const std::vector<SymInt> shape = r.type(l.target).sizes;
  std::vector<ValueRef> out =
      call("aten::nll_loss2d_forward", view(r, l.x, flat), view(r, l.target, places));
  if (l.reduction == kNoReduction && r.ok()) out[0] = view(r, out[0], shape);
  return out;
}

bool nll_loss(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const auto out = likelihood(r, {args.tensor("self"), args.tensor("target"), args.raw("weight"),
                                  args.integer("reduction"), args.raw("ignore_index")});
  if (r.ok()) r.replace(node, out[0]);
  return true;
}

// Weights by class, beside a tensor whose classes are dimension 1 (or 0 of 1).
ValueRef weighted(Rewriter& r, ValueRef x, ValueRef weight) {
  std::vector<SymInt> sizes(static_cast<size_t>(std::max<int64_t>(r.rank(x), 1)), SymInt(1));
  sizes[sizes.size() > 1 ? 1 : 0] = r.size(weight, 0);
  return r.emit("aten::mul.Tensor", {x, sizes.size() > 1 ? view(r, weight, sizes) : weight});
}

ValueRef sum_over(Rewriter& r, ValueRef x, int64_t dim) {
  return r.emit("aten::sum.dim_IntList", {x, IntList{{dim, kNone}}});
}

// The target gives a probability to each class.
bool soft_target(Rewriter& r, const Node& node, ValueRef log, int64_t dim) {
  const NodeArgs args = r.args(node);
  ValueRef target = args.tensor("target");
  const SymInt classes = r.size(log, dim);
  const double smoothing = args.number("label_smoothing");
  if (smoothing > 0) {
    if (!classes.is_constant()) return false;
    target = r.emit("aten::add.Scalar", {r.emit("aten::mul.Scalar", {target, 1 - smoothing}),
                                         smoothing / static_cast<double>(classes.constant())});
  }
  ValueRef product = r.emit("aten::mul.Tensor", {log, target});
  if (!args.is_none("weight")) product = weighted(r, product, args.tensor("weight"));
  ValueRef loss = r.emit("aten::neg", {sum_over(r, product, dim)});
  const int64_t reduction = args.integer("reduction");
  if (reduction != kNoReduction)
    loss = r.emit(reduction == kMean ? "aten::mean" : "aten::sum", {loss});
  r.replace(node, loss);
  return true;
}

// A part of the probability is spread over all classes.
bool smoothed(Rewriter& r, const Node& node, ValueRef log, int64_t dim) {
  const NodeArgs args = r.args(node);
  const SymInt classes = r.size(log, dim);
  if (!classes.is_constant()) return false;
  const ValueRef target = args.tensor("target");
  const int64_t reduction = args.integer("reduction");
  const auto hard =
      likelihood(r, {log, target, args.raw("weight"), reduction, args.raw("ignore_index")});
  const ValueRef all = args.is_none("weight") ? log : weighted(r, log, args.tensor("weight"));
  const ValueRef ignored = r.emit("aten::eq.Scalar", {target, args.raw("ignore_index")});
  ValueRef smooth = r.emit("aten::masked_fill.Scalar",
                           {r.emit("aten::neg", {sum_over(r, all, dim)}), ignored, 0.0});
  if (reduction != kNoReduction) smooth = r.emit("aten::sum", {smooth});
  if (!r.ok()) return true;
  if (reduction == kMean) smooth = r.emit("aten::div.Tensor", {smooth, hard[1]});
  const double smoothing = args.number("label_smoothing");
  const double share = smoothing / static_cast<double>(classes.constant());
  r.replace(node, r.emit("aten::add.Tensor", {r.emit("aten::mul.Scalar", {hard[0], 1 - smoothing}),
                                              r.emit("aten::mul.Scalar", {smooth, share})}));
  return true;
}

bool cross_entropy_loss(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const ValueRef target = args.tensor("target");
  const bool soft = r.rank(x) == r.rank(target);
  const double smoothing = args.number("label_smoothing");
  if (!is_floating(r.dtype(x)) || soft != is_floating(r.dtype(target))) return false;
  if (!(smoothing >= 0 && smoothing <= 1))
    (void)r.fail(Code::invalid_argument, "label_smoothing is outside of [0, 1]");
  const int64_t dim = r.rank(x) == 1 ? 0 : 1;
  if (!r.size(x, dim).is_constant() && smoothing > 0) return false;
  const ValueRef log = r.emit("aten::_log_softmax", {x, dim, false});
  if (soft) return soft_target(r, node, log, dim);
  if (smoothing > 0) return smoothed(r, node, log, dim);
  const auto out = likelihood(
      r, {log, target, args.raw("weight"), args.integer("reduction"), args.raw("ignore_index")});
  if (r.ok()) r.replace(node, out[0]);
  return true;
}

bool multilabel_margin_loss(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const auto out =
      r.emit_all("aten::multilabel_margin_loss_forward",
                 {args.tensor("self"), args.tensor("target"), args.integer("reduction")});
  if (r.ok()) r.replace(node, out[0]);
  return true;
}

// The likelihood of each sequence; its mean counts each by the length of its target.
bool ctc_loss(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const bool listed = node.op == "aten::ctc_loss.IntList";
  const auto out =
      r.emit_all(listed ? "aten::_ctc_loss" : "aten::_ctc_loss.Tensor",
                 {args.tensor("log_probs"), args.tensor("targets"), args.raw("input_lengths"),
                  args.raw("target_lengths"), args.integer("blank"), args.flag("zero_infinity")});
  if (!r.ok()) return true;
  ValueRef loss = out[0];
  const DType dtype = r.dtype(loss);
  if (args.flag("zero_infinity")) {
    const double infinity = std::numeric_limits<double>::infinity();
    loss = r.emit("aten::masked_fill.Scalar",
                  {loss, r.emit("aten::eq.Scalar", {loss, infinity}), 0.0});
  }
  const int64_t reduction = args.integer("reduction");
  if (reduction == kMean) {
    ValueRef lengths;
    if (listed) {
      ValueList list;
      for (const int64_t length : args.integers("target_lengths")) {
        list.ids.push_back(r.emit("aten::full", {IntList{{1, kNone}}, std::max<int64_t>(length, 1)},
                                  {{"dtype", dtype}})
                               .id);
      }
      lengths = r.emit("aten::cat", {list, int64_t{0}});
    } else {
      lengths = r.emit("aten::_to_copy",
                       {r.emit("aten::clamp_min", {args.tensor("target_lengths"), int64_t{1}})},
                       {{"dtype", dtype}});
    }
    loss = r.emit("aten::mean", {r.emit("aten::div.Tensor", {loss, lengths})});
  } else if (reduction != kNoReduction) {
    loss = r.emit("aten::sum", {loss});
  }
  r.replace(node, loss);
  return true;
}

constexpr std::array kRules = {
    DecompositionRule{"aten::cross_entropy_loss", cross_entropy_loss},
    DecompositionRule{"aten::ctc_loss.IntList", ctc_loss},
    DecompositionRule{"aten::ctc_loss.Tensor", ctc_loss},
    DecompositionRule{"aten::multilabel_margin_loss", multilabel_margin_loss},
    DecompositionRule{"aten::nll_loss", nll_loss},
    DecompositionRule{"aten::nll_loss2d", nll_loss},
    DecompositionRule{"aten::nll_loss_nd", nll_loss},
};

}  // namespace

std::span<const DecompositionRule> class_loss_rules() {
  return kRules;
}

}  // namespace backplane::passes
