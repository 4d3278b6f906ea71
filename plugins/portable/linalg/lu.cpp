#include "portable/linalg/lu.hpp"

#include <cmath>

namespace backplane::portable::linalg {
namespace {

// What LAPACK compares candidates by.
double magnitude(double x) {
  return std::fabs(x);
}
double magnitude(Complex128 x) {
  return std::fabs(x.real()) + std::fabs(x.imag());
}

template <class T>
int64_t factor_column(Ref<T> a, int64_t* pivots) {
  int64_t best = 0;
  for (int64_t i = 1; i < a.rows(); ++i) {
    if (magnitude(a(i, 0)) > magnitude(a(best, 0))) best = i;
  }
  pivots[0] = best + 1;
  std::swap(a(0, 0), a(best, 0));
  if (a(0, 0) == T(0)) return 1;
  a.col(0).tail(a.rows() - 1) /= a(0, 0);
  return 0;
}

template <class T>
void exchange_rows(Ref<T> a, const int64_t* pivots, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (pivots[i] != i + 1) a.row(i).swap(a.row(pivots[i] - 1));
  }
}

}  // namespace

template <class T>
int64_t factor_lu(Ref<T> a, int64_t* pivots) {
  const int64_t rank = std::min(a.rows(), a.cols());
  if (rank == 0) return 0;
  if (a.cols() == 1) return factor_column<T>(a, pivots);
  const int64_t left = std::max<int64_t>(rank / 2, 1), below = a.rows() - left;
  const int64_t right = a.cols() - left;
  const int64_t first = factor_lu<T>(a.leftCols(left), pivots);
  exchange_rows<T>(a.rightCols(right), pivots, left);
  auto upper = a.topRightCorner(left, right);
  a.topLeftCorner(left, left).template triangularView<Eigen::UnitLower>().solveInPlace(upper);
  if (below == 0) return first;
  a.bottomRightCorner(below, right).noalias() -= a.bottomLeftCorner(below, left) * upper;
  const int64_t rest = factor_lu<T>(a.bottomRightCorner(below, right), pivots + left);
  exchange_rows<T>(a.bottomLeftCorner(below, left), pivots + left, rank - left);
  for (int64_t i = left; i < rank; ++i) pivots[i] += left;
  return first != 0 || rest == 0 ? first : rest + left;
}

template <class T>
Determinant<T> determinant(const Ref<T>& lu, const int64_t* pivots) {
  Determinant<T> d;
  for (int64_t i = 0; i < lu.rows(); ++i) {
    const T pivot = pivots[i] == i + 1 ? lu(i, i) : -lu(i, i);
    const double modulus = std::abs(pivot);
    d.value *= pivot;
    d.sign *= modulus == 0 ? T(0) : pivot / modulus;
    d.log += std::log(modulus);
  }
  return d;
}

template <class T>
void solve_lu(const Ref<T>& lu, const int64_t* pivots, bool adjoint, Ref<T> b) {
  if (b.size() == 0) return;
  if (!adjoint) {
    exchange_rows<T>(b, pivots, lu.rows());
    lu.template triangularView<Eigen::UnitLower>().solveInPlace(b);
    lu.template triangularView<Eigen::Upper>().solveInPlace(b);
    return;
  }
  lu.template triangularView<Eigen::Upper>().adjoint().solveInPlace(b);
  lu.template triangularView<Eigen::UnitLower>().adjoint().solveInPlace(b);
  for (int64_t i = lu.rows() - 1; i >= 0; --i) {
    if (pivots[i] != i + 1) b.row(i).swap(b.row(pivots[i] - 1));
  }
}

template int64_t factor_lu(Ref<double>, int64_t*);
template int64_t factor_lu(Ref<Complex128>, int64_t*);
template Determinant<double> determinant(const Ref<double>&, const int64_t*);
template Determinant<Complex128> determinant(const Ref<Complex128>&, const int64_t*);
template void solve_lu(const Ref<double>&, const int64_t*, bool, Ref<double>);
template void solve_lu(const Ref<Complex128>&, const int64_t*, bool, Ref<Complex128>);

}  // namespace backplane::portable::linalg
