// Cholesky factors, and solutions by them.
#include <Eigen/Cholesky>
#include <cmath>
#include <vector>

#include "portable/linalg/matrices.hpp"

namespace backplane::portable {
namespace linalg {
namespace {

// The lower triangle of `a` becomes l with a = l lᴴ. Returns the order of the first leading minor
// that is not positive, or 0.
template <class T>
int64_t factor(Ref<T> a) {
  const int64_t n = a.rows();
  if (n == 0) return 0;
  if (n == 1) {
    const double pivot = std::real(a(0, 0));
    if (!(pivot > 0)) return 1;
    a(0, 0) = std::sqrt(pivot);
    return 0;
  }
  const int64_t half = n / 2, rest = n - half;
  if (const int64_t info = factor<T>(a.topLeftCorner(half, half)); info != 0) return info;
  auto below = a.bottomLeftCorner(rest, half);
  a.topLeftCorner(half, half)
      .template triangularView<Eigen::Lower>()
      .adjoint()
      .template solveInPlace<Eigen::OnTheRight>(below);
  a.bottomRightCorner(rest, rest).template triangularView<Eigen::Lower>() -=
      below * below.adjoint();
  const int64_t info = factor<T>(a.bottomRightCorner(rest, rest));
  return info == 0 ? 0 : info + half;
}

template <class T>
Status cholesky(Context& ctx, const Args& args, bool check, bool with_info) {
  const Tensor self = args.tensor(0);
  const bool upper = args.boolean(1);
  BP_TRY(expect_square(self));
  BP_ASSIGN_OR_RETURN(const Batch<T> a, Batch<T>::read(ctx, self));
  BP_ASSIGN_OR_RETURN(Out<T> out, Out<T>::open(ctx, args.out(0), a.batch(), {a.rows(), a.rows()}));
  std::vector<int64_t> info(static_cast<size_t>(a.count()));
  for (int64_t i = 0; i < a.count(); ++i) {
    Matrix<T> l = Matrix<T>::Zero(a.rows(), a.rows());
    if (upper) {
      l.template triangularView<Eigen::Lower>() = a[i].adjoint();
    } else {
      l.template triangularView<Eigen::Lower>() = a[i];
    }
    const int64_t order = info[static_cast<size_t>(i)] = factor<T>(l);
    if (check && order != 0) {
      return invalid({which(i, a.count()), " is not positive-definite: its leading minor of order ",
                      order, " is not positive"});
    }
    if (upper) {
      out[i] = l.adjoint();
    } else {
      out[i] = l;
    }
  }
  out.close();
  if (!with_info) return Ok{};
  BP_ASSIGN_OR_RETURN(auto infos, Out<int64_t>::open(ctx, args.out(1), a.batch(), {}));
  std::copy(info.begin(), info.end(), infos.row(0));
  infos.close();
  return Ok{};
}
constexpr auto cholesky_checked = []<class T>(Context& ctx, const Args& args) {
  return cholesky<T>(ctx, args, true, false);
};
constexpr auto cholesky_ex = []<class T>(Context& ctx, const Args& args) {
  return cholesky<T>(ctx, args, args.boolean(2), true);
};

// x of (l lᴴ) x = b, or of (uᴴ u) x = b.
template <class T>
void solve_by(const ConstView<T>& factor, bool upper, View<T> x) {
  if (x.size() == 0) return;
  if (upper) {
    factor.template triangularView<Eigen::Upper>().adjoint().solveInPlace(x);
    factor.template triangularView<Eigen::Upper>().solveInPlace(x);
  } else {
    factor.template triangularView<Eigen::Lower>().solveInPlace(x);
    factor.template triangularView<Eigen::Lower>().adjoint().solveInPlace(x);
  }
}

// args: B, factor, upper
constexpr auto cholesky_solve = []<class T>(Context& ctx, const Args& args) -> Status {
  const Tensor side = args.tensor(0), factors = args.tensor(1);
  BP_TRY(expect_matrices(side));
  BP_TRY(expect_square(factors));
  BP_TRY(expect_same_dtype(side, factors));
  BP_ASSIGN_OR_RETURN(Batch<T> b, Batch<T>::read(ctx, side));
  BP_ASSIGN_OR_RETURN(Batch<T> l, Batch<T>::read(ctx, factors));
  if (b.rows() != l.rows()) {
    return invalid({"factors of ", factors.shape(), " and a right side of ", side.shape(),
                    " don't make a system of equations"});
  }
  BP_ASSIGN_OR_RETURN(const Dims batch, broadcast(b.batch(), l.batch()));
  BP_ASSIGN_OR_RETURN(Out<T> x, Out<T>::open(ctx, args.out(0), batch, {b.rows(), b.cols()}));
  b.spread(batch);
  l.spread(batch);
  for (int64_t i = 0; i < b.count(); ++i) {
    x[i] = b[i];
    solve_by<T>(l[i], args.boolean(2), x[i]);
  }
  x.close();
  return Ok{};
};

constexpr auto cholesky_inverse = []<class T>(Context& ctx, const Args& args) -> Status {
  const Tensor self = args.tensor(0);
  BP_TRY(expect_square(self));
  BP_ASSIGN_OR_RETURN(const Batch<T> l, Batch<T>::read(ctx, self));
  BP_ASSIGN_OR_RETURN(Out<T> x, Out<T>::open(ctx, args.out(0), l.batch(), {l.rows(), l.rows()}));
  for (int64_t i = 0; i < l.count(); ++i) {
    for (int64_t d = 0; d < l.rows(); ++d) {
      if (l[i](d, d) == T(0)) {
        return invalid({which(i, l.count()), " is no factor of an invertible matrix: element ", d,
                        " of its diagonal is zero"});
      }
    }
    x[i].setIdentity();
    solve_by<T>(l[i], args.boolean(1), x[i]);
  }
  x.close();
  return Ok{};
};

constexpr Entry table[] = {
    {"aten::cholesky_inverse.out", "tb>t", run<cholesky_inverse>, kLinear},
    {"aten::cholesky_solve.out", "ttb>t", run<cholesky_solve>, kLinear},
    {"aten::linalg_cholesky.out", "tb>t", run<cholesky_checked>, kLinear},
    {"aten::linalg_cholesky_ex.L", "tbb>tt", run<cholesky_ex>, kLinear},
};

}  // namespace
}  // namespace linalg

extern const std::span<const Entry> cholesky_kernels = linalg::table;

}  // namespace backplane::portable
