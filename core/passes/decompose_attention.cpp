// Products of tensors of any rank, and attention in its plain form: scores, mask, softmax, values.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "passes/decompose.hpp"

namespace backplane::passes {
namespace {

using Sizes = std::vector<SymInt>;

ValueRef cast(Rewriter& r, ValueRef x, DType dtype) {
  if (r.dtype(x) == dtype) return x;
  return r.emit("aten::_to_copy", {x}, {{"dtype", dtype}});
}

ValueRef view(Rewriter& r, ValueRef x, std::span<const SymInt> sizes) {
  return r.emit("aten::view", {x, r.integers(sizes)});
}

ValueRef turned(Rewriter& r, ValueRef x) {
  IntList dims;
  const int64_t rank = r.rank(x);
  for (int64_t d = 0; d < rank; ++d) dims.push_back({d, kNone});
  std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
  return r.emit("aten::permute", {x, dims});
}

// Batch sizes of both, broadcast.
Sizes broadcast(std::span<const SymInt> a, std::span<const SymInt> b) {
  Sizes out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const SymInt x = i < a.size() ? a[a.size() - 1 - i] : SymInt(1);
    const SymInt y = i < b.size() ? b[b.size() - 1 - i] : SymInt(1);
    out[out.size() - 1 - i] = x == SymInt(1) ? y : x;
  }
  return out;
}

ValueRef expand_to(Rewriter& r, ValueRef x, const Sizes& sizes) {
  if (r.type(x).sizes == sizes) return x;
  return r.emit("aten::expand", {x, r.integers(sizes)});
}

// a[…, n, k] · b[…, k, m] with batch dimensions that broadcast, through one bmm.
ValueRef batched(Rewriter& r, ValueRef a, ValueRef b) {
  const Sizes as = r.type(a).sizes;
  const Sizes bs = r.type(b).sizes;
  const Sizes batch =
      broadcast(std::span(as).first(as.size() - 2), std::span(bs).first(bs.size() - 2));
  const auto flat = [&](ValueRef x, const Sizes& sizes) {
    const SymInt rows = sizes[sizes.size() - 2];
    const SymInt columns = sizes.back();
    if (batch.size() == 1 && sizes.size() == 3 && sizes[0] == batch[0]) return x;
    Sizes full = batch;
    full.insert(full.end(), {rows, columns});
    const std::array<SymInt, 3> three = {r.symbols().product(batch), rows, columns};
    return view(r, expand_to(r, x, full), three);
  };
  const ValueRef y = r.emit("aten::bmm", {flat(a, as), flat(b, bs)});
  if (batch.size() == 1) return y;
  Sizes out = batch;
  out.insert(out.end(), {as[as.size() - 2], bs.back()});
  return view(r, y, out);
}

// a[…, n, k] · b[k, m]: all rows at once.
ValueRef by_matrix(Rewriter& r, ValueRef a, ValueRef b) {
  const Sizes as = r.type(a).sizes;
  if (as.size() == 2) return r.emit("aten::mm", {a, b});
  const std::array<SymInt, 2> two = {r.symbols().product(std::span(as).first(as.size() - 1)),
                                     as.back()};
  Sizes out(as.begin(), as.end() - 1);
  out.push_back(r.size(b, 1));
  return view(r, r.emit("aten::mm", {view(r, a, two), b}), out);
}

bool matmul(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  ValueRef a = args.tensor("self");
  ValueRef b = args.tensor("other");
  const bool row = r.rank(a) == 1;
  const bool column = r.rank(b) == 1;
  if (r.rank(a) < 1 || r.rank(b) < 1 || r.dtype(a) != r.dtype(b)) return false;
  if (row) a = r.emit("aten::unsqueeze", {a, int64_t{0}});
  if (column) b = r.emit("aten::unsqueeze", {b, int64_t{1}});
  ValueRef y = r.rank(b) == 2 ? by_matrix(r, a, b) : batched(r, a, b);
  if (row) y = r.emit("aten::squeeze.dim", {y, int64_t{-2}});
  if (column) y = r.emit("aten::squeeze.dim", {y, int64_t{-1}});
  r.replace(node, y);
  return true;
}

// Each head of keys or values serves `times` heads of queries.
ValueRef repeat_heads(Rewriter& r, ValueRef x, SymInt heads, int64_t times) {
  Sizes sizes = r.type(x).sizes;
  const size_t at = sizes.size() - 3;
  const ValueRef apart = r.emit("aten::unsqueeze", {x, static_cast<int64_t>(at) + 1});
  Sizes wide = sizes;
  wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(at) + 1, SymInt(times));
  sizes[at] = heads;
  return view(r, expand_to(r, apart, wide), sizes);
}

ValueRef number(Rewriter& r, DType dtype, double value) {
  return r.emit("aten::full", {IntList{}, value}, {{"dtype", dtype}});
}

ValueRef causal_mask(Rewriter& r, SymInt queries, SymInt keys) {
  const ValueRef i =
      r.emit("aten::unsqueeze", {r.emit("aten::arange", {r.integer(queries)}), int64_t{1}});
  const ValueRef j =
      r.emit("aten::unsqueeze", {r.emit("aten::arange", {r.integer(keys)}), int64_t{0}});
  return r.emit("aten::ge.Tensor", {i, j});
}

bool attention(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  if (args.number("dropout_p") != 0) return false;
  const ValueRef query = args.tensor("query");
  const DType dtype = r.dtype(query);
  if (r.rank(query) < 2 || !is_floating(dtype)) return false;
  const DType work = dtype == DType::f16 || dtype == DType::bf16 ? DType::f32 : dtype;
  const SymInt width = r.size(query, -1);
  // Both factors take half of the scale, as eager PyTorch does it: no overflow in the product.
  const bool by_width = args.is_none("scale") && !width.is_constant();
  const double scale = !args.is_none("scale") ? args.number("scale")
                       : width.is_constant()
                           ? 1.0 / std::sqrt(static_cast<double>(width.constant()))
                           : 1.0;
  const double half = std::sqrt(std::fabs(scale));
  const auto scaled = [&](ValueRef x, double sign) {
    if (!by_width) return r.emit("aten::mul.Scalar", {x, sign * half});
    const ValueRef root = r.emit(
        "aten::sqrt", {r.emit("aten::full", {IntList{}, r.integer(width)}, {{"dtype", work}})});
    return r.emit("aten::mul.Tensor", {x, r.emit("aten::rsqrt", {root})});
  };
  ValueRef key = args.tensor("key");
  ValueRef value = args.tensor("value");
  if (args.flag("enable_gqa") && r.rank(query) > 2) {
    const SymInt heads = r.size(query, -3);
    const SymInt served = r.size(key, -3);
    const bool known = heads.is_constant() && served.is_constant() && served.constant() >= 1;
    if (!known && heads != served) return false;
    const int64_t times = known ? heads.constant() / served.constant() : 1;
    if (times > 1) {
      key = repeat_heads(r, key, heads, times);
      value = repeat_heads(r, value, heads, times);
    }
  }
  const ValueRef q = scaled(cast(r, query, work), scale < 0 ? -1 : 1);
  const ValueRef k = scaled(cast(r, turned(r, key), work), 1);
  const auto product = [&](ValueRef a, ValueRef b) {
    return r.rank(a) == 2 && r.rank(b) == 2 ? r.emit("aten::mm", {a, b}) : batched(r, a, b);
  };
  ValueRef scores = product(q, k);
  const bool masked = !args.is_none("attn_mask");
  const double infinity = std::numeric_limits<double>::infinity();
  if (args.flag("is_causal")) {
    const ValueRef mask = causal_mask(r, r.size(query, -2), r.size(key, -2));
    scores = r.emit("aten::where.self", {mask, scores, number(r, work, -infinity)});
  } else if (masked) {
    const ValueRef mask = args.tensor("attn_mask");
    scores = r.dtype(mask) == DType::boolean
                 ? r.emit("aten::where.self", {mask, scores, number(r, work, -infinity)})
                 : r.emit("aten::add.Tensor", {scores, cast(r, mask, work)});
  }
  ValueRef weights = r.emit("aten::_softmax", {scores, int64_t{-1}, false});
  if (masked) {
    // A query that may look at nothing gets zeros.
    const ValueRef most = r.emit("aten::amax", {scores, IntList{{-1, kNone}}, true});
    weights = r.emit("aten::where.self",
                     {r.emit("aten::eq.Scalar", {most, -infinity}), number(r, work, 0.0), weights});
  }
  r.replace(node, cast(r, product(weights, cast(r, value, work)), dtype));
  return true;
}

constexpr std::array kRules = {
    DecompositionRule{"aten::linalg_matmul", matmul},
    DecompositionRule{"aten::matmul", matmul},
    DecompositionRule{"aten::scaled_dot_product_attention", attention},
};

}  // namespace

std::span<const DecompositionRule> attention_rules() {
  return kRules;
}

}  // namespace backplane::passes
