// Short names for the views, casts and lists that decomposition rules emit all the time.
#pragma once

#include <numeric>
#include <span>
#include <vector>

#include "passes/rewriter.hpp"

namespace backplane::passes {

using Sizes = std::vector<SymInt>;

inline IntList literals(std::span<const int64_t> numbers) {
  IntList list;
  for (const int64_t n : numbers) list.push_back({n, kNone});
  return list;
}

inline ValueList list_of(std::span<const ValueRef> values) {
  ValueList list;
  for (const ValueRef v : values) list.ids.push_back(v.id);
  return list;
}

// 0, 1, …, rank - 1.
inline std::vector<int64_t> identity(int64_t rank) {
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

// A copy: what is emitted next may move types.
inline TensorType result_type(Rewriter& r, const Node& node, size_t output = 0) {
  return r.type(ValueRef{node.outputs[output]});
}

inline ValueRef cast(Rewriter& r, ValueRef x, DType dtype) {
  if (r.dtype(x) == dtype) return x;
  return r.emit("aten::_to_copy", {x}, {{"dtype", dtype}});
}

inline ValueRef view(Rewriter& r, ValueRef x, const Sizes& sizes) {
  if (r.type(x).sizes == sizes) return x;
  return r.emit("aten::view", {x, r.integers(sizes)});
}

inline ValueRef expand(Rewriter& r, ValueRef x, const Sizes& sizes) {
  if (r.type(x).sizes == sizes) return x;
  return r.emit("aten::expand", {x, r.integers(sizes)});
}

inline ValueRef permute(Rewriter& r, ValueRef x, std::span<const int64_t> dims) {
  return r.emit("aten::permute", {x, literals(dims)});
}

// Elements start to end of a dimension; a negative one counts from the dimension's end.
inline ValueRef slice(Rewriter& r, ValueRef x, int64_t dim, SymInt start, SymInt end) {
  return r.emit("aten::slice.Tensor", {x, dim, r.integer(start), r.integer(end), int64_t{1}});
}
inline ValueRef slice_from(Rewriter& r, ValueRef x, int64_t dim, SymInt start) {
  return slice(r, x, dim, start, r.size(x, dim));
}

inline ValueRef cat(Rewriter& r, std::span<const ValueRef> parts, int64_t dim) {
  return parts.size() == 1 ? parts[0] : r.emit("aten::cat", {list_of(parts), dim});
}

// `value` in every element.
inline ValueRef full(Rewriter& r, const TensorType& type, int64_t value) {
  const Argument number = is_floating(type.dtype)        ? Argument(static_cast<double>(value))
                          : type.dtype == DType::boolean ? Argument(value != 0)
                                                         : Argument(value);
  return r.emit("aten::full", {r.integers(type.sizes), number}, {{"dtype", type.dtype}});
}

}  // namespace backplane::passes
