// Layers with a gate, a slope or a table; normalisation by a batch's own statistics; attention that
// is asked for its sums too.
#include <array>
#include <limits>

#include "passes/decompose.hpp"

namespace backplane::passes {
namespace {

using Sizes = std::vector<SymInt>;

ValueRef cast(Rewriter& r, ValueRef x, DType dtype) {
  if (r.dtype(x) == dtype) return x;
  return r.emit("aten::_to_copy", {x}, {{"dtype", dtype}});
}

// Half types are computed in float and rounded once.
DType work_type(DType dtype) {
  return dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
}

ValueRef view(Rewriter& r, ValueRef x, std::span<const SymInt> sizes) {
  return r.emit("aten::view", {x, r.integers(sizes)});
}

// The first half times the sigmoid of the second.
bool glu(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const DType dtype = r.dtype(x);
  if (!is_floating(dtype)) return false;
  if (r.rank(x) == 0)
    (void)r.fail(Code::invalid_argument, "a tensor without dimensions has no halves");
  const int64_t dim = r.wrap_dim(args.integer("dim"), r.rank(x));
  const SymInt size = r.size(x, dim);
  if (size.is_constant() && size.constant() % 2 != 0)
    (void)r.fail(Code::invalid_argument, "the size " + std::to_string(size.constant()) +
                                             " of dimension " + std::to_string(dim) +
                                             " is not even");
  const SymInt middle = r.symbols().floor_div(size, 2);
  const auto half = [&](Argument begin, Argument end) {
    const ValueRef part = r.emit("aten::slice.Tensor", {x, dim, std::move(begin), std::move(end)});
    return cast(r, part, work_type(dtype));
  };
  const ValueRef a = half(int64_t{0}, r.integer(middle));
  const ValueRef b = half(r.integer(middle), r.integer(size));
  r.replace(node, cast(r, r.emit("aten::mul.Tensor", {a, r.emit("aten::sigmoid", {b})}), dtype));
  return true;
}

bool prelu(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  ValueRef weight = args.tensor("weight");
  if (r.rank(weight) != r.rank(x)) {
    Sizes sizes(static_cast<size_t>(r.rank(x)), SymInt(1));
    const SymInt count = r.symbols().product(r.type(weight).sizes);
    if (sizes.size() > 1) sizes[1] = count;
    if (sizes.size() == 1) sizes[0] = count;
    weight = view(r, weight, sizes);
  }
  r.replace(node, r.emit("aten::where.self", {r.emit("aten::gt.Scalar", {x, int64_t{0}}), x,
                                              r.emit("aten::mul.Tensor", {x, weight})}));
  return true;
}

// y[…, o] = Σ x1[…, i] weight[o, i, j] x2[…, j] + bias[o]
bool bilinear(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x1 = args.tensor("input1");
  const ValueRef x2 = args.tensor("input2");
  const ValueRef weight = args.tensor("weight");
  if (r.rank(x1) < 1 || r.rank(x1) != r.rank(x2) || r.rank(weight) != 3)
    (void)r.fail(Code::invalid_argument,
                 "the inputs have to be of one rank and the weight of rank 3");
  if (!r.ok()) return true;
  const Sizes w = r.type(weight).sizes;
  Sizes lead = r.type(x1).sizes;
  lead.pop_back();
  const SymInt rows = r.symbols().product(lead);
  const ValueRef turned =
      r.emit("aten::permute", {weight, IntList{{1, kNone}, {0, kNone}, {2, kNone}}});
  const ValueRef wide = view(r, turned, std::array{w[1], r.symbols().mul(w[0], w[2])});
  const ValueRef half = r.emit("aten::mm", {view(r, x1, std::array{rows, r.size(x1, -1)}), wide});
  const ValueRef y =
      r.emit("aten::bmm", {view(r, half, std::array{rows, w[0], w[2]}),
                           view(r, x2, std::array{rows, r.size(x2, -1), SymInt(1)})});
  lead.push_back(w[0]);
  ValueRef out = view(r, y, lead);
  if (!args.is_none("bias")) out = r.emit("aten::add.Tensor", {out, args.tensor("bias")});
  r.replace(node, out);
  return true;
}

bool embedding_bag(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  int64_t padding = -1;
  if (node.schema->index_of("padding_idx") >= 0 && !args.is_none("padding_idx")) {
    const SymInt rows = r.size(args.tensor("weight"), 0);
    padding = args.integer("padding_idx");
    if (padding < 0 && !rows.is_constant()) return false;
    if (padding < 0) padding += rows.constant();
  }
  std::vector<TensorType> types;
  for (const ValueId out : node.outputs) {
    types.push_back(out == kNone ? TensorType{DType::i64, {0}, {}} : r.type(ValueRef{out}));
  }
  std::vector<NamedArgument> named;
  for (const char* name : {"weight", "indices", "offsets", "scale_grad_by_freq", "mode", "sparse",
                           "per_sample_weights", "include_last_offset"})
    named.push_back({name, args.raw(name)});
  named.push_back({"padding_idx", padding});
  const auto out = r.emit_as("aten::_embedding_bag", std::move(named), std::move(types));
  for (size_t i = 0; i < out.size() && r.ok(); ++i) {
    if (node.outputs[i] != kNone) r.replace(node.outputs[i], out[i]);
  }
  return true;
}

// -- normalisation

bool batch_norm(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("input");
  const bool running = !args.is_none("running_mean") && !args.is_none("running_var");
  if (r.rank(x) < 2 && r.symbols().product(r.type(x).sizes) == SymInt(0)) {
    r.replace(node, x);  // nothing to normalise, and no channels to ask for
    return true;
  }
  if (args.flag("training") && running) return false;
  if (!args.flag("training") && !running)
    (void)r.fail(Code::invalid_argument,
                 "running_mean and running_var are needed outside of training");
  const auto out =
      running
          ? r.emit_all("aten::_native_batch_norm_legit_no_training",
                       {x, args.raw("weight"), args.raw("bias"), args.tensor("running_mean"),
                        args.tensor("running_var"), args.number("momentum"), args.number("eps")})
          : r.emit_all("aten::_native_batch_norm_legit.no_stats",
                       {x, args.raw("weight"), args.raw("bias"), true, args.number("momentum"),
                        args.number("eps")});
  if (r.ok()) r.replace(node, out[0]);
  return true;
}

// Instances are channels of a batch of one.
bool instance_norm(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("input");
  const Sizes sizes = r.type(x).sizes;
  if (sizes.size() < 2) (void)r.fail(Code::invalid_argument, "the input has no channels");
  if (!r.ok()) return true;
  Sizes flat = sizes;
  flat[0] = 1;
  flat[1] = r.symbols().mul(sizes[0], sizes[1]);
  const auto repeated = [&](std::string_view name) -> Argument {
    if (args.is_none(name)) return None{};
    return r.emit("aten::repeat", {args.tensor(name), r.integers(std::array{sizes[0]})});
  };
  const ValueRef y =
      r.emit("aten::batch_norm",
             {view(r, x, flat), repeated("weight"), repeated("bias"), repeated("running_mean"),
              repeated("running_var"), args.flag("use_input_stats"), args.number("momentum"),
              args.number("eps"), false});
  r.replace(node, view(r, y, sizes));
  return true;
}

// -- attention

// log Σ exp of each query's scores.
ValueRef score_sums(Rewriter& r, const NodeArgs& args, DType dtype) {
  const ValueRef query = cast(r, args.tensor("query"), dtype);
  const ValueRef key = cast(r, args.tensor("key"), dtype);
  const SymInt width = r.size(query, -1);
  const ValueRef turned = r.emit("aten::transpose.int", {key, int64_t{-2}, int64_t{-1}});
  ValueRef scores = r.emit("aten::matmul", {query, turned});
  if (args.is_none("scale")) {
    const ValueRef number = r.emit("aten::full", {IntList{}, r.integer(width)}, {{"dtype", dtype}});
    scores = r.emit("aten::mul.Tensor", {scores, r.emit("aten::rsqrt", {number})});
  } else {
    scores = r.emit("aten::mul.Scalar", {scores, args.number("scale")});
  }
  const auto count = [&](ValueRef x, int64_t at) {
    const ValueRef numbers = r.emit("aten::arange", {r.integer(r.size(x, -2))});
    return r.emit("aten::unsqueeze", {numbers, at});
  };
  if (args.flag("is_causal")) {
    const ValueRef seen =
        r.emit("aten::ge.Tensor", {count(query, int64_t{1}), count(key, int64_t{0})});
    const double infinity = std::numeric_limits<double>::infinity();
    const ValueRef never = r.emit("aten::full", {IntList{}, -infinity}, {{"dtype", dtype}});
    scores = r.emit("aten::where.self", {seen, scores, never});
  }
  if (!args.is_none("attn_mask"))
    scores = r.emit("aten::add.Tensor", {scores, cast(r, args.tensor("attn_mask"), dtype)});
  const ValueRef most = r.emit("aten::amax", {scores, IntList{{-1, kNone}}, true});
  const ValueRef powers = r.emit("aten::exp", {r.emit("aten::sub.Tensor", {scores, most})});
  const ValueRef sum = r.emit("aten::sum.dim_IntList", {powers, IntList{{-1, kNone}}});
  return r.emit("aten::add.Tensor",
                {r.emit("aten::log", {sum}), r.emit("aten::squeeze.dim", {most, int64_t{-1}})});
}

bool flash_attention(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  if (args.number("dropout_p") != 0) return false;
  if (node.outputs[0] != kNone) {
    r.replace(node.outputs[0],
              r.emit("aten::scaled_dot_product_attention",
                     {args.tensor("query"), args.tensor("key"), args.tensor("value"),
                      args.raw("attn_mask"), 0.0, args.flag("is_causal")},
                     {{"scale", args.raw("scale")}}));
  }
  if (node.outputs.size() > 1 && node.outputs[1] != kNone)
    r.replace(node.outputs[1], score_sums(r, args, r.dtype(ValueRef{node.outputs[1]})));
  return true;
}

constexpr std::array kRules = {
    DecompositionRule{"aten::_scaled_dot_product_flash_attention_for_cpu", flash_attention},
    DecompositionRule{"aten::batch_norm", batch_norm},
    DecompositionRule{"aten::bilinear", bilinear},
    DecompositionRule{"aten::embedding_bag", embedding_bag},
    DecompositionRule{"aten::embedding_bag.padding_idx", embedding_bag},
    DecompositionRule{"aten::glu", glu},
    DecompositionRule{"aten::instance_norm", instance_norm},
    DecompositionRule{"aten::prelu", prelu},
};

}  // namespace

std::span<const DecompositionRule> layer_rules() {
  return kRules;
}

}  // namespace backplane::passes
