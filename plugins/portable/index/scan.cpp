// Running sums, products and extremes along a dimension.
#include <limits>

#include "portable/index/order.hpp"

namespace backplane::portable {
namespace {

// The type that running values are kept in: PyTorch's are double for float32.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;

// y[j] = combine(y[j - 1], x[j]) along args' dimension 1.
template <class T, class F>
Status scan(Context& ctx, const Args& args, F&& combine) {
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  BP_TRY(ctx.resize(out, self.shape()));
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, out));
  const Split s = self.dim() == 0 ? Split{} : split_at(self.shape(), dim);
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t i = 0; i < s.inner; ++i) {
      Wide<T> running{};
      for (int64_t j = 0; j < s.size; ++j) {
        const int64_t at = (o * s.size + j) * s.inner + i;
        running = j == 0 ? Wide<T>(x[at]) : combine(running, Wide<T>(x[at]));
        y[at] = static_cast<T>(running);
      }
    }
  }
  close(out, y);
  return Ok{};
}

Status cumsum(Context& ctx, const Args& args) {
  return dispatch<float, double, int64_t, Complex64, Complex128>(
      args.out(0).dtype(),
      [&]<class T>() { return scan<T>(ctx, args, [](auto a, auto b) { return a + b; }); });
}
Status cumprod(Context& ctx, const Args& args) {
  return dispatch<float, double, int64_t, Complex64, Complex128>(
      args.out(0).dtype(),
      [&]<class T>() { return scan<T>(ctx, args, [](auto a, auto b) { return a * b; }); });
}

// log(exp(a) + exp(b)), the larger one taken out first.
template <class T>
T log_sum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return a + b;
    const T high = std::max(a, b);
    const T low = std::min(a, b);
    return high == low && std::isinf(high) ? high : high + std::log1p(std::exp(low - high));
  } else {
    if (a.real() < b.real()) std::swap(a, b);
    const bool infinite = std::isinf(a.real()) && a.real() == b.real();
    return infinite ? std::log(std::exp(a) + std::exp(b)) : a + std::log(T(1) + std::exp(b - a));
  }
}
Status logcumsumexp(Context& ctx, const Args& args) {
  return dispatch<float, double, Complex64, Complex128>(args.out(0).dtype(), [&]<class T>() {
    return scan<T>(ctx, args, [](auto a, auto b) { return log_sum(a, b); });
  });
}

// The running extreme and where it was met last.
template <bool Max>
Status running_extreme(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  const int64_t n = self.dim() == 0 ? 1 : self.size(dim);
  return dispatch<float, double, int64_t>(self.dtype(), [&]<class T>() {
    return rows_along<T>(ctx, self, dim, n, true, args.out(0), args.out(1),
                         [](const T* x, int64_t length, T* y, int64_t* order) {
                           int64_t best = 0;
                           for (int64_t j = 0; j < length; ++j) {
                             const bool takes = Max ? x[j] >= x[best] : x[j] <= x[best];
                             if (is_nan(x[j]) || (!is_nan(x[best]) && takes)) best = j;
                             y[j] = x[best];
                             order[j] = best;
                           }
                         });
  });
}

constexpr Entry table[] = {
    {"aten::cummax.out", "ti>tt", running_extreme<true>, kReals | kBool},
    {"aten::cummin.out", "ti>tt", running_extreme<false>, kReals | kBool},
    {"aten::cumprod.out", "tiI>t", cumprod, kNumbers},
    {"aten::cumsum.out", "tiI>t", cumsum, kNumbers},
    {"aten::logcumsumexp.out", "ti>t", logcumsumexp, kFloats | kComplex},
};

}  // namespace

extern const std::span<const Entry> scan_kernels = table;

}  // namespace backplane::portable
