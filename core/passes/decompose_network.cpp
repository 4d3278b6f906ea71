// Layers: composites over convolution, addmm, normalisations and pools.
#include <algorithm>
#include <array>
#include <cmath>

#include "passes/decompose.hpp"

namespace backplane::passes {
namespace {

Argument tensor_or_none(const NodeArgs& args, std::string_view name) {
  return args.raw(name);
}

IntList repeated(int64_t value, size_t count) {
  return IntList(count, IntElement{value, kNone});
}

IntList ints_of(const std::vector<int64_t>& numbers, size_t count) {
  IntList list;
  for (const int64_t n : numbers) list.push_back({n, kNone});
  if (list.size() == 1) list.resize(count, list[0]);
  return list;
}

// Without a batch dimension: with one, and back.
struct Batched {
  ValueRef x;
  bool added;
};
Batched with_batch(Rewriter& r, ValueRef x, size_t spatial) {
  if (r.rank(x) == static_cast<int64_t>(spatial) + 1)
    return {r.emit("aten::unsqueeze", {x, int64_t{0}}), true};
  return {x, false};
}
ValueRef without_batch(Rewriter& r, ValueRef y, bool added) {
  return added ? r.emit("aten::squeeze.dim", {y, int64_t{0}}) : y;
}

template <size_t Spatial>
bool conv(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const Batched in = with_batch(r, args.tensor("input"), Spatial);
  const ValueRef y =
      r.emit("aten::convolution",
             {in.x, args.tensor("weight"), tensor_or_none(args, "bias"),
              ints_of(args.integers("stride"), Spatial), ints_of(args.integers("padding"), Spatial),
              ints_of(args.integers("dilation"), Spatial), false, repeated(0, Spatial),
              args.integer("groups")});
  r.replace(node, without_batch(r, y, in.added));
  return true;
}

// padding = 'valid' or 'same': what 'same' lacks on the right is padded before.
template <size_t Spatial>
bool conv_named_padding(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef weight = args.tensor("weight");
  const IntList dilation = ints_of(args.integers("dilation"), Spatial);
  std::vector<SymInt> padding(Spatial, SymInt(0));
  Batched in = with_batch(r, args.tensor("input"), Spatial);
  if (args.text("padding") == "same") {
    SymbolTable& symbols = r.symbols();
    std::vector<SymInt> extra;
    for (size_t d = 0; d < Spatial; ++d) {
      const SymInt kernel = r.size(weight, static_cast<int64_t>(d) + 2);
      const SymInt total = symbols.mul(dilation[d].literal, symbols.sub(kernel, 1));
      padding[d] = symbols.floor_div(total, 2);
      extra.insert(extra.begin(), {SymInt(0), symbols.sub(total, symbols.mul(2, padding[d]))});
    }
    const auto is_zero = [](SymInt size) { return size == SymInt(0); };
    if (!std::all_of(extra.begin(), extra.end(), is_zero))
      in.x = r.emit("aten::constant_pad_nd", {in.x, r.integers(extra), 0.0});
  }
  const ValueRef y =
      r.emit("aten::convolution",
             {in.x, weight, tensor_or_none(args, "bias"), ints_of(args.integers("stride"), Spatial),
              r.integers(padding), dilation, false, repeated(0, Spatial), args.integer("groups")});
  r.replace(node, without_batch(r, y, in.added));
  return true;
}

template <size_t Spatial>
bool conv_transpose(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const Batched in = with_batch(r, args.tensor("input"), Spatial);
  const ValueRef y =
      r.emit("aten::convolution",
             {in.x, args.tensor("weight"), tensor_or_none(args, "bias"),
              ints_of(args.integers("stride"), Spatial), ints_of(args.integers("padding"), Spatial),
              ints_of(args.integers("dilation"), Spatial), true,
              ints_of(args.integers("output_padding"), Spatial), args.integer("groups")});
  r.replace(node, without_batch(r, y, in.added));
  return true;
}

ValueRef matrix(Rewriter& r, ValueRef x, SymInt rows, SymInt columns) {
  const std::array<SymInt, 2> sizes = {rows, columns};
  return r.emit("aten::view", {x, r.integers(sizes)});
}

// x · wᵀ + b over the last dimension; a weight of one dimension is one row.
bool linear(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("input");
  const ValueRef weight = args.tensor("weight");
  const auto& sizes = r.type(x).sizes;
  if (r.rank(weight) == 1) {
    ValueRef y = r.emit("aten::matmul", {x, weight});
    if (!args.is_none("bias")) y = r.emit("aten::add.Tensor", {y, args.tensor("bias")});
    r.replace(node, y);
    return true;
  }
  if (r.rank(weight) != 2 || sizes.empty()) return false;
  const std::vector<SymInt> lead(sizes.begin(), sizes.end() - 1);
  const SymInt rows = r.symbols().product(lead);
  const ValueRef flat = lead.size() == 1 ? x : matrix(r, x, rows, sizes.back());
  const ValueRef turned = r.emit("aten::permute", {weight, IntList{{1, kNone}, {0, kNone}}});
  ValueRef y = args.is_none("bias") ? r.emit("aten::mm", {flat, turned})
                                    : r.emit("aten::addmm", {args.tensor("bias"), flat, turned});
  if (lead.size() != 1)
    y = r.emit("aten::view", {y, r.integers(r.type(ValueRef{node.outputs[0]}).sizes)});
  r.replace(node, y);
  return true;
}

bool layer_norm(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("input");
  if (!is_floating(r.dtype(x))) return false;
  const auto out = r.emit_all(
      "aten::native_layer_norm",
      {x, args.raw("normalized_shape"), args.raw("weight"), args.raw("bias"), args.number("eps")});
  if (r.ok()) r.replace(node, out[0]);
  return true;
}

bool group_norm(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("input");
  const auto sizes = r.type(x).sizes;
  if (sizes.size() < 2) return false;
  const SymInt area = r.symbols().product(std::span(sizes).subspan(2));
  const auto out =
      r.emit_all("aten::native_group_norm",
                 {x, args.raw("weight"), args.raw("bias"), r.integer(sizes[0]), r.integer(sizes[1]),
                  r.integer(area), args.integer("num_groups"), args.number("eps")});
  if (r.ok()) r.replace(node, out[0]);
  return true;
}

ValueRef cast(Rewriter& r, ValueRef x, DType dtype) {
  if (r.dtype(x) == dtype) return x;
  return r.emit("aten::_to_copy", {x}, {{"dtype", dtype}});
}

bool rms_norm(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("input");
  const DType dtype = r.dtype(x);
  if (!is_floating(dtype)) return false;
  const DType work = dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
  const double eps = !args.is_none("eps") ? args.number("eps")
                     : work == DType::f64 ? 0x1p-52
                                          : 0x1p-23;
  const size_t count = args.sizes("normalized_shape").size();
  IntList dims;
  for (size_t d = 1; d <= count; ++d) dims.push_back({-static_cast<int64_t>(d), kNone});
  const ValueRef wide = cast(r, x, work);
  const ValueRef mean =
      r.emit("aten::mean.dim", {r.emit("aten::mul.Tensor", {wide, wide}), dims, true});
  ValueRef y = r.emit("aten::mul.Tensor",
                      {wide, r.emit("aten::rsqrt", {r.emit("aten::add.Scalar", {mean, eps})})});
  if (!args.is_none("weight")) {
    const ValueRef weight = args.tensor("weight");
    y = r.dtype(weight) == dtype ? r.emit("aten::mul.Tensor", {y, cast(r, weight, work)})
                                 : r.emit("aten::mul.Tensor", {cast(r, y, dtype), weight});
  }
  r.replace(node, cast(r, y, r.dtype(ValueRef{node.outputs[0]})));
  return true;
}

template <bool Log>
bool softmax(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const DType to = r.dtype(ValueRef{node.outputs[0]});
  const ValueRef x = cast(r, args.tensor("self"), to);
  r.replace(node,
            r.emit(Log ? "aten::_log_softmax" : "aten::_softmax", {x, args.integer("dim"), false}));
  return true;
}

template <size_t Spatial>
bool max_pool(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const char* op = Spatial == 2 ? "aten::max_pool2d_with_indices" : "aten::max_pool3d_with_indices";
  const auto out =
      r.emit_all(op, {args.tensor("self"), args.raw("kernel_size"), args.raw("stride"),
                      args.raw("padding"), args.raw("dilation"), args.flag("ceil_mode")});
  if (r.ok()) r.replace(node, out[0]);
  return true;
}

// To 1 × 1 it is the mean; else a pool of its own.
bool adaptive_avg_pool2d(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const std::vector<SymInt> size = args.sizes("output_size");
  const ValueRef x = args.tensor("self");
  const bool one = std::all_of(size.begin(), size.end(), [](SymInt s) { return s == SymInt(1); });
  if (one && is_floating(r.dtype(x))) {
    r.replace(node, r.emit("aten::mean.dim", {x, IntList{{-1, kNone}, {-2, kNone}}, true}));
  } else {
    r.replace(node, r.emit("aten::_adaptive_avg_pool2d", {x, args.raw("output_size")}));
  }
  return true;
}

// What older exports record wrongly: the last states have the sizes of the first ones. Stays whole.
bool recurrent(Rewriter& r, const Node& node) {
  std::vector<ValueId> states;
  for_each_value(r.args(node).raw("hx"), [&](ValueId id) { states.push_back(id); });
  for (size_t i = 0; i < states.size() && i + 1 < node.outputs.size(); ++i) {
    if (node.outputs[i + 1] == kNone) continue;
    TensorType& type = r.graph().value(node.outputs[i + 1]).type;
    type = {type.dtype, r.type(ValueRef{states[i]}).sizes, {}};
  }
  return false;
}

constexpr std::array kRules = {
    DecompositionRule{"aten::adaptive_avg_pool2d", adaptive_avg_pool2d},
    DecompositionRule{"aten::conv1d", conv<1>},
    DecompositionRule{"aten::conv1d.padding", conv_named_padding<1>},
    DecompositionRule{"aten::conv2d", conv<2>},
    DecompositionRule{"aten::conv2d.padding", conv_named_padding<2>},
    DecompositionRule{"aten::conv3d", conv<3>},
    DecompositionRule{"aten::conv3d.padding", conv_named_padding<3>},
    DecompositionRule{"aten::conv_transpose1d", conv_transpose<1>},
    DecompositionRule{"aten::conv_transpose2d.input", conv_transpose<2>},
    DecompositionRule{"aten::conv_transpose3d.input", conv_transpose<3>},
    DecompositionRule{"aten::group_norm", group_norm},
    DecompositionRule{"aten::gru.input", recurrent},
    DecompositionRule{"aten::layer_norm", layer_norm},
    DecompositionRule{"aten::linear", linear},
    DecompositionRule{"aten::log_softmax.int", softmax<true>},
    DecompositionRule{"aten::lstm.input", recurrent},
    DecompositionRule{"aten::max_pool2d", max_pool<2>},
    DecompositionRule{"aten::max_pool3d", max_pool<3>},
    DecompositionRule{"aten::rms_norm", rms_norm},
    DecompositionRule{"aten::rnn_relu.input", recurrent},
    DecompositionRule{"aten::rnn_tanh.input", recurrent},
    DecompositionRule{"aten::softmax.int", softmax<false>},
};

}  // namespace

std::span<const DecompositionRule> network_rules() {
  return kRules;
}

}  // namespace backplane::passes
