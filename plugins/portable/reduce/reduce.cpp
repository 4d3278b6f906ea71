// Sums, means, extremes, products, variances.
#include <algorithm>
#include <cmath>
#include <limits>

#include "portable/reduce/rows.hpp"

namespace backplane::portable {

Result<Reduction> reduction(const Tensor& self, std::span<const int64_t> dims, bool keepdim) {
  Reduction r;
  BP_ASSIGN_OR_RETURN(r.reduced, wrap_dims(dims, self.dim()));
  for (int64_t d = 0; d < self.dim(); ++d) {
    const bool gone = r.reduced[static_cast<size_t>(d)];
    (gone ? r.length : r.outer) *= self.size(d);
    if (!gone) {
      r.shape.push_back(self.size(d));
      r.order.push_back(d);
    } else if (keepdim) {
      r.shape.push_back(1);
    }
  }
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (r.reduced[static_cast<size_t>(d)]) r.order.push_back(d);
  }
  return r;
}

namespace {

// Without a list of dimensions: all. A list that is there but empty is all too.
std::span<const int64_t> dims_of(const Args& args, int64_t at) {
  return args.has(at) ? args.ints(at) : std::span<const int64_t>();
}

// The dtype that sums compute in: out's, or a floating one that holds it.
template <class F>
Status sum_like(Context& ctx, const Args& args, const Tensor& self, std::span<const int64_t> dims,
                bool keepdim, F&& finish) {
  BP_ASSIGN_OR_RETURN(const Reduction r, reduction(self, dims, keepdim));
  const Tensor out = args.out(0);
  return dispatch<float, double, int64_t, Complex64, Complex128>(out.dtype(), [&]<class T>() {
    return reduce_rows<T, T>(ctx, self, r, out,
                             [&](const T* x, int64_t n) { return finish(pairwise_sum(x, n), n); });
  });
}
constexpr auto as_it_is = [](auto sum, int64_t) { return sum; };
constexpr auto over_count = [](auto sum, int64_t n) {
  using T = decltype(sum);
  if constexpr (std::is_same_v<T, int64_t>) {
    return n == 0 ? T{} : sum / n;
  } else if constexpr (std::is_floating_point_v<T>) {
    return sum / static_cast<T>(n);
  } else {
    return sum / static_cast<typename T::value_type>(n);
  }
};
Status sum(Context& ctx, const Args& args) {
  return sum_like(ctx, args, args.tensor(0), dims_of(args, 1), args.boolean(2), as_it_is);
}
Status sum_all(Context& ctx, const Args& args) {
  return sum_like(ctx, args, args.tensor(0), {}, false, as_it_is);
}
Status mean(Context& ctx, const Args& args) {
  return sum_like(ctx, args, args.tensor(0), dims_of(args, 1), args.boolean(2), over_count);
}
Status mean_all(Context& ctx, const Args& args) {
  return sum_like(ctx, args, args.tensor(0), {}, false, over_count);
}

Status product_of(Context& ctx, const Args& args, std::span<const int64_t> dims, bool keepdim) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const Reduction r, reduction(self, dims, keepdim));
  const Tensor out = args.out(0);
  return dispatch<float, double, int64_t, Complex64, Complex128>(out.dtype(), [&]<class T>() {
    return reduce_rows<T, T>(ctx, self, r, out, [](const T* x, int64_t n) {
      T product(1);
      for (int64_t i = 0; i < n; ++i) product *= x[i];
      return product;
    });
  });
}
Status prod(Context& ctx, const Args& args) {
  const int64_t dim = args.integer(1);
  return product_of(ctx, args, {&dim, 1}, args.boolean(2));
}
Status prod_all(Context& ctx, const Args& args) {
  return product_of(ctx, args, {}, false);
}

// Whether b takes a's place as the extreme: NaN does always, an equal one never.
template <bool Max, class T>
bool beats(T b, T a) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return Max ? b > a : b < a;
}
template <bool Max, class T>
int64_t extreme(const T* x, int64_t n) {
  int64_t best = 0;
  for (int64_t i = 1; i < n; ++i) {
    if (beats<Max>(x[i], x[best])) best = i;
  }
  return best;
}

Status refuse_empty(const Tensor& self, const Reduction& r) {
  if (r.length > 0 || r.outer == 0) return Ok{};
  return invalid({"expected reduction dim to have non-zero size: cannot reduce ", self.shape(),
                  " without an identity"});
}

template <bool Max>
Status extreme_values(Context& ctx, const Args& args, std::span<const int64_t> dims, bool keepdim) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const Reduction r, reduction(self, dims, keepdim));
  BP_TRY(refuse_empty(self, r));
  return dispatch<float, double, int64_t>(self.dtype(), [&]<class T>() {
    return reduce_rows<T, T>(ctx, self, r, args.out(0),
                             [](const T* x, int64_t n) { return x[extreme<Max>(x, n)]; });
  });
}
template <bool Max>
Status amax(Context& ctx, const Args& args) {
  return extreme_values<Max>(ctx, args, dims_of(args, 1), args.boolean(2));
}
template <bool Max>
Status extreme_all(Context& ctx, const Args& args) {
  return extreme_values<Max>(ctx, args, {}, false);
}

template <bool Max>
Status argmax(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer_or(1, 0);
  const auto dims = args.has(1) ? std::span(&dim, 1) : std::span<const int64_t>();
  BP_ASSIGN_OR_RETURN(const Reduction r, reduction(self, dims, args.boolean(2)));
  BP_TRY(refuse_empty(self, r));
  return dispatch<float, double, int64_t>(self.dtype(), [&]<class T>() {
    return reduce_rows<T, int64_t>(ctx, self, r, args.out(0),
                                   [](const T* x, int64_t n) { return extreme<Max>(x, n); });
  });
}

template <bool Max>
Status extreme_dim(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const int64_t dim = args.integer(1);
  BP_ASSIGN_OR_RETURN(const Reduction r, reduction(self, {&dim, 1}, args.boolean(2)));
  BP_TRY(refuse_empty(self, r));
  return dispatch<float, double, int64_t>(self.dtype(), [&]<class T>() -> Status {
    BP_TRY((reduce_rows<T, T>(ctx, self, r, args.out(0),
                              [](const T* x, int64_t n) { return x[extreme<Max>(x, n)]; })));
    return reduce_rows<T, int64_t>(ctx, self, r, args.out(1),
                                   [](const T* x, int64_t n) { return extreme<Max>(x, n); });
  });
}

template <bool Any>
Status truth(Context& ctx, const Args& args, std::span<const int64_t> dims, bool keepdim) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const Reduction r, reduction(self, dims, keepdim));
  return dispatch<float, double, int64_t, uint64_t, Complex64, Complex128>(
      self.dtype(), [&]<class T>() {
        return reduce_rows<T, bool>(ctx, self, r, args.out(0), [](const T* x, int64_t n) {
          return Any ? std::any_of(x, x + n, [](T v) { return v != T{}; })
                     : std::all_of(x, x + n, [](T v) { return v != T{}; });
        });
      });
}
template <bool Any>
Status truth_all(Context& ctx, const Args& args) {
  return truth<Any>(ctx, args, {}, false);
}
template <bool Any>
Status truth_dim(Context& ctx, const Args& args) {
  const int64_t dim = args.integer(1);
  return truth<Any>(ctx, args, {&dim, 1}, args.boolean(2));
}
template <bool Any>
Status truth_dims(Context& ctx, const Args& args) {
  return truth<Any>(ctx, args, dims_of(args, 1), args.boolean(2));
}

// Two passes: the mean first.
template <class T>
T variance(const T* x, int64_t n, double correction) {
  const T mean = pairwise_sum(x, n) / static_cast<T>(n);
  double squares = 0;
  for (int64_t i = 0; i < n; ++i)
    squares += static_cast<double>(x[i] - mean) * static_cast<double>(x[i] - mean);
  return static_cast<T>(squares / std::max(0.0, static_cast<double>(n) - correction));
}

Status spread(Context& ctx, const Args& args, std::span<const int64_t> dims, double correction,
              bool keepdim, bool root, int64_t with_mean) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const Reduction r, reduction(self, dims, keepdim));
  return dispatch<float, double>(self.dtype(), [&]<class T>() -> Status {
    BP_TRY((reduce_rows<T, T>(ctx, self, r, args.out(0), [&](const T* x, int64_t n) {
      const T v = variance(x, n, correction);
      return root ? std::sqrt(v) : v;
    })));
    if (with_mean == 0) return Ok{};
    return reduce_rows<T, T>(ctx, self, r, args.out(1), [](const T* x, int64_t n) {
      return pairwise_sum(x, n) / static_cast<T>(n);
    });
  });
}
template <bool Root, bool Mean>
Status spread_correction(Context& ctx, const Args& args) {
  return spread(ctx, args, dims_of(args, 1), args.has(2) ? args.scalar(2).to<double>() : 1,
                args.boolean(3), Root, Mean ? 1 : 0);
}
template <bool Root>
Status spread_dims(Context& ctx, const Args& args) {
  return spread(ctx, args, dims_of(args, 1), args.boolean(2) ? 1 : 0, args.boolean(3), Root, 0);
}

// The p-norm of n magnitudes, in double.
template <class T>
double norm_of(const T* x, int64_t n, double p) {
  double sum =
      p == -std::numeric_limits<double>::infinity() ? std::numeric_limits<double>::infinity() : 0;
  for (int64_t i = 0; i < n; ++i) {
    const double v = std::abs(x[i]);
    if (std::isnan(v)) return v;
    if (p == 0) {
      sum += v != 0 ? 1 : 0;
    } else if (std::isinf(p)) {
      sum = p > 0 ? std::max(sum, v) : std::min(sum, v);
    } else {
      sum += p == 1 ? v : p == 2 ? v * v : std::pow(v, p);
    }
  }
  if (p == 0 || p == 1 || std::isinf(p)) return sum;
  return p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
}

// args: self, ord, dim, keepdim, dtype.
Status vector_norm(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const double p = args.scalar(1).to<double>();
  BP_ASSIGN_OR_RETURN(const Reduction r, reduction(self, dims_of(args, 2), args.boolean(3)));
  if (p < 0 || std::isinf(p)) BP_TRY(refuse_empty(self, r));
  return dispatch<float, double, Complex64, Complex128>(self.dtype(), [&]<class T>() -> Status {
    using R = decltype(std::abs(T{}));
    return reduce_rows<T, R>(ctx, self, r, args.out(0), [&](const T* x, int64_t n) {
      return static_cast<R>(norm_of(x, n, p));
    });
  });
}

constexpr DTypes kOrdered = kReals | kBool;

constexpr Entry table[] = {
    {"aten::all.all_out", "t>t", truth_all<false>},
    {"aten::all.dims_out", "tNb>t", truth_dims<false>},
    {"aten::all.out", "tib>t", truth_dim<false>},
    {"aten::amax.out", "tnb>t", amax<true>, kOrdered},
    {"aten::amin.out", "tnb>t", amax<false>, kOrdered},
    {"aten::any.all_out", "t>t", truth_all<true>},
    {"aten::any.dims_out", "tNb>t", truth_dims<true>},
    {"aten::any.out", "tib>t", truth_dim<true>},
    {"aten::argmax.out", "tIb>t", argmax<true>, kReals},
    {"aten::argmin.out", "tIb>t", argmax<false>, kReals},
    {"aten::linalg_vector_norm.out", "tsNbI>t", vector_norm, kFloats | kComplex},
    {"aten::max.dim_max", "tib>tt", extreme_dim<true>, kOrdered},
    {"aten::max.unary_out", "t>t", extreme_all<true>, kOrdered},
    {"aten::mean.dtype_out", "tI>t", mean_all, kNumbers},
    {"aten::mean.out", "tNbI>t", mean, kNumbers},
    {"aten::min.dim_min", "tib>tt", extreme_dim<false>, kOrdered},
    {"aten::min.unary_out", "t>t", extreme_all<false>, kOrdered},
    {"aten::prod.int_out", "tibI>t", prod, kNumbers},
    {"aten::prod.out", "tI>t", prod_all, kNumbers},
    {"aten::std.correction_out", "tNSb>t", spread_correction<true, false>, kFloats},
    {"aten::std.out", "tNbb>t", spread_dims<true>, kFloats},
    {"aten::std_mean.correction_out", "tNSb>tt", spread_correction<true, true>, kFloats},
    {"aten::sum.IntList_out", "tNbI>t", sum, kNumbers},
    {"aten::sum.out", "tI>t", sum_all, kNumbers},
    {"aten::var.correction_out", "tNSb>t", spread_correction<false, false>, kFloats},
    {"aten::var.out", "tNbb>t", spread_dims<false>, kFloats},
    {"aten::var_mean.correction_out", "tNSb>tt", spread_correction<false, true>, kFloats},
};

}  // namespace

extern const std::span<const Entry> reduce_kernels = table;

}  // namespace backplane::portable
