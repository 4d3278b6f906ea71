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

// The first of the equal elements along each dimension that was expanded.
ValueRef unexpand(Rewriter& r, ValueRef whole, ValueRef part) {
  const int64_t extra = r.rank(part) - r.rank(whole);
  for (int64_t i = 0; i < extra; ++i) part = r.emit("aten::select.int", {part, 0, 0});
  for (int64_t d = 0; d < r.rank(whole) && r.ok(); ++d) {
    if (r.symbols().known_eq(r.size(whole, d), r.size(part, d)).value_or(true)) continue;
    part = r.emit("aten::slice.Tensor", {part, d, 0, 1, 1});
  }
  return part;
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

}  // namespace backplane::passes
