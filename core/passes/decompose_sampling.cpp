// Padding, shuffling of channels, sampling along grids, dropout.
#include <array>
#include <cmath>
#include <cstdint>

#include "passes/decompose.hpp"

namespace backplane::passes {
namespace {

constexpr int64_t kEnd = INT64_MAX;

ValueRef slice(Rewriter& r, ValueRef x, int64_t dim, int64_t begin, int64_t end) {
  if (begin == 0 && end == kEnd) return x;
  return r.emit("aten::slice.Tensor", {x, dim, begin, end, int64_t{1}});
}

// Each side goes on with the other end; less than nothing is cut off first.
ValueRef wrapped(Rewriter& r, ValueRef x, int64_t dim, int64_t left, int64_t right) {
  x = slice(r, x, dim, left < 0 ? -left : 0, right < 0 ? right : kEnd);
  const SymInt size = r.size(x, dim);
  if (size.is_constant() && std::max(left, right) > size.constant())
    (void)r.fail(Code::invalid_argument, "circular padding goes round more than once");
  ValueList parts;
  if (left > 0) parts.ids.push_back(slice(r, x, dim, -left, kEnd).id);
  parts.ids.push_back(x.id);
  if (right > 0) parts.ids.push_back(slice(r, x, dim, 0, right).id);
  return parts.ids.size() == 1 ? x : r.emit("aten::cat", {parts, dim});
}

bool pad_circular(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const std::vector<int64_t> pad = args.integers("pad");
  ValueRef x = args.tensor("self");
  const int64_t rank = r.rank(x);
  if (pad.size() % 2 != 0 || static_cast<int64_t>(pad.size() / 2) > rank)
    (void)r.fail(Code::invalid_argument,
                 "pad has to give two numbers for each of the last dimensions");
  for (size_t i = 0; i < pad.size() / 2 && r.ok(); ++i) {
    x = wrapped(r, x, rank - 1 - static_cast<int64_t>(i), pad[2 * i], pad[2 * i + 1]);
  }
  r.replace(node, x);
  return true;
}

bool pad(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const std::string_view mode = args.text("mode");
  if (mode == "circular") return pad_circular(r, node);
  if (mode == "constant") {
    const Argument value = args.is_none("value") ? Argument(int64_t{0}) : args.raw("value");
    r.replace(node, r.emit("aten::constant_pad_nd", {x, args.raw("pad"), value}));
    return true;
  }
  const size_t spatial = args.sizes("pad").size() / 2;
  if (spatial < 1 || spatial > 3 || (mode != "reflect" && mode != "replicate")) return false;
  const std::string op =
      std::string(mode == "reflect" ? "aten::reflection_pad" : "aten::replication_pad") +
      std::to_string(spatial) + "d";
  r.replace(node, r.emit(op, {x, args.raw("pad")}));
  return true;
}

// [n, groups · c, …] becomes [n, c · groups, …].
bool channel_shuffle(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const SymInt groups = args.size("groups");
  const std::vector<SymInt> sizes = r.type(x).sizes;
  if (sizes.size() < 3)
    (void)r.fail(Code::invalid_argument, "the input has less than 3 dimensions");
  if (groups == SymInt(0)) (void)r.fail(Code::invalid_argument, "groups is 0");
  if (!r.ok()) return true;
  std::vector<SymInt> apart = sizes;
  apart[1] = r.symbols().floor_div(sizes[1], groups);
  apart.insert(apart.begin() + 1, groups);
  IntList dims;
  for (size_t d = 0; d < apart.size(); ++d) dims.push_back({static_cast<int64_t>(d), kNone});
  std::swap(dims[1], dims[2]);
  const ValueRef turned =
      r.emit("aten::permute", {r.emit("aten::view", {x, r.integers(apart)}), dims});
  r.replace(node, r.emit("aten::view", {turned, r.integers(sizes)}));
  return true;
}

bool grid_sampler(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("input");
  r.replace(node, r.emit(r.rank(x) == 4 ? "aten::grid_sampler_2d" : "aten::grid_sampler_3d",
                         {x, args.tensor("grid"), args.integer("interpolation_mode"),
                          args.integer("padding_mode"), args.flag("align_corners")}));
  return true;
}

// A 1 is put at each class: a class that is out of range is refused there.
bool one_hot(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const int64_t classes = args.integer("num_classes");
  if (classes <= 0) return false;
  const ValueRef x = args.tensor("self");
  std::vector<SymInt> sizes = r.type(x).sizes;
  sizes.emplace_back(classes);
  const ValueRef zeros =
      r.emit("aten::full", {r.integers(sizes), int64_t{0}}, {{"dtype", DType::i64}});
  r.replace(node,
            r.emit("aten::scatter.value",
                   {zeros, int64_t{-1}, r.emit("aten::unsqueeze", {x, int64_t{-1}}), int64_t{1}}));
  return true;
}

bool cdist(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  r.replace(node, r.emit("aten::_cdist_forward", {args.tensor("x1"), args.tensor("x2"),
                                                  args.number("p"), args.raw("compute_mode")}));
  return true;
}

bool pdist(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  r.replace(node, r.emit("aten::_pdist_forward", {args.tensor("self"), args.number("p")}));
  return true;
}

// -- dropout in training; without it nothing is done

bool is_idle(const NodeArgs& args) {
  return !args.flag("train") || args.number("p") == 0;
}

bool dropout(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("input");
  if (is_idle(args)) {
    r.replace(node, x);
    return true;
  }
  const auto out = r.emit_all("aten::native_dropout", {x, args.number("p"), true});
  if (r.ok()) r.replace(node, out[0]);
  return true;
}

// 1 with a probability of 1 - p, else 0: for each element or for each channel.
ValueRef survivors(Rewriter& r, ValueRef x, double p, bool by_channel) {
  std::vector<SymInt> sizes = r.type(x).sizes;
  if (by_channel && sizes.size() < 2)
    (void)r.fail(Code::invalid_argument, "feature dropout needs 2 dimensions");
  for (size_t d = 2; d < sizes.size() && by_channel; ++d) sizes[d] = 1;
  const ValueRef chances =
      r.emit("aten::full", {r.integers(sizes), 1 - p}, {{"dtype", r.dtype(x)}});
  return r.emit("aten::bernoulli", {chances});
}

bool feature_dropout(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("input");
  const double p = args.number("p");
  if (is_idle(args)) {
    r.replace(node, x);
    return true;
  }
  const double scale = p == 1 ? 0 : 1 / (1 - p);
  const ValueRef noise = r.emit("aten::mul.Scalar", {survivors(r, x, p, true), scale});
  r.replace(node, r.emit("aten::mul.Tensor", {x, noise}));
  return true;
}

// What is dropped becomes the lowest value of selu; mean and variance are kept.
template <bool ByChannel>
bool alpha_dropout(Rewriter& r, const Node& node) {
  constexpr double kAlpha = 1.7580993408473766;
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("input");
  const double p = args.number("p");
  if (is_idle(args)) {
    r.replace(node, x);
    return true;
  }
  if (p == 1) {
    r.replace(node, r.emit("aten::mul.Scalar", {x, 0.0}));
    return true;
  }
  const double scale = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  const ValueRef kept = survivors(r, x, p, ByChannel);
  const ValueRef lost =
      r.emit("aten::mul.Scalar", {r.emit("aten::add.Scalar", {kept, int64_t{-1}}), kAlpha * scale});
  const ValueRef shift = r.emit("aten::add.Scalar", {lost, kAlpha * scale * p});
  const ValueRef noise = r.emit("aten::mul.Scalar", {kept, scale});
  r.replace(node, r.emit("aten::add.Tensor", {r.emit("aten::mul.Tensor", {x, noise}), shift}));
  return true;
}

bool rrelu(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const double lower = args.number("lower");
  const double upper = args.number("upper");
  if (!args.flag("training")) {
    r.replace(node, r.emit("aten::leaky_relu", {x, (lower + upper) / 2}));
    return true;
  }
  const ValueRef slope = r.emit("aten::uniform", {x, lower, upper});
  r.replace(node, r.emit("aten::where.self", {r.emit("aten::gt.Scalar", {x, int64_t{0}}), x,
                                              r.emit("aten::mul.Tensor", {x, slope})}));
  return true;
}

constexpr std::array kRules = {
    DecompositionRule{"aten::_pad_circular", pad_circular},
    DecompositionRule{"aten::alpha_dropout", alpha_dropout<false>},
    DecompositionRule{"aten::cdist", cdist},
    DecompositionRule{"aten::channel_shuffle", channel_shuffle},
    DecompositionRule{"aten::dropout", dropout},
    DecompositionRule{"aten::feature_alpha_dropout", alpha_dropout<true>},
    DecompositionRule{"aten::feature_dropout", feature_dropout},
    DecompositionRule{"aten::grid_sampler", grid_sampler},
    DecompositionRule{"aten::native_channel_shuffle", channel_shuffle},
    DecompositionRule{"aten::one_hot", one_hot},
    DecompositionRule{"aten::pad", pad},
    DecompositionRule{"aten::pdist", pdist},
    DecompositionRule{"aten::rrelu", rrelu},
};

}  // namespace

std::span<const DecompositionRule> sampling_rules() {
  return kRules;
}

}  // namespace backplane::passes
