// Shapes: composites over view, permute, slice, cat and their like.
#include <algorithm>
#include <array>
#include <numeric>

#include "passes/decompose.hpp"

namespace backplane::passes {
namespace {

ValueRef view(Rewriter& r, ValueRef x, std::span<const SymInt> sizes) {
  return r.emit("aten::view", {x, r.integers(sizes)});
}

IntList literals(std::span<const int64_t> numbers) {
  IntList list;
  for (const int64_t n : numbers) list.push_back({n, kNone});
  return list;
}

ValueRef permute(Rewriter& r, ValueRef x, std::span<const int64_t> dims) {
  return r.emit("aten::permute", {x, literals(dims)});
}

std::vector<int64_t> identity(int64_t rank) {
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

ValueList list_of(const std::vector<ValueRef>& values) {
  ValueList list;
  for (const ValueRef v : values) list.ids.push_back(v.id);
  return list;
}

bool to_result_sizes(Rewriter& r, const Node& node) {
  const ValueRef x = r.args(node).tensor("self");
  r.replace(node, view(r, x, r.type(ValueRef{node.outputs[0]}).sizes));
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
  r.replace(node, r.emit("aten::expand", {x, r.integers(r.type(ValueRef{node.outputs[0]}).sizes)}));
  return true;
}

// Pieces of the sizes that the results have.
bool split(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  const ValueRef x = args.tensor("self");
  const int64_t dim = r.wrap_dim(args.integer("dim"), r.rank(x));
  SymInt start = 0;
  for (const ValueId out : node.outputs) {
    if (out == kNone) continue;
    const SymInt length = r.size(ValueRef{out}, dim);
    const SymInt end = r.symbols().add(start, length);
    r.replace(out,
              r.emit("aten::slice.Tensor", {x, dim, r.integer(start), r.integer(end), int64_t{1}}));
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

bool stack(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  std::vector<ValueRef> parts = args.tensors("tensors");
  if (parts.empty()) return false;
  const int64_t dim = r.wrap_dim(args.integer("dim"), r.rank(parts[0]) + 1);
  for (ValueRef& part : parts) part = r.emit("aten::unsqueeze", {part, dim});
  r.replace(node, r.emit("aten::cat", {list_of(parts), dim}));
  return true;
}

bool concat(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  r.replace(node, r.emit("aten::cat", {list_of(args.tensors("tensors")), args.integer("dim")}));
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

bool diff(Rewriter& r, const Node& node) {
  const NodeArgs args = r.args(node);
  ValueRef x = args.tensor("self");
  if (args.integer("n") != 1 || r.dtype(x) == DType::boolean || r.rank(x) == 0) return false;
  const int64_t dim = r.wrap_dim(args.integer("dim"), r.rank(x));
  std::vector<ValueRef> parts;
  if (!args.is_none("prepend")) parts.push_back(args.tensor("prepend"));
  parts.push_back(x);
  if (!args.is_none("append")) parts.push_back(args.tensor("append"));
  if (parts.size() > 1) x = r.emit("aten::cat", {list_of(parts), dim});
  const SymInt size = r.size(x, dim);
  const ValueRef after =
      r.emit("aten::slice.Tensor", {x, dim, int64_t{1}, r.integer(size), int64_t{1}});
  const ValueRef before = r.emit(
      "aten::slice.Tensor", {x, dim, int64_t{0}, r.integer(r.symbols().sub(size, 1)), int64_t{1}});
  r.replace(node, r.emit("aten::sub.Tensor", {after, before}));
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

constexpr std::array kRules = {
    DecompositionRule{"aten::broadcast_to", expand_to},
    DecompositionRule{"aten::chunk", split},
    DecompositionRule{"aten::concat", concat},
    DecompositionRule{"aten::concatenate", concat},
    DecompositionRule{"aten::diff", diff},
    DecompositionRule{"aten::expand_as", expand_to},
    DecompositionRule{"aten::flatten.using_ints", to_result_sizes},
    DecompositionRule{"aten::mT", matrix_transpose},
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
    DecompositionRule{"aten::stack", stack},
    DecompositionRule{"aten::swapaxes", transpose},
    DecompositionRule{"aten::swapdims", transpose},
    DecompositionRule{"aten::t", matrix_transpose},
    DecompositionRule{"aten::tensor_split.indices", split},
    DecompositionRule{"aten::tensor_split.sections", split},
    DecompositionRule{"aten::tile", tile},
    DecompositionRule{"aten::transpose.int", transpose},
    DecompositionRule{"aten::unbind.int", unbind},
    DecompositionRule{"aten::unflatten.int", to_result_sizes},
    DecompositionRule{"aten::unsafe_chunk", split},
    DecompositionRule{"aten::unsafe_split.Tensor", split},
    DecompositionRule{"aten::unsafe_split_with_sizes", split},
    DecompositionRule{"aten::view_as", to_result_sizes},
};

}  // namespace

std::span<const DecompositionRule> view_rules() {
  return kRules;
}

}  // namespace backplane::passes
