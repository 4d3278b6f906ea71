#include "passes/view_steps.hpp"

#include <algorithm>

namespace backplane::passes {
namespace {

using Kind = ViewStep::Kind;

IntList inverse(const IntList& order) {
  IntList out(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    out[static_cast<size_t>(order[i].literal)] = {static_cast<int64_t>(i), kNone};
  }
  return out;
}

bool is_expanded(const SymbolTable& symbols, SymInt from, SymInt to) {
  return symbols.known_eq(from, to) == false;
}

// What was expanded, from the view. Where the sizes are the same now, that is the view itself.
ValueRef unexpand(Rewriter& r, ValueRef whole, ValueRef part) {
  const std::vector<SymInt> from = r.type(whole).sizes;
  const std::vector<SymInt> to = r.type(part).sizes;
  const size_t extra = to.size() - std::min(to.size(), from.size());
  bool overlaps = false;
  for (size_t d = 0; d < to.size(); ++d) {
    overlaps = overlaps || is_expanded(r.symbols(), d < extra ? SymInt(1) : from[d - extra], to[d]);
  }
  if (overlaps) {
    (void)r.fail(Code::unsupported,
                 "it writes through an expanded view, whose elements share memory; copy it first");
    return part;
  }
  return extra == 0 ? part : r.emit("aten::view", {part, r.integers(from)});
}

}  // namespace

ValueRef take(Rewriter& r, const ViewStep& step, ValueRef whole) {
  const auto with = [&](std::string_view op) {
    std::vector<Argument> args = {whole};
    args.insert(args.end(), step.args.begin(), step.args.end());
    return r.emit(op, std::move(args));
  };
  switch (step.kind) {
    case Kind::reshape:
      return r.emit("aten::view", {whole, r.integers(step.sizes)});
    case Kind::expand:
      return r.emit("aten::expand", {whole, r.integers(step.sizes)});
    case Kind::section:
      return r.emit("aten::slice.Tensor",
                    {whole, step.args[0], r.integer(step.sizes[0]), r.integer(step.sizes[1]), 1});
    case Kind::permute:
      return with("aten::permute");
    case Kind::select:
      return with("aten::select.int");
    case Kind::slice:
      return with("aten::slice.Tensor");
    case Kind::diagonal:
      return with("aten::diagonal");
    case Kind::strided:
      return with("aten::as_strided");
    case Kind::bits:
      return with("aten::view.dtype");
    case Kind::as_real:
      return with("aten::view_as_real");
    case Kind::as_complex:
      return with("aten::view_as_complex");
    case Kind::conj:
      return with("aten::_conj_physical");
    case Kind::neg:
      return with("aten::neg");
  }
  return whole;
}

ValueRef put(Rewriter& r, const ViewStep& step, ValueRef whole, ValueRef part) {
  const auto scatter = [&](std::string_view op) {
    std::vector<Argument> args = {whole, part};
    args.insert(args.end(), step.args.begin(), step.args.end());
    return r.emit(op, std::move(args));
  };
  switch (step.kind) {
    case Kind::reshape:
      return r.emit("aten::view", {part, r.integers(std::vector(r.type(whole).sizes))});
    case Kind::expand:
      return unexpand(r, whole, part);
    case Kind::section:
      return r.emit("aten::slice_scatter", {whole, part, step.args[0], r.integer(step.sizes[0]),
                                            r.integer(step.sizes[1]), 1});
    case Kind::permute:
      return r.emit("aten::permute", {part, inverse(std::get<IntList>(step.args[0]))});
    case Kind::select:
      return scatter("aten::select_scatter");
    case Kind::slice:
      return scatter("aten::slice_scatter");
    case Kind::diagonal:
      return scatter("aten::diagonal_scatter");
    case Kind::strided:
      return scatter("aten::as_strided_scatter");
    case Kind::bits:
      return r.emit("aten::view.dtype", {part, r.dtype(whole)});
    case Kind::as_real:
      return r.emit("aten::view_as_complex", {part});
    case Kind::as_complex:
      return r.emit("aten::view_as_real", {part});
    case Kind::conj:
      return r.emit("aten::_conj_physical", {part});
    case Kind::neg:
      return r.emit("aten::neg", {part});
  }
  return whole;
}

bool is_select_of_copies(Rewriter& r, const TensorType& whole, const ViewStep& expand,
                         const ViewStep& next) {
  if (expand.kind != Kind::expand || next.kind != Kind::select) return false;
  const auto dim = static_cast<size_t>(std::get<int64_t>(next.args[0]));
  const size_t extra = expand.sizes.size() - std::min(expand.sizes.size(), whole.sizes.size());
  if (dim >= expand.sizes.size()) return false;
  const SymInt from = dim < extra ? SymInt(1) : whole.sizes[dim - extra];
  return is_expanded(r.symbols(), from, expand.sizes[dim]);
}

std::vector<ViewStep> select_before_expand(const TensorType& whole, const ViewStep& expand,
                                           const ViewStep& select) {
  std::vector<ViewStep> steps;
  const int64_t dim = std::get<int64_t>(select.args[0]);
  const auto extra = static_cast<int64_t>(expand.sizes.size() - whole.sizes.size());
  if (dim >= extra) steps.push_back({Kind::select, {dim - extra, int64_t{0}}, {}});
  std::vector<SymInt> sizes = expand.sizes;
  sizes.erase(sizes.begin() + dim);
  steps.push_back({Kind::expand, {}, std::move(sizes)});
  return steps;
}

}  // namespace backplane::passes
