// Composites that put tensors beside one another: stacks, blocks, grids, products of sets.
#include <algorithm>
#include <array>

#include "ops/meta.hpp"
#include "passes/decompose.hpp"
#include "passes/emit_views.hpp"

namespace backplane::passes {
namespace {

bool concat(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  r.replace(node, r.emit("aten::cat", {list_of(args.tensors("tensors")), args.integer("dim")}));
  return true;
}

bool stack(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  std::vector<ValueRef> parts = args.tensors("tensors");
  if (parts.empty()) return false;
  const int64_t dim = r.wrap_dim(args.integer("dim"), r.rank(parts[0]) + 1);
  for (ValueRef& part : parts) part = r.emit("aten::unsqueeze", {part, dim});
  r.replace(node, r.emit("aten::cat", {list_of(parts), dim}));
  return true;
}

// `x` with at least Rank dimensions, as atleast_Nd has it: 2 puts one in front, 3 one behind too.
template <int64_t Rank>
ValueRef at_least(Rewriter& r, ValueRef x) {
  Sizes sizes = r.type(x).sizes;
  if (sizes.empty()) sizes.emplace_back(1);
  if (Rank >= 2 && sizes.size() < 2) sizes.insert(sizes.begin(), 1);
  if (Rank >= 3 && sizes.size() < 3) sizes.emplace_back(1);
  return view(r, x, sizes);
}

template <int64_t Rank>
bool at_least_one(Rewriter& r, const Node& node) {
  r.replace(node, at_least<Rank>(r, r.args(node).tensor("self")));
  return true;
}

template <int64_t Rank>
bool at_least_each(Rewriter& r, const Node& node) {
  const std::vector<ValueRef> tensors = r.args(node).tensors("tensors");
  if (tensors.size() != node.outputs.size()) return false;
  for (size_t i = 0; i < tensors.size(); ++i) {
    r.replace(node.outputs[i], at_least<Rank>(r, tensors[i]));
  }
  return true;
}

// hstack, vstack and dstack: tensors of at least Rank dimensions side by side.
template <int64_t Rank>
bool stack_along(Rewriter& r, const Node& node) {
  std::vector<ValueRef> parts = r.args(node).tensors("tensors");
  if (parts.empty()) return false;
  for (ValueRef& part : parts) part = at_least<Rank>(r, part);
  const int64_t dim = Rank == 1 ? (r.rank(parts[0]) == 1 ? 0 : 1) : Rank == 2 ? 0 : 2;
  r.replace(node, r.emit("aten::cat", {list_of(parts), dim}));
  return true;
}

bool column_stack(Rewriter& r, const Node& node) {
  std::vector<ValueRef> parts = r.args(node).tensors("tensors");
  if (parts.empty()) return false;
  for (ValueRef& part : parts) {
    if (r.rank(part) > 1) continue;
    const SymInt rows = r.symbols().product(r.type(part).sizes);
    part = view(r, part, {rows, 1});
  }
  r.replace(node, r.emit("aten::cat", {list_of(parts), int64_t{1}}));
  return true;
}

// Each block is padded to the width of all, and they are put below one another.
bool block_diag(Rewriter& r, const Node& node) {
  const TensorType type = result_type(r, node);
  std::vector<ValueRef> blocks = r.args(node).tensors("tensors");
  if (blocks.empty()) return false;
  SymInt left = 0;
  for (ValueRef& block : blocks) {
    block = cast(r, at_least<2>(r, block), type.dtype);
    const SymInt end = r.symbols().add(left, r.size(block, 1));
    const std::array<SymInt, 2> padding = {left, r.symbols().sub(type.sizes[1], end)};
    block = r.emit("aten::constant_pad_nd", {block, r.integers(padding), int64_t{0}});
    left = end;
  }
  r.replace(node, cat(r, blocks, 0));
  return true;
}

// Each tensor, padded so that `dim` has num_chunks equal chunks, with the chunks flattened.
bool chunk_cat(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  std::vector<ValueRef> parts = args.tensors("tensors");
  const int64_t chunks = args.integer("num_chunks");
  if (parts.empty() || chunks < 1) return false;
  const int64_t dim = r.wrap_dim(args.integer("dim"), r.rank(parts[0]));
  const auto at = static_cast<std::ptrdiff_t>(dim);
  SymbolTable& symbols = r.symbols();
  for (ValueRef& part : parts) {
    const SymInt size = r.size(part, dim);
    const SymInt padded = symbols.mul(symbols.ceil_div(size, chunks), chunks);
    if (padded != size) {
      std::vector<SymInt> padding(2 * static_cast<size_t>(r.rank(part) - dim), SymInt(0));
      padding.back() = symbols.sub(padded, size);
      part = r.emit("aten::constant_pad_nd", {part, r.integers(padding), int64_t{0}});
    }
    const Sizes sizes = r.type(part).sizes;
    if (!r.ok()) return true;
    Sizes flat(sizes.begin(), sizes.begin() + at);
    const SymInt all = symbols.product(std::span(sizes).subspan(static_cast<size_t>(at)));
    flat.insert(flat.end(), {SymInt(chunks), symbols.floor_div(all, chunks)});
    part = view(r, part, flat);
  }
  r.replace(node, cat(r, parts, dim + 1));
  return true;
}

bool broadcast_tensors(Rewriter& r, const Node& node) {
  const std::vector<ValueRef> tensors = r.args(node).tensors("tensors");
  if (tensors.size() != node.outputs.size()) return false;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (node.outputs[i] == kNone) continue;
    r.replace(node.outputs[i], expand(r, tensors[i], result_type(r, node, i).sizes));
  }
  return true;
}

// The coordinates `axes`, each repeated over the grid; axis i lies along dimension i.
ValueRef over_grid(Rewriter& r, ValueRef axis, size_t dim, const Sizes& grid) {
  Sizes sizes(grid.size(), SymInt(1));
  sizes[dim] = grid[dim];
  return expand(r, view(r, axis, sizes), grid);
}

bool meshgrid(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const std::vector<ValueRef> tensors = args.tensors("tensors");
  const bool names_order = node.op.ends_with(".indexing");
  const bool swaps = names_order && args.text("indexing") == "xy" && tensors.size() > 1;
  if (tensors.size() != node.outputs.size()) return false;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (node.outputs[i] == kNone) continue;
    const size_t dim = swaps && i < 2 ? 1 - i : i;
    r.replace(node.outputs[i], over_grid(r, tensors[i], dim, result_type(r, node, i).sizes));
  }
  return true;
}

// Rows of all combinations of one element of each tensor.
bool cartesian_prod(Rewriter& r, const Node& node) {
  const std::vector<ValueRef> tensors = r.args(node).tensors("tensors");
  if (tensors.empty()) return false;
  if (tensors.size() == 1) {
    r.replace(node, tensors[0]);
    return true;
  }
  Sizes grid;
  for (const ValueRef tensor : tensors) grid.push_back(r.size(tensor, 0));
  const SymInt rows = r.symbols().product(grid);
  std::vector<ValueRef> columns;
  for (size_t i = 0; i < tensors.size(); ++i) {
    columns.push_back(view(r, over_grid(r, tensors[i], i, grid), {rows, 1}));
  }
  r.replace(node, r.emit("aten::cat", {list_of(columns), int64_t{1}}));
  return true;
}

// Rows of `r` elements whose indices ascend: where a grid of indices says so.
bool combinations(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const int64_t width = args.integer("r");
  const TensorType type = result_type(r, node);
  if (width == 0) {
    r.replace(node, full(r, type, 0));
    return true;
  }
  if (width < 1 || width > 16 || r.rank(x) != 1) return false;
  const SymInt count = r.size(x, 0);
  const Sizes grid(static_cast<size_t>(width), count);
  const ValueRef indices = r.emit("aten::arange", {r.integer(count)});
  const std::string_view order =
      args.flag("with_replacement") ? "aten::le.Tensor" : "aten::lt.Tensor";
  ValueRef mask = full(r, {DType::boolean, grid, {}}, 1);
  for (size_t i = 1; i < grid.size(); ++i) {
    const ValueRef ascends =
        r.emit(order, {over_grid(r, indices, i - 1, grid), over_grid(r, indices, i, grid)});
    mask = r.emit("aten::logical_and", {mask, ascends});
  }
  std::vector<ValueRef> columns;
  const TensorType column = {type.dtype, {type.sizes[0]}, {}};
  for (size_t i = 0; i < grid.size() && r.ok(); ++i) {
    const auto chosen = r.emit_as("aten::masked_select",
                                  {{"self", over_grid(r, x, i, grid)}, {"mask", mask}}, {column});
    if (r.ok()) columns.push_back(r.emit("aten::unsqueeze", {chosen[0], int64_t{1}}));
  }
  if (r.ok()) r.replace(node, cat(r, columns, 1));
  return true;
}

constexpr std::array kRules = {
    DecompositionRule{"aten::_chunk_cat", chunk_cat},
    DecompositionRule{"aten::atleast_1d", at_least_one<1>},
    DecompositionRule{"aten::atleast_1d.Sequence", at_least_each<1>},
    DecompositionRule{"aten::atleast_2d", at_least_one<2>},
    DecompositionRule{"aten::atleast_2d.Sequence", at_least_each<2>},
    DecompositionRule{"aten::atleast_3d", at_least_one<3>},
    DecompositionRule{"aten::atleast_3d.Sequence", at_least_each<3>},
    DecompositionRule{"aten::block_diag", block_diag},
    DecompositionRule{"aten::broadcast_tensors", broadcast_tensors},
    DecompositionRule{"aten::cartesian_prod", cartesian_prod},
    DecompositionRule{"aten::column_stack", column_stack},
    DecompositionRule{"aten::combinations", combinations},
    DecompositionRule{"aten::concat", concat},
    DecompositionRule{"aten::concatenate", concat},
    DecompositionRule{"aten::dstack", stack_along<3>},
    DecompositionRule{"aten::hstack", stack_along<1>},
    DecompositionRule{"aten::meshgrid", meshgrid},
    DecompositionRule{"aten::meshgrid.indexing", meshgrid},
    DecompositionRule{"aten::row_stack", stack_along<2>},
    DecompositionRule{"aten::stack", stack},
    DecompositionRule{"aten::vstack", stack_along<2>},
};

}  // namespace

std::span<const DecompositionRule> join_rules() {
  return kRules;
}

}  // namespace backplane::passes
