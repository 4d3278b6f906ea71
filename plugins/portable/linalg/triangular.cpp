// Systems of equations with triangular matrices, and with factors of symmetric ones.
#include <cmath>

#include "portable/linalg/matrices.hpp"

namespace backplane::portable {
namespace linalg {
namespace {

struct Triangle {
  bool upper, unit;
};

// b becomes x of op(a) x = b; op: nothing, or the transpose.
template <class T, class A>
void solve_triangle(const A& a, const Triangle& form, Matrix<T>& b) {
  using namespace Eigen;  // NOLINT: names of forms
  if (form.upper) {
    form.unit ? a.template triangularView<UnitUpper>().solveInPlace(b)
              : a.template triangularView<Upper>().solveInPlace(b);
  } else {
    form.unit ? a.template triangularView<UnitLower>().solveInPlace(b)
              : a.template triangularView<Lower>().solveInPlace(b);
  }
}

template <class T>
Status solve_triangles(Context& ctx, const std::array<Tensor, 2>& in, const Triangle& form,
                       bool left, bool transpose, const Tensor& out) {
  BP_TRY(expect_square(in[0]));
  BP_TRY(expect_matrices(in[1]));
  BP_TRY(expect_same_dtype(in[0], in[1]));
  BP_ASSIGN_OR_RETURN(Batch<T> a, Batch<T>::read(ctx, in[0]));
  BP_ASSIGN_OR_RETURN(Batch<T> b, Batch<T>::read(ctx, in[1]));
  if ((left ? b.rows() : b.cols()) != a.rows()) {
    return invalid({"matrices of ", in[0].shape(), " and a right side of ", in[1].shape(),
                    " don't make a system of equations"});
  }
  BP_ASSIGN_OR_RETURN(const Dims batch, broadcast(a.batch(), b.batch()));
  BP_ASSIGN_OR_RETURN(Out<T> x, Out<T>::open(ctx, out, batch, {b.rows(), b.cols()}));
  a.spread(batch);
  b.spread(batch);
  for (int64_t i = 0; i < b.count() && b.rows() * b.cols() > 0; ++i) {
    // x a = b is aᵀ xᵀ = bᵀ.
    Matrix<T> own = left ? Matrix<T>(b[i]) : Matrix<T>(b[i].transpose());
    if (left != transpose) {
      solve_triangle<T>(a[i], form, own);
    } else {
      solve_triangle<T>(a[i].transpose(), {!form.upper, form.unit}, own);
    }
    if (left) {
      x[i] = own;
    } else {
      x[i] = own.transpose();
    }
  }
  x.close();
  return Ok{};
}

// args: A, B, upper, left, unitriangular
constexpr auto solve_triangular = []<class T>(Context& ctx, const Args& args) {
  return solve_triangles<T>(ctx, {args.tensor(0), args.tensor(1)},
                            {args.boolean(2), args.boolean(4)}, args.boolean(3), false,
                            args.out(0));
};
// args: B, A, upper, transpose, unitriangular. The second output is a copy of A.
constexpr auto triangular_solve = []<class T>(Context& ctx, const Args& args) -> Status {
  BP_TRY(solve_triangles<T>(ctx, {args.tensor(1), args.tensor(0)},
                            {args.boolean(2), args.boolean(4)}, true, args.boolean(3),
                            args.out(0)));
  BP_ASSIGN_OR_RETURN(Batch<T> a, Batch<T>::read(ctx, args.tensor(1)));
  BP_ASSIGN_OR_RETURN(const Dims batch, broadcast(a.batch(), batch_of(args.tensor(0))));
  BP_ASSIGN_OR_RETURN(Out<T> copy, Out<T>::open(ctx, args.out(1), batch, {a.rows(), a.cols()}));
  a.spread(batch);
  for (int64_t i = 0; i < a.count(); ++i) copy[i] = a[i];
  copy.close();
  return Ok{};
};

// Solves with LAPACK's factors of sytrf and hetrf, lower form: a = (P l)(d)(P l)ᵀ where d has
// blocks of one row, or of two where two pivots are negative.
template <class T>
class BlockDiagonal {
 public:
  BlockDiagonal(const ConstView<T>& ld, const ConstView<int64_t>& pivots, bool hermitian)
      : ld_(ld), pivots_(pivots), hermitian_(hermitian) {}

  // Whether every pivot names a row, and those of two rows come in twos.
  [[nodiscard]] bool sound() const {
    for (int64_t k = 0; k < ld_.rows(); k += width(k)) {
      if (other(k) < 0 || other(k) >= ld_.rows()) return false;
      if (width(k) == 2 && (k + 1 == ld_.rows() || pivots_(k + 1, 0) != pivots_(k, 0)))
        return false;
    }
    return true;
  }

  void solve(Matrix<T>& b) const {
    const int64_t n = ld_.rows();
    for (int64_t k = 0; k < n; k += width(k)) {
      const int64_t w = width(k), rest = n - k - w;
      exchange(b, k);
      b.bottomRows(rest) -= ld_.block(k + w, k, rest, w) * b.middleRows(k, w);
      divide(b, k);
    }
    for (int64_t k = n - 1; k >= 0; --k) {
      if (width(k) == 2) --k;
      const int64_t w = width(k), rest = n - k - w;
      if (hermitian_) {
        b.middleRows(k, w) -= ld_.block(k + w, k, rest, w).adjoint() * b.bottomRows(rest);
      } else {
        b.middleRows(k, w) -= ld_.block(k + w, k, rest, w).transpose() * b.bottomRows(rest);
      }
      exchange(b, k);
    }
  }

 private:
  [[nodiscard]] int64_t width(int64_t k) const { return pivots_(k, 0) < 0 ? 2 : 1; }
  [[nodiscard]] int64_t other(int64_t k) const { return std::abs(pivots_(k, 0)) - 1; }
  void exchange(Matrix<T>& b, int64_t k) const {
    const int64_t own = k + width(k) - 1;
    if (other(k) != own) b.row(own).swap(b.row(other(k)));
  }
  void divide(Matrix<T>& b, int64_t k) const {
    if (width(k) == 1) {
      b.row(k) /= hermitian_ ? T(std::real(ld_(k, k))) : ld_(k, k);
      return;
    }
    const T low = ld_(k + 1, k);
    T high = low;
    if constexpr (!std::is_same_v<T, double>) high = hermitian_ ? std::conj(low) : low;
    const T det = ld_(k, k) * ld_(k + 1, k + 1) - low * high;
    const Matrix<T> two = b.middleRows(k, 2);
    b.row(k) = (ld_(k + 1, k + 1) * two.row(0) - high * two.row(1)) / det;
    b.row(k + 1) = (ld_(k, k) * two.row(1) - low * two.row(0)) / det;
  }

  ConstView<T> ld_;
  ConstView<int64_t> pivots_;
  bool hermitian_;
};

// args: LD, pivots, B, hermitian
constexpr auto ldl_solve = []<class T>(Context& ctx, const Args& args) -> Status {
  const Tensor factors = args.tensor(0), order = args.tensor(1), side = args.tensor(2);
  BP_TRY(expect_square(factors));
  BP_TRY(expect_matrices(side));
  BP_TRY(expect_same_dtype(factors, side));
  BP_ASSIGN_OR_RETURN(Batch<T> ld, Batch<T>::read(ctx, factors));
  BP_ASSIGN_OR_RETURN(Batch<T> b, Batch<T>::read(ctx, side));
  const Dims expected = join(ld.batch(), {ld.rows()});
  if ((order.dtype() != DType::i32 && order.dtype() != DType::i64) ||
      !(Dims(order.shape()) == expected) || b.rows() != ld.rows()) {
    return invalid({"factors of ", factors.shape(), ", pivots of ", order.shape(), " (",
                    order.dtype(), ") and a right side of ", side.shape(),
                    " don't make a system of equations"});
  }
  BP_ASSIGN_OR_RETURN(Batch<int64_t> pivots, Batch<int64_t>::read(ctx, order, 1));
  BP_ASSIGN_OR_RETURN(const Dims batch, broadcast(ld.batch(), b.batch()));
  BP_ASSIGN_OR_RETURN(Out<T> x, Out<T>::open(ctx, args.out(0), batch, {b.rows(), b.cols()}));
  ld.spread(batch);
  pivots.spread(batch);
  b.spread(batch);
  for (int64_t i = 0; i < b.count(); ++i) {
    const BlockDiagonal<T> solver(ld[i], pivots[i], args.boolean(3));
    if (!solver.sound()) return invalid({"the pivots of ", which(i, b.count()), " name no rows"});
    Matrix<T> own = b[i];
    solver.solve(own);
    x[i] = own;
  }
  x.close();
  return Ok{};
};

constexpr Entry table[] = {
    {"aten::linalg_ldl_solve.out", "tttb>t", run<ldl_solve>, kLinear},
    {"aten::linalg_solve_triangular.out", "ttbbb>t", run<solve_triangular>, kLinear},
    {"aten::triangular_solve.X", "ttbbb>tt", run<triangular_solve>, kLinear},
};

}  // namespace
}  // namespace linalg

extern const std::span<const Entry> triangular_kernels = linalg::table;

}  // namespace backplane::portable
