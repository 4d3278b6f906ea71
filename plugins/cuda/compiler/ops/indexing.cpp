// Operators that read at places which other tensors hold. Places that are out of range are clamped.
#include <algorithm>

#include "cuda/compiler/ops/op_call.hpp"

namespace backplane::cuda::compiler {
namespace {

// The element of `indices` at `at` as an index below `extent`; negative ones count from the end.
Index read_index(OpCall& call, TensorId indices, const std::vector<Index>& at, SizeId extent) {
  const ExprId raw = call.ex.cast(call.g.load(indices, at), sdk::kInt64);
  const ExprId clamped =
      call.ex.apply(sdk::kInt64, "clamped_index($0, $1)", {raw, call.ex.index({extent, {}})});
  return call.ix.of(call.ix.value(clamped, extent));
}

bool is_integer(OpCall& call, TensorId t) {
  const bp_dtype_t dtype = call.at(t).dtype;
  return !is_floating(dtype) && !(dtype == sdk::kBool) && dtype.code != BP_DT_UINT;
}

// embedding(weight, indices): rows of weight.
Status embedding(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId weight, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId indices, call.tensor(1));
  return call.give([&](const std::vector<Index>& at) {
    const std::vector<Index> which(at.begin(), at.end() - 1);
    return call.g.load(weight,
                       {read_index(call, indices, which, call.at(weight).shape[0]), at.back()});
  });
}

Status index_select(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId indices, call.tensor(2));
  if (call.rank(x) == 0) return call.give(x);
  BP_ASSIGN_OR_RETURN(const size_t dim, call.dim(1, call.rank(x)));
  return call.give([&](std::vector<Index> at) {
    const std::vector<Index> which(call.rank(indices), at[dim]);
    at[dim] = read_index(call, indices, which, call.at(x).shape[dim]);
    return call.g.load(x, std::move(at));
  });
}

Status gather(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId indices, call.tensor(2));
  if (call.rank(x) == 0 || call.rank(indices) == 0) return call.refuse("gather of numbers");
  BP_ASSIGN_OR_RETURN(const size_t dim, call.dim(1, call.rank(x)));
  return call.give([&](std::vector<Index> at) {
    at[dim] = read_index(call, indices, at, call.at(x).shape[dim]);
    return call.g.load(x, std::move(at));
  });
}

// x[indices]: `indices` is a list with holes.
struct Advanced {
  std::vector<TensorId> tensors;  // -1 for a hole; as many as there are dimensions
  size_t first;                   // where their dimensions stand in the result
  size_t rank = 0;                // of all of them together, broadcast
};
Result<Advanced> advanced(OpCall& call, size_t arg, size_t rank) {
  const auto values = sdk::values_of(call.arg(arg));
  if (!values) return call.refuse("indices that are no list");
  Advanced out{std::vector<TensorId>(rank, -1), 0};
  std::vector<size_t> where;
  for (size_t d = 0; d < values->size() && d < rank; ++d) {
    if ((*values)[d] < 0) continue;
    BP_ASSIGN_OR_RETURN(out.tensors[d], call.tensor_of((*values)[d]));
    if (!is_integer(call, out.tensors[d]))
      return call.refuse("a mask for index: its sizes depend on values");
    out.rank = std::max(out.rank, call.rank(out.tensors[d]));
    where.push_back(d);
  }
  if (where.empty()) return call.refuse("index without indices");
  const bool is_adjacent = where.back() - where.front() + 1 == where.size();
  out.first = is_adjacent ? where.front() : 0;
  return out;
}

// The indices of `t` for a place `at` of what it is broadcast to.
std::vector<Index> broadcast_indices(OpCall& call, TensorId t, const std::vector<Index>& at) {
  const std::vector<SizeId>& shape = call.at(t).shape;
  std::vector<Index> out(at.end() - static_cast<std::ptrdiff_t>(shape.size()), at.end());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (call.g.sizes().is(shape[d], 1)) out[d] = call.ix.number(0);
  }
  return out;
}

Status index(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const Advanced a, advanced(call, 1, call.rank(x)));
  return call.give([&](const std::vector<Index>& at) {
    const auto begin = at.begin() + static_cast<std::ptrdiff_t>(a.first);
    const std::vector<Index> of_indices(begin, begin + static_cast<std::ptrdiff_t>(a.rank));
    std::vector<Index> rest(at.begin(), begin);
    rest.insert(rest.end(), begin + static_cast<std::ptrdiff_t>(a.rank), at.end());
    std::vector<Index> from;
    size_t next = 0;
    for (size_t d = 0; d < a.tensors.size(); ++d) {
      const TensorId t = a.tensors[d];
      if (t < 0) {
        from.push_back(rest[next++]);
      } else {
        from.push_back(
            read_index(call, t, broadcast_indices(call, t, of_indices), call.at(x).shape[d]));
      }
    }
    return call.g.load(x, std::move(from));
  });
}

// The last place k of `index` that holds `wanted`, or -1. Each element looks through all of them:
// for short indices.
ExprId find_last(OpCall& call, TensorId indices, const Index& wanted, SizeId extent, AtomId k) {
  const std::vector<Index> which(call.rank(indices), call.ix.of(k));
  const Index held = read_index(call, indices, which, extent);
  const ExprId found =
      call.ex.apply(sdk::kInt64, "$0 == $1 ? $2 : -1LL",
                    {call.ex.index(held), call.ex.index(wanted), call.ex.index(call.ix.of(k))});
  return call.ex.reduce(Reduction::max, found, {k});
}

constexpr int64_t kMostSearched = 64;

// index_copy(x, dim, index, source): x with source[…, k, …] at index[k].
Status index_copy(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId indices, call.tensor(2));
  BP_ASSIGN_OR_RETURN(const TensorId source, call.tensor(3));
  if (call.rank(x) == 0 || call.rank(source) != call.rank(x))
    return call.refuse("index_copy of numbers");
  BP_ASSIGN_OR_RETURN(const size_t dim, call.dim(1, call.rank(x)));
  const SizeId num = call.at(source).shape[dim];
  if (call.g.sizes().bound(num) > kMostSearched) return call.refuse("index_copy of many indices");
  return call.give([&](const std::vector<Index>& at) {
    const ExprId found =
        find_last(call, indices, at[dim], call.at(x).shape[dim], call.ix.variable(num));
    std::vector<Index> from = at;
    from[dim] = call.ix.of(call.ix.value(found, num));
    // A value is taken to be in range where indices are simplified: the guard is on the number.
    const ExprId is_found = call.ex.apply(sdk::kBool, "$0 >= 0", {found});
    return call.ex.choose(is_found, call.g.load(source, from), call.g.load(x, at));
  });
}

constexpr OpRule kRules[] = {
    {"aten::embedding", embedding}, {"aten::index_select", index_select}, {"aten::gather", gather},
    {"aten::index.Tensor", index},  {"aten::index_copy", index_copy},
};

}  // namespace

std::span<const OpRule> index_rules() {
  return kRules;
}

}  // namespace backplane::cuda::compiler
