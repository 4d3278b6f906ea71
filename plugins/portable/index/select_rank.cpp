// One value of each row by its rank or its frequency: kthvalue, median, mode.
#include <numeric>
#include <optional>
#include <vector>

#include "portable/index/order.hpp"

namespace backplane::portable {
namespace {

// Brings the place k of an ascending order to where it belongs: Hoare's selection with the median
// of three, whose exchanges decide which of equal values is named.
template <class Greater>
void quick_select(int64_t* order, int64_t n, int64_t k, Greater greater) {
  int64_t low = 0;
  int64_t high = n - 1;
  while (high > low + 1) {
    std::swap(order[(low + high) / 2], order[low + 1]);
    if (greater(order[low + 1], order[high])) std::swap(order[low + 1], order[high]);
    if (greater(order[low], order[high])) std::swap(order[low], order[high]);
    if (greater(order[low + 1], order[low])) std::swap(order[low + 1], order[low]);
    const int64_t pivot = order[low];
    int64_t left = low + 1;
    int64_t right = high;
    while (true) {
      do ++left;
      while (greater(pivot, order[left]));
      do --right;
      while (greater(order[right], pivot));
      if (right < left) break;
      std::swap(order[left], order[right]);
    }
    std::swap(order[low], order[right]);
    if (right <= k) low = left;
    if (right >= k) high = right - 1;
  }
  if (high == low + 1 && greater(order[low], order[high])) std::swap(order[low], order[high]);
}

// Where pick(const T* x, n, int64_t* space) says, in each row.
template <class F>
Status one_of_each_row(Context& ctx, const Args& args, int64_t dim_at, F&& pick) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(dim_at), self.dim()));
  if (self.dim() > 0 && self.size(dim) == 0) {
    return invalid(
        {"expected reduction dim ", dim, " to have non-zero size, got shape ", self.shape()});
  }
  return dispatch<float, double, int64_t>(self.dtype(), [&]<class T>() {
    return rows_along<T>(ctx, self, dim, 1, args.boolean(dim_at + 1), args.out(0), args.out(1),
                         [&](const T* x, int64_t n, T* y, int64_t* order) {
                           std::iota(order, order + n, int64_t{0});
                           *order = pick(x, n, order);
                           *y = x[*order];
                         });
  });
}

Status kthvalue(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(2), self.dim()));
  const int64_t k = args.integer(1);
  const int64_t size = self.dim() == 0 ? 1 : self.size(dim);
  if (k < 1 || k > size)
    return invalid(
        {"kthvalue(): selected number k out of range for dimension ", dim, ": ", k, " of ", size});
  return one_of_each_row(ctx, args, 2, [&](const auto* x, int64_t n, int64_t* order) {
    quick_select(order, n, k - 1, [&](int64_t a, int64_t b) { return before(x[b], x[a]); });
    return order[k - 1];
  });
}

// The lower of two in the middle. A NaN is the median, or counts for nothing.
template <bool IgnoresNan>
constexpr auto middle = []<class T>(const T* x, int64_t n, int64_t* order) -> int64_t {
  const int64_t nans = std::count_if(x, x + n, is_nan<T>);
  if (!IgnoresNan && nans > 0) return std::find_if(x, x + n, is_nan<T>) - x;
  int64_t* const nth = order + std::max<int64_t>(n - nans - 1, 0) / 2;
  std::nth_element(order, nth, order + n, [&](int64_t a, int64_t b) {
    return before(x[a], x[b]) || (!before(x[b], x[a]) && a < b);
  });
  return *nth;
};
template <bool IgnoresNan>
Status median_along(Context& ctx, const Args& args) {
  return one_of_each_row(ctx, args, 1, middle<IgnoresNan>);
}
template <bool IgnoresNan>
Status median_of_all(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(0);
  const int64_t n = self.numel();
  BP_TRY(ctx.resize(out, Dims()));
  return dispatch<float, double, int64_t>(self.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
    BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, out));
    BP_ASSIGN_OR_RETURN(int64_t * order, ctx.scratch<int64_t>(n));
    std::iota(order, order + n, int64_t{0});
    *y = n == 0 ? static_cast<T>(Scalar(std::nan("")).to<T>()) : x[middle<IgnoresNan>(x, n, order)];
    close(out, y);
    return Ok{};
  });
}

// The most frequent value, the smallest of several; its last place.
Status mode(Context& ctx, const Args& args) {
  return one_of_each_row(ctx, args, 1, [](const auto* x, int64_t n, int64_t* order) {
    std::sort(order, order + n, [&](int64_t a, int64_t b) { return before(x[a], x[b]); });
    int64_t best = 0;
    int64_t most = 0;
    for (int64_t begin = 0, end = 0; begin < n; begin = end) {
      while (end < n && (end == begin || x[order[end]] == x[order[begin]])) ++end;
      if (end - begin > most) best = order[end - 1];
      most = std::max(most, end - begin);
    }
    return best;
  });
}

constexpr Entry table[] = {
    {"aten::kthvalue.values", "tiib>tt", kthvalue, kReals},
    {"aten::median.dim_values", "tib>tt", median_along<false>, kReals},
    {"aten::median.out", "t>t", median_of_all<false>, kReals},
    {"aten::mode.values", "tib>tt", mode, kReals | kBool},
    {"aten::nanmedian.dim_values", "tib>tt", median_along<true>, kReals},
    {"aten::nanmedian.out", "t>t", median_of_all<true>, kReals},
};

}  // namespace

extern const std::span<const Entry> select_rank_kernels = table;

}  // namespace backplane::portable
