// Gaussian elimination with row exchanges, as LAPACK's getrf has it: factors in one matrix, and for
// each column the row (from 1) that it was exchanged with.
#pragma once

#include "portable/linalg/matrices.hpp"

namespace backplane::portable::linalg {

// In place. Returns the first column (from 1) whose pivot is zero, or 0. `pivots` has min(rows,
// cols) elements. Halves of columns are factored in turn, so most of the work is a product.
template <class T>
int64_t factor_lu(Ref<T> a, int64_t* pivots);

// The determinant's factors.
template <class T>
struct Determinant {
  T sign = T(1);   // of modulus 1, or 0
  double log = 0;  // of the modulus
  T value = T(1);
};
template <class T>
Determinant<T> determinant(const Ref<T>& lu, const int64_t* pivots);

// b becomes the solution of a x = b, or of aᴴ x = b.
template <class T>
void solve_lu(const Ref<T>& lu, const int64_t* pivots, bool adjoint, Ref<T> b);

// x of a x = b, or of x a = b where `left` is false.
template <class T>
Matrix<T> solve_lu(const Ref<T>& lu, const int64_t* pivots, bool left, bool adjoint, Matrix<T> b) {
  if (left) {
    solve_lu<T>(lu, pivots, adjoint, b);
    return b;
  }
  Matrix<T> turned = b.adjoint();
  solve_lu<T>(lu, pivots, !adjoint, turned);
  return turned.adjoint();
}

extern template int64_t factor_lu(Ref<double>, int64_t*);
extern template int64_t factor_lu(Ref<Complex128>, int64_t*);
extern template Determinant<double> determinant(const Ref<double>&, const int64_t*);
extern template Determinant<Complex128> determinant(const Ref<Complex128>&, const int64_t*);
extern template void solve_lu(const Ref<double>&, const int64_t*, bool, Ref<double>);
extern template void solve_lu(const Ref<Complex128>&, const int64_t*, bool, Ref<Complex128>);

}  // namespace backplane::portable::linalg
