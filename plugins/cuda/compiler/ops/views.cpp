// Operators that move elements: views, joins, fills. None of them computes.
#include <algorithm>
#include <numeric>

#include "cuda/compiler/ops/op_call.hpp"

namespace backplane::cuda::compiler {
namespace {

// Elements in row-major order, in another shape.
Status reshape(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  return call.give(x);
}

Status permute(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  const size_t rank = call.rank(x);
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  if (call.op() == "aten::permute") {
    BP_ASSIGN_OR_RETURN(order, call.dims(1, rank));
  } else if (call.op() == "aten::t") {
    std::reverse(order.begin(), order.end());
  } else if (rank > 0) {
    BP_ASSIGN_OR_RETURN(const size_t a, call.dim(1, rank));
    BP_ASSIGN_OR_RETURN(const size_t b, call.dim(2, rank));
    std::swap(order[a], order[b]);
  }
  return call.give([&](const std::vector<Index>& at) {
    std::vector<Index> from(rank);
    for (size_t d = 0; d < rank; ++d) from[order[d]] = at[d];
    return call.g.load(x, std::move(from));
  });
}

Status expand(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  return call.give([&](const std::vector<Index>& at) { return call.broadcast(x, at); });
}

// Where a slice begins, as eager execution clamps it.
Result<Index> slice_start(OpCall& call, size_t arg, SizeId extent) {
  if (call.is_none(arg)) return call.ix.number(0);
  const auto known = sdk::int_of(call.arg(arg));
  if (!known) {
    BP_ASSIGN_OR_RETURN(const SizeId size, call.size(arg));
    return Index{size, {}};
  }
  const auto limit = call.g.sizes().known(extent);
  if (*known >= 0) return call.ix.number(limit ? std::min(*known, *limit) : *known);
  if (limit) return call.ix.number(std::max<int64_t>(*known + *limit, 0));
  return Index{call.g.sizes().add(extent, call.g.sizes().constant(*known)), {}};
}

Status slice(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const size_t dim, call.dim(1, call.rank(x)));
  BP_ASSIGN_OR_RETURN(const Index start, slice_start(call, 2, call.at(x).shape[dim]));
  BP_ASSIGN_OR_RETURN(const int64_t step, call.known_int(4));
  return call.give([&](std::vector<Index> at) {
    at[dim] = call.ix.add(start, call.ix.scale(at[dim], call.g.sizes().constant(step)));
    return call.g.load(x, std::move(at));
  });
}

Result<Index> select_index(OpCall& call, size_t arg, SizeId extent) {
  if (const auto known = sdk::int_of(call.arg(arg)); known && *known < 0)
    return Index{call.g.sizes().add(extent, call.g.sizes().constant(*known)), {}};
  BP_ASSIGN_OR_RETURN(const SizeId size, call.size(arg));
  return Index{size, {}};
}

Status select(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const size_t dim, call.dim(1, call.rank(x)));
  BP_ASSIGN_OR_RETURN(const Index index, select_index(call, 2, call.at(x).shape[dim]));
  return call.give([&](std::vector<Index> at) {
    at.insert(at.begin() + static_cast<std::ptrdiff_t>(dim), index);
    return call.g.load(x, std::move(at));
  });
}

// self with src in place of self[…, start + step · i, …].
Status slice_scatter(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId source, call.tensor(1));
  BP_ASSIGN_OR_RETURN(const size_t dim, call.dim(2, call.rank(x)));
  BP_ASSIGN_OR_RETURN(const Index start, slice_start(call, 3, call.at(x).shape[dim]));
  BP_ASSIGN_OR_RETURN(const int64_t step, call.known_int(5));
  if (step != 1) return call.refuse("slice_scatter with a step");
  return call.give([&](const std::vector<Index>& at) {
    std::vector<Index> from = at;
    SizeTable& sizes = call.g.sizes();
    from[dim] = call.ix.add(at[dim], call.ix.scale(start, sizes.constant(-1)));
    const SizeId limit = call.at(source).shape[dim];
    return call.ex.guard({from[dim]}, {limit},
                         call.ex.cast(call.g.load(source, from), call.out_dtype()),
                         call.g.load(x, at));
  });
}
Status select_scatter(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId source, call.tensor(1));
  BP_ASSIGN_OR_RETURN(const size_t dim, call.dim(2, call.rank(x)));
  BP_ASSIGN_OR_RETURN(const Index index, select_index(call, 3, call.at(x).shape[dim]));
  return call.give([&](const std::vector<Index>& at) {
    std::vector<Index> from = at;
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(dim));
    const SizeId minus = call.g.sizes().constant(-1);
    return call.ex.guard(
        {call.ix.add(at[dim], call.ix.scale(index, minus))}, {call.g.sizes().constant(1)},
        call.ex.cast(call.g.load(source, from), call.out_dtype()), call.g.load(x, at));
  });
}

Status cat(OpCall& call) {
  BP_ASSIGN_OR_RETURN(std::vector<TensorId> parts, call.tensors(0));
  BP_ASSIGN_OR_RETURN(const std::vector<SizeId> shape, call.out_shape());
  BP_ASSIGN_OR_RETURN(const size_t dim, call.dim(1, shape.size()));
  // An empty tensor of one dimension joins anything.
  std::erase_if(parts, [&](TensorId t) { return call.rank(t) != shape.size(); });
  if (parts.empty()) return call.refuse("nothing is joined");
  return call.give([&](const std::vector<Index>& at) {
    std::vector<Index> starts = {call.ix.number(0)};
    for (const TensorId part : parts)
      starts.push_back(call.ix.add(starts.back(), {call.at(part).shape[dim], {}}));
    const auto element = [&](size_t p) {
      std::vector<Index> from = at;
      from[dim] = call.ix.add(at[dim], call.ix.scale(starts[p], call.g.sizes().constant(-1)));
      return std::pair(from[dim], call.ex.cast(call.g.load(parts[p], from), call.out_dtype()));
    };
    ExprId out = element(parts.size() - 1).second;
    for (size_t p = parts.size() - 1; p-- > 0;) {
      const auto [index, inside] = element(p);
      // From the left: what is below the end of part p is of part p.
      out = call.ex.guard({index}, {call.at(parts[p]).shape[dim]}, inside, out);
    }
    return out;
  });
}

Status stack(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const std::vector<TensorId> parts, call.tensors(0));
  BP_ASSIGN_OR_RETURN(const std::vector<SizeId> shape, call.out_shape());
  BP_ASSIGN_OR_RETURN(const size_t dim, call.dim(1, shape.size()));
  return call.give([&](std::vector<Index> at) {
    const Index which = at[dim];
    at.erase(at.begin() + static_cast<std::ptrdiff_t>(dim));
    ExprId out = call.ex.cast(call.g.load(parts.back(), at), call.out_dtype());
    for (size_t p = parts.size() - 1; p-- > 0;) {
      out = call.ex.guard({which}, {call.g.sizes().constant(static_cast<int64_t>(p) + 1)},
                          call.ex.cast(call.g.load(parts[p], at), call.out_dtype()), out);
    }
    return out;
  });
}

// split_with_sizes, split, unbind: parts along a dimension.
Status split(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  const bool is_unbind = call.op() == "aten::unbind.int";
  BP_ASSIGN_OR_RETURN(const size_t dim, call.dim(is_unbind ? 1 : 2, call.rank(x)));
  Index start = call.ix.number(0);
  for (size_t i = 0; i < call.num_outs(); ++i) {
    BP_TRY(call.give(
        [&](std::vector<Index> at) {
          if (is_unbind)
            at.insert(at.begin() + static_cast<std::ptrdiff_t>(dim), call.ix.number(0));
          at[dim] = call.ix.add(at[dim], start);
          return call.g.load(x, std::move(at));
        },
        i));
    Index size = call.ix.number(1);
    if (!is_unbind) {
      if (!call.has_out(i)) return call.refuse("a part of a split that nobody reads");
      BP_ASSIGN_OR_RETURN(const std::vector<SizeId> shape, call.out_shape(i));
      size.constant = shape[dim];
    }
    start = call.ix.add(start, size);
  }
  return Ok{};
}

Status pad(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const std::vector<int64_t> pads, call.known_ints(1));
  const size_t rank = call.rank(x);
  BP_ASSIGN_OR_RETURN(const ExprId fill, call.number(2, call.out_dtype()));
  return call.give([&](std::vector<Index> at) {
    std::vector<Index> tested;
    std::vector<SizeId> limits;
    for (size_t i = 0; i < pads.size() / 2; ++i) {
      const size_t d = rank - 1 - i;
      at[d] = call.ix.add(at[d], call.ix.number(-pads[2 * i]));
      if (pads[2 * i] <= 0 && pads[2 * i + 1] <= 0) continue;  // nothing is added there
      tested.push_back(at[d]);
      limits.push_back(call.at(x).shape[d]);
    }
    return call.ex.guard(tested, limits, call.g.load(x, at), fill);
  });
}

Status roll(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const std::vector<int64_t> shifts, call.known_ints(1));
  BP_ASSIGN_OR_RETURN(const std::vector<int64_t> given, call.known_ints(2));
  if (given.empty()) return call.refuse("roll without dimensions");
  BP_ASSIGN_OR_RETURN(const std::vector<size_t> dims, call.dims(2, call.rank(x)));
  for (const size_t d : dims) {
    if (!call.g.sizes().known(call.at(x).shape[d])) return call.refuse("roll of a dynamic size");
  }
  return call.give([&](std::vector<Index> at) {
    for (size_t i = 0; i < dims.size(); ++i) {
      const SizeId extent = call.at(x).shape[dims[i]];
      const int64_t n = std::max<int64_t>(*call.g.sizes().known(extent), 1);
      const int64_t forward = ((-shifts[i]) % n + n) % n;
      at[dims[i]] = call.ix.rest(call.ix.add(at[dims[i]], call.ix.number(forward)), extent);
    }
    return call.g.load(x, std::move(at));
  });
}

Status flip(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const std::vector<int64_t> given, call.known_ints(1));
  std::vector<size_t> dims;
  if (!given.empty()) {
    BP_ASSIGN_OR_RETURN(dims, call.dims(1, call.rank(x)));
  }
  return call.give([&](std::vector<Index> at) {
    SizeTable& sizes = call.g.sizes();
    for (const size_t d : dims) {
      const SizeId last = sizes.add(call.at(x).shape[d], sizes.constant(-1));
      at[d] = call.ix.add({last, {}}, call.ix.scale(at[d], sizes.constant(-1)));
    }
    return call.g.load(x, std::move(at));
  });
}

Status repeat(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  return call.give([&](const std::vector<Index>& at) {
    const std::vector<SizeId>& shape = call.at(x).shape;
    std::vector<Index> from(at.end() - static_cast<std::ptrdiff_t>(shape.size()), at.end());
    for (size_t d = 0; d < shape.size(); ++d) from[d] = call.ix.rest(from[d], shape[d]);
    return call.g.load(x, std::move(from));
  });
}

// [n, c · r², h, w] → [n, c, h · r, w · r]
Status pixel_shuffle(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const int64_t factor, call.known_int(1));
  return call.give([&](std::vector<Index> at) {
    const size_t rank = at.size();
    const SizeId r = call.g.sizes().constant(factor);
    const Index within =
        call.ix.add(call.ix.scale(call.ix.rest(at[rank - 2], r), r), call.ix.rest(at[rank - 1], r));
    at[rank - 3] =
        call.ix.add(call.ix.scale(at[rank - 3], call.g.sizes().constant(factor * factor)), within);
    at[rank - 2] = call.ix.quotient(at[rank - 2], r);
    at[rank - 1] = call.ix.quotient(at[rank - 1], r);
    return call.g.load(x, std::move(at));
  });
}

Status full(OpCall& call) {
  const size_t value = call.op() == "aten::full" ? 1 : 0;
  BP_ASSIGN_OR_RETURN(const ExprId number, call.number(value, call.out_dtype()));
  return call.give([&](const std::vector<Index>&) { return number; });
}

// start + step · i
Status arange(OpCall& call) {
  const bp_dtype_t dtype = call.out_dtype();
  const bp_dtype_t in = is_floating(dtype) ? accumulator(dtype) : sdk::kInt64;
  const bool has_start = call.op() != "aten::arange";
  const bool has_step = call.op() == "aten::arange.start_step";
  ExprId start = call.ex.literal(int64_t{0}, in);
  ExprId step = call.ex.literal(int64_t{1}, in);
  if (has_start) {
    BP_ASSIGN_OR_RETURN(start, call.number(0, in));
  }
  if (has_step) {
    BP_ASSIGN_OR_RETURN(step, call.number(2, in));
  }
  return call.give([&](const std::vector<Index>& at) {
    return call.ex.apply(in, "$0 + $1 * $2", {start, step, call.ex.cast(call.ex.index(at[0]), in)});
  });
}

// Keeps what is on one side of a diagonal: column − row ≤ k, or ≥ k.
Status triangle(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const int64_t k, call.known_int(1));
  const bool is_lower = call.op() == "aten::tril";
  return call.give([&](const std::vector<Index>& at) {
    const size_t rank = at.size();
    const ExprId row = call.ex.index(at[rank - 2]);
    const ExprId column = call.ex.index(at[rank - 1]);
    return call.ex.apply(call.out_dtype(),
                         is_lower ? "$1 - $0 <= $2 ? $3 : $4" : "$1 - $0 >= $2 ? $3 : $4",
                         {row, column, call.ex.literal(k, sdk::kInt64), call.g.load(x, at),
                          call.ex.literal(int64_t{0}, call.out_dtype())});
  });
}

constexpr OpRule kRules[] = {
    {"aten::view", reshape},
    {"aten::_unsafe_view", reshape},
    {"aten::reshape", reshape},
    {"aten::flatten.using_ints", reshape},
    {"aten::unsqueeze", reshape},
    {"aten::squeeze", reshape},
    {"aten::squeeze.dim", reshape},
    {"aten::squeeze.dims", reshape},
    {"aten::permute", permute},
    {"aten::transpose.int", permute},
    {"aten::t", permute},
    {"aten::expand", expand},
    {"aten::slice.Tensor", slice},
    {"aten::select.int", select},
    {"aten::slice_scatter", slice_scatter},
    {"aten::select_scatter", select_scatter},
    {"aten::cat", cat},
    {"aten::stack", stack},
    {"aten::split_with_sizes", split},
    {"aten::split.Tensor", split},
    {"aten::unbind.int", split},
    {"aten::constant_pad_nd", pad},
    {"aten::roll", roll},
    {"aten::flip", flip},
    {"aten::repeat", repeat},
    {"aten::pixel_shuffle", pixel_shuffle},
    {"aten::full", full},
    {"aten::scalar_tensor", full},
    {"aten::arange", arange},
    {"aten::arange.start", arange},
    {"aten::arange.start_step", arange},
    {"aten::tril", triangle},
    {"aten::triu", triangle},
};

}  // namespace

std::span<const OpRule> view_rules() {
  return kRules;
}

}  // namespace backplane::cuda::compiler
