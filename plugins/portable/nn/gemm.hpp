// c[m, n] += a[m, k] · b[k, n]: the one matrix product of the library, for float, double, int64_t
// and complex numbers.
//
// Packed panels and a small tile in registers; sums run over k in order within blocks of 256, so a
// result does not depend on the number of threads.
#pragma once

#include <array>

#include "portable/kernel.hpp"

namespace backplane::portable {

// Element (i, j) is data[i * row + j * column].
template <class T>
struct Matrix {
  const T* data;
  int64_t row;
  int64_t column;
};

// c is row-major with `ldc` elements from row to row. Nothing overlaps c.
// out_of_memory: no scratch memory.
template <class T>
Status gemm(Context& ctx, const std::array<int64_t, 3>& mnk, Matrix<T> a, Matrix<T> b, T* c,
            int64_t ldc);

extern template Status gemm(Context&, const std::array<int64_t, 3>&, Matrix<float>, Matrix<float>,
                            float*, int64_t);
extern template Status gemm(Context&, const std::array<int64_t, 3>&, Matrix<double>, Matrix<double>,
                            double*, int64_t);
extern template Status gemm(Context&, const std::array<int64_t, 3>&, Matrix<int64_t>,
                            Matrix<int64_t>, int64_t*, int64_t);
extern template Status gemm(Context&, const std::array<int64_t, 3>&, Matrix<Complex64>,
                            Matrix<Complex64>, Complex64*, int64_t);
extern template Status gemm(Context&, const std::array<int64_t, 3>&, Matrix<Complex128>,
                            Matrix<Complex128>, Complex128*, int64_t);

}  // namespace backplane::portable
