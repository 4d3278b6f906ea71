// Products under other names: outer, inner and cross products, Kronecker's, tensordot.
#include <algorithm>
#include <array>

#include "passes/decompose.hpp"
#include "passes/emit_views.hpp"

namespace backplane::passes {
namespace {

bool outer(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef column = args.tensor("self");
  const ValueRef row = args.tensor("vec2");
  if (r.rank(column) != 1 || r.rank(row) != 1) return false;
  r.replace(node,
            r.emit("aten::mul.Tensor", {r.emit("aten::unsqueeze", {column, int64_t{1}}), row}));
  return true;
}

// `x` as a matrix: its dimensions in this order, the first `rows` of them as rows.
ValueRef matrix(Rewriter& r, ValueRef x, const std::vector<int64_t>& order, size_t rows) {
  const ValueRef turned = order == identity(r.rank(x)) ? x : permute(r, x, order);
  const Sizes sizes = r.type(turned).sizes;
  if (!r.ok()) return turned;
  return view(r, turned,
              {r.symbols().product(std::span(sizes).first(rows)),
               r.symbols().product(std::span(sizes).subspan(rows))});
}

std::vector<int64_t> others(int64_t rank, const std::vector<int64_t>& dims) {
  std::vector<int64_t> out;
  for (int64_t d = 0; d < rank; ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) out.push_back(d);
  }
  return out;
}

// Sums over pairs of dimensions of a and b. A dimension of size 1 goes with any.
ValueRef dot_over(Rewriter& r, ValueRef a, ValueRef b, std::vector<int64_t> a_dims,
                  std::vector<int64_t> b_dims) {
  const auto sum = [&](ValueRef x, const int64_t& dim) {
    return r.emit("aten::sum.dim_IntList", {x, literals({&dim, 1}), true}, {{"dtype", r.dtype(x)}});
  };
  for (size_t i = 0; i < a_dims.size() && r.ok(); ++i) {
    a_dims[i] = r.wrap_dim(a_dims[i], r.rank(a));
    b_dims[i] = r.wrap_dim(b_dims[i], r.rank(b));
    const bool a_is_one = r.size(a, a_dims[i]) == SymInt(1);
    const bool b_is_one = r.size(b, b_dims[i]) == SymInt(1);
    if (b_is_one && !a_is_one) a = sum(a, a_dims[i]);
    if (a_is_one && !b_is_one) b = sum(b, b_dims[i]);
  }
  std::vector<int64_t> a_order = others(r.rank(a), a_dims);
  const std::vector<int64_t> columns = others(r.rank(b), b_dims);
  const size_t rows = a_order.size();
  Sizes sizes;
  for (const int64_t d : a_order) sizes.push_back(r.size(a, d));
  for (const int64_t d : columns) sizes.push_back(r.size(b, d));
  a_order.insert(a_order.end(), a_dims.begin(), a_dims.end());
  std::vector<int64_t> b_order = b_dims;
  b_order.insert(b_order.end(), columns.begin(), columns.end());
  const ValueRef left = matrix(r, a, a_order, rows);
  const ValueRef right = matrix(r, b, b_order, b_dims.size());
  return view(r, r.emit("aten::mm", {left, right}), sizes);
}

bool tensordot(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const std::vector<int64_t> a_dims = args.integers("dims_self");
  const std::vector<int64_t> b_dims = args.integers("dims_other");
  if (a_dims.size() != b_dims.size()) return false;
  r.replace(node, dot_over(r, args.tensor("self"), args.tensor("other"), a_dims, b_dims));
  return true;
}

bool inner(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef a = args.tensor("self");
  const ValueRef b = args.tensor("other");
  if (r.rank(a) == 0 || r.rank(b) == 0) {
    r.replace(node, r.emit("aten::mul.Tensor", {a, b}));
  } else {
    r.replace(node, dot_over(r, a, b, {-1}, {-1}));
  }
  return true;
}

bool vdot(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  ValueRef x = args.tensor("self");
  if (is_complex(r.dtype(x))) x = r.emit("aten::conj_physical", {x});
  r.replace(node, r.emit("aten::dot", {x, args.tensor("other")}));
  return true;
}

// Every element of a times all of b: the sizes of both interleaved, then multiplied.
bool kron(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef a = args.tensor("self");
  const ValueRef b = args.tensor("other");
  Sizes a_sizes = r.type(a).sizes;
  Sizes b_sizes = r.type(b).sizes;
  const size_t rank = std::max(a_sizes.size(), b_sizes.size());
  a_sizes.insert(a_sizes.begin(), rank - a_sizes.size(), SymInt(1));
  b_sizes.insert(b_sizes.begin(), rank - b_sizes.size(), SymInt(1));
  Sizes a_spread;
  Sizes b_spread;
  for (size_t d = 0; d < rank; ++d) {
    a_spread.insert(a_spread.end(), {a_sizes[d], SymInt(1)});
    b_spread.insert(b_spread.end(), {SymInt(1), b_sizes[d]});
  }
  const ValueRef product = r.emit("aten::mul.Tensor", {view(r, a, a_spread), view(r, b, b_spread)});
  r.replace(node, view(r, product, result_type(r, node).sizes));
  return true;
}

// (a × b)ᵢ = aᵢ₊₁ bᵢ₊₂ - aᵢ₊₂ bᵢ₊₁, indices modulo 3.
bool cross(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef a = args.tensor("self");
  const ValueRef b = args.tensor("other");
  if (r.rank(a) != r.rank(b) || r.rank(a) == 0) return false;
  int64_t dim = 0;
  if (args.is_none("dim")) {
    while (dim < r.rank(a) && r.size(a, dim) != SymInt(3)) ++dim;
    if (dim == r.rank(a)) return false;
  } else {
    dim = r.wrap_dim(args.integer("dim"), r.rank(a));
  }
  const auto from = [&](ValueRef x, int64_t shift) {
    return r.emit("aten::roll", {x, IntList{{-shift, kNone}}, IntList{{dim, kNone}}});
  };
  const ValueRef plus = r.emit("aten::mul.Tensor", {from(a, 1), from(b, 2)});
  const ValueRef minus = r.emit("aten::mul.Tensor", {from(a, 2), from(b, 1)});
  r.replace(node, r.emit("aten::sub.Tensor", {plus, minus}));
  return true;
}

bool trace(Rewriter& r, const Node& node) {
  const ValueRef x = r.args(node).tensor("self");
  if (r.rank(x) != 2) return false;
  r.replace(node, r.emit("aten::sum", {r.emit("aten::diagonal", {x})}));
  return true;
}

constexpr std::array kRules = {
    DecompositionRule{"aten::cross", cross},         DecompositionRule{"aten::ger", outer},
    DecompositionRule{"aten::inner", inner},         DecompositionRule{"aten::kron", kron},
    DecompositionRule{"aten::linalg_cross", cross},  DecompositionRule{"aten::outer", outer},
    DecompositionRule{"aten::tensordot", tensordot}, DecompositionRule{"aten::trace", trace},
    DecompositionRule{"aten::vdot", vdot},
};

}  // namespace

std::span<const DecompositionRule> product_rules() {
  return kRules;
}

}  // namespace backplane::passes
