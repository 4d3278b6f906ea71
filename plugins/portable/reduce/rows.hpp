// Reductions as work on rows: what is kept outside, what is reduced inside, dense.
#pragma once

#include <array>

#include "portable/dense.hpp"
#include "portable/shape.hpp"

namespace backplane::portable {

// A tensor's elements as rows[outer][length], and the shape of what is left of it.
template <class T>
struct Rows {
  const T* values;
  int64_t outer;
  int64_t length;
};

// Which dimensions are reduced, and the shape that results.
struct Reduction {
  std::array<bool, kMaxRank> reduced{};
  Dims shape;
  Dims order;  // kept dimensions first
  int64_t outer = 1;
  int64_t length = 1;
};

// `dims` empty: all. invalid_argument: out of range, twice.
[[nodiscard]] Result<Reduction> reduction(const Tensor& self, std::span<const int64_t> dims,
                                          bool keepdim);

template <class T>
Result<Rows<T>> rows_of(Context& ctx, const Tensor& self, const Reduction& r) {
  BP_ASSIGN_OR_RETURN(const T* values, read<T>(ctx, self, r.order));
  return Rows<T>{values, r.outer, r.length};
}

// The sum of n values, pairwise: the error grows with log n.
template <class T>
T pairwise_sum(const T* x, int64_t n) {
  if (n <= 64) {
    T sum{};
    for (int64_t i = 0; i < n; ++i) sum += x[i];
    return sum;
  }
  const int64_t half = n / 2;
  return pairwise_sum(x, half) + pairwise_sum(x + half, n - half);
}

// out[row] = f(values, length), computed in T, R's native dtype written.
template <class T, class R, class F>
Status reduce_rows(Context& ctx, const Tensor& self, const Reduction& r, const Tensor& out, F&& f) {
  BP_ASSIGN_OR_RETURN(const Rows<T> rows, rows_of<T>(ctx, self, r));
  BP_TRY(ctx.resize(out, r.shape));
  BP_ASSIGN_OR_RETURN(R * results, open<R>(ctx, out));
  ctx.parallel_for(rows.outer, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      results[i] = f(rows.values + i * rows.length, rows.length);
  });
  close(out, results);
  return Ok{};
}

}  // namespace backplane::portable
