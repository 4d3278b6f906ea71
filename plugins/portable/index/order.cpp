// Order: sort, topk. Where values are equal the indices are those that PyTorch gives on a
// processor.
#include "portable/index/order.hpp"

#include <numeric>

namespace backplane::portable {
namespace {

Status sort_by(Context& ctx, const Args& args, int64_t dim_at, bool descending) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(dim_at), self.dim()));
  const int64_t n = self.dim() == 0 ? 1 : self.size(dim);
  return dispatch<float, double, int64_t>(self.dtype(), [&]<class T>() {
    return rows_along<T>(ctx, self, dim, n, true, args.out(0), args.out(1),
                         [&](const T* x, int64_t length, T* y, int64_t* order) {
                           std::iota(order, order + length, int64_t{0});
                           std::stable_sort(order, order + length, [&](int64_t a, int64_t b) {
                             return descending ? before(x[b], x[a]) : before(x[a], x[b]);
                           });
                           for (int64_t i = 0; i < length; ++i) y[i] = x[order[i]];
                         });
  });
}
Status sort(Context& ctx, const Args& args) {
  return sort_by(ctx, args, 1, args.boolean(2));
}
Status sort_stable(Context& ctx, const Args& args) {
  return sort_by(ctx, args, 2, args.boolean(3));
}

// The k first of a row to the front of `order`. Few of many are found by a heap, else by parting
// and then sorting, which decides which of equal values comes first.
template <class Less>
void select_first(int64_t* order, int64_t n, int64_t k, bool sorted, Less less) {
  constexpr int64_t kFew = 64;
  if (k * kFew <= n) {
    std::partial_sort(order, order + k, order + n, less);
  } else if (k > 0) {
    std::nth_element(order, order + k - 1, order + n, less);
    if (sorted) std::sort(order, order + k - 1, less);
  }
}

Status topk(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const int64_t k = args.integer(1);
  const bool largest = args.boolean(3);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(2), self.dim()));
  const int64_t n = self.dim() == 0 ? 1 : self.size(dim);
  if (k < 0 || k > n) return invalid({"selected index k out of range: ", k, " of ", n});
  return dispatch<float, double, int64_t>(self.dtype(), [&]<class T>() {
    return rows_along<T>(ctx, self, dim, self.dim() == 0 ? 1 : k, true, args.out(0), args.out(1),
                         [&](const T* x, int64_t length, T* y, int64_t* order) {
                           std::iota(order, order + length, int64_t{0});
                           select_first(order, length, k, args.boolean(4),
                                        [&](int64_t a, int64_t b) {
                                          return largest ? before(x[b], x[a]) : before(x[a], x[b]);
                                        });
                           for (int64_t i = 0; i < (self.dim() == 0 ? 1 : k); ++i)
                             y[i] = x[order[i]];
                         });
  });
}

constexpr Entry table[] = {
    {"aten::sort.values", "tib>tt", sort, kReals | kBool},
    {"aten::sort.values_stable", "tBib>tt", sort_stable, kReals | kBool},
    {"aten::topk.values", "tiibb>tt", topk, kReals},
};

}  // namespace

extern const std::span<const Entry> order_kernels = table;

}  // namespace backplane::portable
