// Shapes: composites over view, permute, slice, cat and their like.
#include <algorithm>
#include <array>

#include "passes/decompose.hpp"
#include "passes/emit_views.hpp"

namespace backplane::passes {
namespace {

bool to_result_sizes(Rewriter& r, const Node& node) {
  const ValueRef x = r.args(node).tensor("self");
  r.replace(node, view(r, x, result_type(r, node).sizes));
  return true;
}

bool swap(Rewriter& r, const Node& node, ValueRef x, int64_t a, int64_t b) {
  std::vector<int64_t> dims = identity(r.rank(x));
  if (dims.empty()) {
    r.replace(node, x);
    return true;
  }
  std::swap(dims[static_cast<size_t>(r.wrap_dim(a, r.rank(x)))],
            dims[static_cast<size_t>(r.wrap_dim(b, r.rank(x)))]);
  r.replace(node, permute(r, x, dims));
  return true;
}

bool transpose(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const auto& names = node.schema->parameters;
  return swap(r, node, args.tensor("self"), args.integer(names[1].name),
              args.integer(names[2].name));
}

bool matrix_transpose(Rewriter& r, const Node& node) {
  const ValueRef x = r.args(node).tensor("self");
  if (r.rank(x) < 2) {
    r.replace(node, x);
    return true;
  }
  return swap(r, node, x, -2, -1);
}

// Transposed, and conjugated where that says something.
bool adjoint(Rewriter& r, const Node& node) {
  const ValueRef x = r.args(node).tensor("self");
  if (!is_complex(r.dtype(x))) return matrix_transpose(r, node);
  const ValueRef conjugate = r.emit("aten::conj_physical", {x});
  if (r.rank(x) < 2) {
    r.replace(node, conjugate);
    return true;
  }
  return swap(r, node, conjugate, -2, -1);
}

bool numpy_t(Rewriter& r, const Node& node) {
  const ValueRef x = r.args(node).tensor("self");
  std::vector<int64_t> dims = identity(r.rank(x));
  std::reverse(dims.begin(), dims.end());
  r.replace(node, permute(r, x, dims));
  return true;
}

bool move_dims(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const int64_t rank = r.rank(x);
  const std::vector<int64_t> from = args.integers("source");
  const std::vector<int64_t> to = args.integers("destination");
  if (from.size() != to.size()) return false;
  std::vector<int64_t> dims(static_cast<size_t>(rank), -1);
  std::vector<bool> used(static_cast<size_t>(rank), false);
  for (size_t i = 0; i < from.size() && r.ok(); ++i) {
    const int64_t source = r.wrap_dim(from[i], rank);
    dims[static_cast<size_t>(r.wrap_dim(to[i], rank))] = source;
    used[static_cast<size_t>(source)] = true;
  }
  int64_t next = 0;
  for (int64_t& dim : dims) {
    if (dim >= 0) continue;
    while (used[static_cast<size_t>(next)]) ++next;
    dim = next++;
  }
  r.replace(node, permute(r, x, dims));
  return true;
}

bool expand_to(Rewriter& r, const Node& node) {
  const ValueRef x = r.args(node).tensor("self");
  r.replace(node, expand(r, x, result_type(r, node).sizes));
  return true;
}

// Pieces of the sizes that the results have. Where one is absent, only the last may be.
bool split_along(Rewriter& r, const Node& node, int64_t dim) {
  const ValueRef x = r.args(node).tensor("self");
  const auto& outputs = node.outputs;
  const auto last = outputs.empty() ? outputs.end() : outputs.end() - 1;
  if (std::find(outputs.begin(), last, kNone) != last) return false;
  SymInt start = 0;
  for (const ValueId out : outputs) {
    if (out == kNone) continue;
    const SymInt end = r.symbols().add(start, r.size(ValueRef{out}, dim));
    r.replace(out, slice(r, x, dim, start, end));
    start = end;
  }
  return true;
}
bool split(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  return split_along(r, node, r.wrap_dim(args.integer("dim"), r.rank(args.tensor("self"))));
}
// hsplit, vsplit, dsplit: dimension 1, 0 or 2; hsplit of a vector takes what it has.
template <int64_t Dim>
bool split_fixed(Rewriter& r, const Node& node) {
  const int64_t rank = r.rank(r.args(node).tensor("self"));
  return split_along(r, node, Dim == 1 && rank == 1 ? 0 : Dim);
}

// Cut where the elements of a tensor say, when the program runs.
bool split_at_tensor(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const ValueRef places = args.tensor("tensor_indices_or_sections");
  const int64_t dim = r.wrap_dim(args.integer("dim"), r.rank(x));
  const auto count = static_cast<int64_t>(node.outputs.size());
  if (r.rank(places) != 1 || r.size(places, 0) != SymInt(count - 1)) return false;
  Argument start = int64_t{0};
  for (int64_t i = 0; i < count && r.ok(); ++i) {
    Argument end = None{};
    if (i + 1 < count) {
      const ValueRef place = r.emit("aten::select.int", {places, int64_t{0}, i});
      end = r.emit_symbolic("aten::_local_scalar_dense", {place}, std::nullopt);
    }
    const auto output = static_cast<size_t>(i);
    if (node.outputs[output] != kNone) {
      const auto part = r.emit_as("aten::slice.Tensor",
                                  {{"self", x}, {"dim", dim}, {"start", start}, {"end", end}},
                                  {result_type(r, node, output)});
      if (r.ok()) r.replace(node.outputs[output], part[0]);
    }
    start = end;
  }
  return true;
}

bool unbind(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const int64_t dim = r.wrap_dim(args.integer("dim"), r.rank(x));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNone) continue;
    r.replace(node.outputs[i], r.emit("aten::select.int", {x, dim, static_cast<int64_t>(i)}));
  }
  return true;
}

bool narrow(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const SymInt start = args.size("start");
  const SymInt end = r.symbols().add(start, args.size("length"));
  r.replace(node, r.emit("aten::slice.Tensor", {args.tensor("self"), args.integer("dim"),
                                                r.integer(start), r.integer(end), int64_t{1}}));
  return true;
}

bool tile(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  std::vector<SymInt> dims = args.sizes("dims");
  while (static_cast<int64_t>(dims.size()) < r.rank(x)) dims.insert(dims.begin(), 1);
  r.replace(node, r.emit("aten::repeat", {x, r.integers(dims)}));
  return true;
}

bool flip_last_or_first(Rewriter& r, const Node& node) {
  const int64_t dim = node.op == "aten::fliplr" ? 1 : 0;
  r.replace(node, r.emit("aten::flip", {r.args(node).tensor("self"), IntList{{dim, kNone}}}));
  return true;
}

// `x` on a diagonal of zeros.
ValueRef on_diagonal(Rewriter& r, ValueRef x, const TensorType& type, int64_t offset, int64_t dim1,
                     int64_t dim2) {
  const ValueRef zeros = full(r, type, 0);
  return r.emit("aten::diagonal_scatter", {zeros, x, offset, dim1, dim2});
}

bool diag_embed(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  r.replace(node, on_diagonal(r, args.tensor("self"), result_type(r, node), args.integer("offset"),
                              args.integer("dim1"), args.integer("dim2")));
  return true;
}

// A vector on a diagonal, or the diagonal of a matrix.
bool diag(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const int64_t offset = args.integer("diagonal");
  if (r.rank(x) == 1) {
    r.replace(node, on_diagonal(r, x, result_type(r, node), offset, 0, 1));
  } else {
    r.replace(node, r.emit("aten::diagonal", {x, offset}));
  }
  return true;
}

bool diagflat(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const ValueRef flat = view(r, x, {r.symbols().product(r.type(x).sizes)});
  r.replace(node, on_diagonal(r, flat, result_type(r, node), args.integer("offset"), 0, 1));
  return true;
}

// Sums over what broadcasting to self's sizes would repeat.
bool sum_to_size(Rewriter& r, const Node& node) {
  const ValueRef x = r.args(node).tensor("self");
  const Sizes from = r.type(x).sizes;
  const Sizes to = result_type(r, node).sizes;
  if (to.size() > from.size()) return false;
  const size_t added = from.size() - to.size();
  std::vector<int64_t> dims;
  for (size_t d = 0; d < from.size(); ++d) {
    const bool repeated = d < added || (to[d - added] == SymInt(1) && from[d] != SymInt(1));
    if (repeated) dims.push_back(static_cast<int64_t>(d));
  }
  const ValueRef sum = dims.empty() ? cast(r, x, result_type(r, node).dtype)
                                    : r.emit("aten::sum.dim_IntList", {x, literals(dims), true});
  r.replace(node, view(r, sum, to));
  return true;
}

constexpr std::array kRules = {
    DecompositionRule{"aten::H", adjoint},
    DecompositionRule{"aten::adjoint", adjoint},
    DecompositionRule{"aten::broadcast_to", expand_to},
    DecompositionRule{"aten::chunk", split},
    DecompositionRule{"aten::diag", diag},
    DecompositionRule{"aten::diag_embed", diag_embed},
    DecompositionRule{"aten::diagflat", diagflat},
    DecompositionRule{"aten::dsplit.array", split_fixed<2>},
    DecompositionRule{"aten::dsplit.int", split_fixed<2>},
    DecompositionRule{"aten::expand_as", expand_to},
    DecompositionRule{"aten::flatten.using_ints", to_result_sizes},
    DecompositionRule{"aten::fliplr", flip_last_or_first},
    DecompositionRule{"aten::flipud", flip_last_or_first},
    DecompositionRule{"aten::hsplit.array", split_fixed<1>},
    DecompositionRule{"aten::hsplit.int", split_fixed<1>},
    DecompositionRule{"aten::mH", adjoint},
    DecompositionRule{"aten::mT", matrix_transpose},
    DecompositionRule{"aten::matrix_H", adjoint},
    DecompositionRule{"aten::movedim.int", move_dims},
    DecompositionRule{"aten::movedim.intlist", move_dims},
    DecompositionRule{"aten::moveaxis.int", move_dims},
    DecompositionRule{"aten::moveaxis.intlist", move_dims},
    DecompositionRule{"aten::narrow", narrow},
    DecompositionRule{"aten::numpy_T", numpy_t},
    DecompositionRule{"aten::ravel", to_result_sizes},
    DecompositionRule{"aten::reshape", to_result_sizes},
    DecompositionRule{"aten::reshape_as", to_result_sizes},
    DecompositionRule{"aten::_reshape_alias", to_result_sizes},
    DecompositionRule{"aten::_unsafe_view", to_result_sizes},
    DecompositionRule{"aten::split.Tensor", split},
    DecompositionRule{"aten::split.sizes", split},
    DecompositionRule{"aten::split_with_sizes", split},
    DecompositionRule{"aten::sum_to_size", sum_to_size},
    DecompositionRule{"aten::swapaxes", transpose},
    DecompositionRule{"aten::swapdims", transpose},
    DecompositionRule{"aten::t", matrix_transpose},
    DecompositionRule{"aten::tensor_split.indices", split},
    DecompositionRule{"aten::tensor_split.sections", split},
    DecompositionRule{"aten::tensor_split.tensor_indices_or_sections", split_at_tensor},
    DecompositionRule{"aten::tile", tile},
    DecompositionRule{"aten::transpose.int", transpose},
    DecompositionRule{"aten::unbind.int", unbind},
    DecompositionRule{"aten::unflatten.int", to_result_sizes},
    DecompositionRule{"aten::unsafe_chunk", split},
    DecompositionRule{"aten::unsafe_split.Tensor", split},
    DecompositionRule{"aten::unsafe_split_with_sizes", split},
    DecompositionRule{"aten::view_as", to_result_sizes},
    DecompositionRule{"aten::vsplit.array", split_fixed<0>},
    DecompositionRule{"aten::vsplit.int", split_fixed<0>},
};

}  // namespace

std::span<const DecompositionRule> view_rules() {
  return kRules;
}

}  // namespace backplane::passes
