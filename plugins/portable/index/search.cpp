// Values looked for among others: bucketize, searchsorted, isin.
#include <algorithm>
#include <limits>

#include "portable/index/along.hpp"
#include "portable/index/order.hpp"

namespace backplane::portable {
namespace {

// Values of tensors and numbers in their common dtype, dense.
Result<DType> common_of(const Args& args, int64_t a, int64_t b) {
  ResultType common;
  for (const int64_t i : {a, b}) {
    if (args.is_tensor(i)) {
      BP_TRY(common.add(args.tensor(i)));
    } else {
      BP_TRY(common.add(args.scalar(i)));
    }
  }
  return common.get();
}
template <class T>
Result<const T*> values_of(Context& ctx, const Args& args, int64_t at, DType common) {
  const int64_t n = args.is_tensor(at) ? args.tensor(at).numel() : 1;
  BP_ASSIGN_OR_RETURN(T * values, ctx.scratch<T>(n));
  if (args.is_tensor(at)) {
    BP_ASSIGN_OR_RETURN(const T* from, read<T>(ctx, args.tensor(at)));
    std::copy_n(from, n, values);
  } else {
    *values = args.scalar(at).to<T>();
  }
  round_to(common, values, n);
  return static_cast<const T*>(values);
}

// The first of n ascending edges that is not less than x, or not less nor equal. What can't be
// compared goes to the end.
template <class T, class At>
int64_t find_edge(T x, int64_t n, bool right, At edge) {
  int64_t low = 0;
  int64_t high = n;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    const T at = edge(middle);
    if (right ? at > x : at >= x) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Where arguments stand, and what they say.
struct Search {
  int64_t edges;
  int64_t values;
  bool right;
  Tensor sorter;
};

Status check_edges(const Args& args, const Search& s) {
  const Tensor edges = args.tensor(s.edges);
  const bool is_tensor = args.is_tensor(s.values);
  if (edges.dim() == 0) return invalid({"boundaries tensor should have positive dimension"});
  if (edges.dim() > 1) {
    const Tensor values = is_tensor ? args.tensor(s.values) : Tensor();
    const auto rows = edges.shape().first(edges.shape().size() - 1);
    if (!values || values.dim() != edges.dim() ||
        !std::equal(rows.begin(), rows.end(), values.shape().begin())) {
      return invalid(
          {"boundaries tensor should be 1 dimension or the first N-1 dimensions of "
           "boundaries tensor and input value tensor must match, but got boundaries ",
           edges.shape(), " and input ", values ? values.shape() : std::span<const int64_t>()});
    }
  }
  if (args.out(0).dtype() == DType::i32 && edges.size(-1) >= std::numeric_limits<int32_t>::max())
    return invalid({"the size of boundaries' last dimension does not fit int32"});
  if (!s.sorter) return Ok{};
  if (s.sorter.dtype() != DType::i64 || !std::ranges::equal(s.sorter.shape(), edges.shape())) {
    return invalid({"sorter must be a long tensor of the sequence's shape ", edges.shape(),
                    ", not ", s.sorter.dtype(), " ", s.sorter.shape()});
  }
  return Ok{};
}

Result<const int64_t*> order_of(Context& ctx, const Search& s) {
  if (!s.sorter) return static_cast<const int64_t*>(nullptr);
  BP_ASSIGN_OR_RETURN(const int64_t* order, read<int64_t>(ctx, s.sorter));
  for (int64_t i = 0; i < s.sorter.numel(); ++i) {
    if (order[i] < 0 || order[i] >= s.sorter.size(-1))
      return invalid({"sorter index ", order[i], " is out of range for ", s.sorter.size(-1)});
  }
  return order;
}

Status search(Context& ctx, const Args& args, const Search& s) {
  const Tensor out = args.out(0);
  BP_TRY(check_edges(args, s));
  BP_ASSIGN_OR_RETURN(const DType common, common_of(args, s.edges, s.values));
  BP_ASSIGN_OR_RETURN(const int64_t* order, order_of(ctx, s));
  const Tensor edges = args.tensor(s.edges);
  BP_TRY(ctx.resize(
      out, args.is_tensor(s.values) ? args.tensor(s.values).shape() : std::span<const int64_t>()));
  return dispatch<float, double, int64_t>(common, [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* edge, values_of<T>(ctx, args, s.edges, common));
    BP_ASSIGN_OR_RETURN(const T* x, values_of<T>(ctx, args, s.values, common));
    BP_ASSIGN_OR_RETURN(int64_t * y, open<int64_t>(ctx, out));
    const int64_t n = edges.size(-1);
    const int64_t width = out.dim() == 0 ? 1 : out.size(-1);
    for (int64_t i = 0; i < out.numel(); ++i) {
      const int64_t row = edges.dim() == 1 ? 0 : i / width * n;
      y[i] = find_edge(x[i], n, s.right, [&](int64_t at) {
        return edge[row + (order == nullptr ? at : order[row + at])];
      });
    }
    close(out, y);
    return Ok{};
  });
}
// args: self, boundaries, out_int32, right.
Status bucketize(Context& ctx, const Args& args) {
  if (args.tensor(1).dim() != 1) {
    return invalid(
        {"boundaries tensor must be 1 dimension, but got dim(", args.tensor(1).dim(), ")"});
  }
  return search(ctx, args, {1, 0, args.boolean(3), Tensor()});
}
// args: sorted_sequence, self, out_int32, right, side, sorter.
Status searchsorted(Context& ctx, const Args& args) {
  const std::string_view side = args.string(4);
  if (args.has(4) && side != "left" && side != "right")
    return invalid({"side can only be 'left' or 'right' but got ", side});
  if (side == "left" && args.boolean(3))
    return invalid(
        {"side and right can't be set to opposites, got side of left while right was "
         "True"});
  return search(ctx, args, {0, 1, args.boolean(3) || side == "right", args.tensor(5)});
}

// args: elements, test_elements, assume_unique, invert; either may be a number.
Status isin(Context& ctx, const Args& args) {
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const DType common, common_of(args, 0, 1));
  BP_TRY(ctx.resize(out, args.is_tensor(0) ? args.tensor(0).shape() : std::span<const int64_t>()));
  return dispatch<float, double, int64_t>(common, [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* x, values_of<T>(ctx, args, 0, common));
    BP_ASSIGN_OR_RETURN(const T* set, values_of<T>(ctx, args, 1, common));
    const int64_t n = args.is_tensor(1) ? args.tensor(1).numel() : 1;
    BP_ASSIGN_OR_RETURN(T * sorted, ctx.scratch<T>(n));
    T* const end = std::copy_if(set, set + n, sorted, [](T v) { return !is_nan(v); });
    std::sort(sorted, end);
    BP_ASSIGN_OR_RETURN(bool* y, open<bool>(ctx, out));
    for (int64_t i = 0; i < out.numel(); ++i)
      y[i] = (!is_nan(x[i]) && std::binary_search(sorted, end, x[i])) != args.boolean(3);
    close(out, y);
    return Ok{};
  });
}
template <int64_t A, int64_t B>
Status check_common(const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType common, common_of(args, A, B));
  return kReals.has(common) ? Status(Ok{}) : not_implemented(common);
}
Status check_isin(const Args& args) {
  for (const int64_t i : {0, 1}) {
    if (args.is_tensor(i) && !kReals.has(args.tensor(i).dtype()))
      return not_implemented(args.tensor(i).dtype());
  }
  return Ok{};
}

constexpr Entry table[] = {
    {"aten::bucketize.Scalar_out", "stbb>t", bucketize, kAll, 0, check_common<1, 0>},
    {"aten::bucketize.Tensor_out", "ttbb>t", bucketize, kAll, 0, check_common<1, 0>},
    {"aten::isin.Scalar_Tensor_out", "stbb>t", isin, kReals, 0, check_isin},
    {"aten::isin.Tensor_Scalar_out", "tsbb>t", isin, kReals, 0, check_isin},
    {"aten::isin.Tensor_Tensor_out", "ttbb>t", isin, kReals, 0, check_isin},
    {"aten::searchsorted.Scalar_out", "tsbbZT>t", searchsorted, kAll, 0, check_common<0, 1>},
    {"aten::searchsorted.Tensor_out", "ttbbZT>t", searchsorted, kAll, 0, check_common<0, 1>},
};

}  // namespace

extern const std::span<const Entry> search_kernels = table;

}  // namespace backplane::portable
