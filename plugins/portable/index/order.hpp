// What sorting, selecting and searching share: the order of values, rows along a dimension.
#pragma once

#include <algorithm>
#include <cmath>

#include "portable/dense.hpp"
#include "portable/shape.hpp"

namespace backplane::portable {

template <class T>
bool is_nan(T x) {
  if constexpr (std::is_floating_point_v<T>) return std::isnan(x);
  return false;
}

// a comes before b: NaN is larger than everything.
template <class T>
bool before(T a, T b) {
  if (is_nan(a)) return false;
  return is_nan(b) || a < b;
}

// Along `dim` of self, for each row: f(const T* x, n, T* values, int64_t* indices) gives `k` values
// and where they stood. The outputs have self's shape with k in that dimension, or without the
// dimension where k is 1 and keepdim is not set.
template <class T, class F>
Status rows_along(Context& ctx, const Tensor& self, int64_t dim, int64_t k, bool keepdim,
                  const Tensor& values, const Tensor& indices, F&& f) {
  Dims shape(self.shape());
  if (self.dim() > 0) shape[dim] = k;
  if (self.dim() > 0 && !keepdim) shape.erase(dim);
  BP_TRY(ctx.resize(values, shape));
  BP_TRY(ctx.resize(indices, shape));
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, values));
  BP_ASSIGN_OR_RETURN(int64_t * z, open<int64_t>(ctx, indices));
  const Split s = self.dim() == 0 ? Split{} : split_at(self.shape(), dim);
  BP_ASSIGN_OR_RETURN(T * row, ctx.scratch<T>(s.size + k));
  BP_ASSIGN_OR_RETURN(int64_t * order, ctx.scratch<int64_t>(std::max(s.size, k)));
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t i = 0; i < s.inner; ++i) {
      for (int64_t j = 0; j < s.size; ++j) row[j] = x[(o * s.size + j) * s.inner + i];
      f(row, s.size, row + s.size, order);
      for (int64_t j = 0; j < k; ++j) {
        y[(o * k + j) * s.inner + i] = row[s.size + j];
        z[(o * k + j) * s.inner + i] = order[j];
      }
    }
  }
  close(values, y);
  close(indices, z);
  return Ok{};
}

}  // namespace backplane::portable
