// QR factors, and products of Householder reflectors as LAPACK stores them: column k of a matrix
// has reflector k below the diagonal, I - tau v vᴴ with v[k] = 1.
#include <cmath>

#include "portable/linalg/matrices.hpp"

namespace backplane::portable {
namespace linalg {
namespace {

template <class T>
T conjugate(T x) {
  if constexpr (std::is_same_v<T, double>) {
    return x;
  } else {
    return std::conj(x);
  }
}

template <class T>
Vector<T> reflector(const Ref<T>& a, int64_t k) {
  Vector<T> v = a.col(k).tail(a.rows() - k);
  v(0) = T(1);
  return v;
}

// The reflector that makes column k zero below the diagonal; the diagonal's element becomes real.
template <class T>
T make_reflector(Ref<T> a, int64_t k) {
  auto column = a.col(k).tail(a.rows() - k);
  const T alpha = column(0);
  const double below = column.tail(column.size() - 1).norm();
  if (below == 0 && std::imag(alpha) == 0) return T(0);
  const double beta = -std::copysign(std::hypot(std::abs(alpha), below), std::real(alpha));
  column.tail(column.size() - 1) /= alpha - beta;
  column(0) = beta;
  return (beta - alpha) / beta;
}

// rows k… of b become (I - tau v vᴴ) of them.
template <class T, class B>
void reflect(const Vector<T>& v, T tau, B&& b) {
  auto rows = b.bottomRows(v.size());
  const Matrix<T> product = v.adjoint() * rows;
  rows.noalias() -= tau * v * product;
}

template <class T>
void factor_qr(Ref<T> a, T* tau) {
  for (int64_t k = 0; k < std::min(a.rows(), a.cols()); ++k) {
    tau[k] = make_reflector<T>(a, k);
    reflect<T>(reflector<T>(a, k), conjugate(tau[k]), a.rightCols(a.cols() - k - 1));
  }
}

// b becomes q b, or qᴴ b; q is the product of the first `count` reflectors.
template <class T>
void multiply(const Ref<T>& a, const T* tau, int64_t count, bool adjoint, Ref<T> b) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t k = adjoint ? i : count - 1 - i;
    reflect<T>(reflector<T>(a, k), adjoint ? conjugate(tau[k]) : tau[k], b);
  }
}

// args: self. Outputs: a, tau.
constexpr auto geqrf = []<class T>(Context& ctx, const Args& args) -> Status {
  const Tensor self = args.tensor(0);
  BP_TRY(expect_matrices(self));
  BP_ASSIGN_OR_RETURN(const Batch<T> a, Batch<T>::read(ctx, self));
  BP_ASSIGN_OR_RETURN(Out<T> qr, Out<T>::open(ctx, args.out(0), a.batch(), {a.rows(), a.cols()}));
  BP_ASSIGN_OR_RETURN(Out<T> tau, Out<T>::open(ctx, args.out(1), a.batch(), {a.rank()}));
  for (int64_t i = 0; i < a.count(); ++i) {
    qr[i] = a[i];
    factor_qr<T>(qr[i], tau.row(i));
  }
  qr.close();
  tau.close();
  return Ok{};
};

enum class Mode { reduced, complete, r };

template <class T>
Status factor_all(Context& ctx, const Args& args, Mode mode) {
  const Tensor self = args.tensor(0);
  BP_TRY(expect_matrices(self));
  BP_ASSIGN_OR_RETURN(const Batch<T> a, Batch<T>::read(ctx, self));
  const int64_t m = a.rows(), n = a.cols(), k = mode == Mode::complete ? m : a.rank();
  BP_ASSIGN_OR_RETURN(Out<T> q, mode == Mode::r
                                    ? Out<T>::open(ctx, args.out(0), Dims{0}, {})
                                    : Out<T>::open(ctx, args.out(0), a.batch(), {m, k}));
  BP_ASSIGN_OR_RETURN(Out<T> r, Out<T>::open(ctx, args.out(1), a.batch(), {k, n}));
  Vector<T> tau(a.rank());
  for (int64_t i = 0; i < a.count(); ++i) {
    Matrix<T> qr = a[i];
    factor_qr<T>(qr, tau.data());
    r[i] = qr.topRows(k).template triangularView<Eigen::Upper>();
    if (mode == Mode::r) continue;
    q[i].setIdentity();
    multiply<T>(qr, tau.data(), a.rank(), false, q[i]);
  }
  q.close();
  r.close();
  return Ok{};
}
constexpr auto linalg_qr = []<class T>(Context& ctx, const Args& args) -> Status {
  const std::string_view mode = args.string(1);
  if (mode != "reduced" && mode != "complete" && mode != "r") {
    return invalid({"mode must be 'reduced', 'complete' or 'r', but is '", mode, "'"});
  }
  return factor_all<T>(ctx, args,
                       mode == "r"          ? Mode::r
                       : mode == "complete" ? Mode::complete
                                            : Mode::reduced);
};

// Reads tau, [batch..., count] with count <= columns.
template <class T>
Result<Batch<T>> read_tau(Context& ctx, const Tensor& tau, const Batch<T>& a, const Tensor& from) {
  BP_TRY(expect_same_dtype(from, tau));
  if (tau.dim() != from.dim() - 1 || !(batch_of(tau, 1) == a.batch()) || tau.size(-1) > a.cols()) {
    return invalid({"tau of ", tau.shape(), " doesn't go with reflectors of ", from.shape()});
  }
  return Batch<T>::read(ctx, tau, 1);
}

constexpr auto householder_product = []<class T>(Context& ctx, const Args& args) -> Status {
  const Tensor self = args.tensor(0);
  BP_TRY(expect_matrices(self));
  BP_ASSIGN_OR_RETURN(const Batch<T> a, Batch<T>::read(ctx, self));
  BP_ASSIGN_OR_RETURN(const Batch<T> tau, read_tau<T>(ctx, args.tensor(1), a, self));
  if (a.rows() < a.cols()) {
    return invalid(
        {"at least as many rows as columns are needed, but the shape is ", self.shape()});
  }
  BP_ASSIGN_OR_RETURN(Out<T> q, Out<T>::open(ctx, args.out(0), a.batch(), {a.rows(), a.cols()}));
  for (int64_t i = 0; i < a.count(); ++i) {
    Matrix<T> own = a[i];
    q[i].setIdentity();
    multiply<T>(own, tau[i].data(), tau.rows(), false, q[i]);
  }
  q.close();
  return Ok{};
};

// args: self, tau, other, left, transpose (the conjugate one). q is square: all its columns count.
constexpr auto ormqr = []<class T>(Context& ctx, const Args& args) -> Status {
  const Tensor self = args.tensor(0), other = args.tensor(2);
  const bool left = args.boolean(3), adjoint = args.boolean(4);
  BP_TRY(expect_matrices(self));
  BP_TRY(expect_matrices(other));
  BP_TRY(expect_same_dtype(self, other));
  BP_ASSIGN_OR_RETURN(const Batch<T> a, Batch<T>::read(ctx, self));
  BP_ASSIGN_OR_RETURN(const Batch<T> tau, read_tau<T>(ctx, args.tensor(1), a, self));
  BP_ASSIGN_OR_RETURN(const Batch<T> b, Batch<T>::read(ctx, other));
  if ((left ? b.rows() : b.cols()) != a.rows() || tau.rows() > a.rows() ||
      !(a.batch() == b.batch())) {
    return invalid({"reflectors of ", self.shape(), " don't go with matrices of ", other.shape()});
  }
  BP_ASSIGN_OR_RETURN(Out<T> out, Out<T>::open(ctx, args.out(0), b.batch(), {b.rows(), b.cols()}));
  for (int64_t i = 0; i < a.count(); ++i) {
    Matrix<T> own = a[i];
    if (left) {
      out[i] = b[i];
      multiply<T>(own, tau[i].data(), tau.rows(), adjoint, out[i]);
    } else {
      Matrix<T> turned = b[i].adjoint();
      multiply<T>(own, tau[i].data(), tau.rows(), !adjoint, turned);
      out[i] = turned.adjoint();
    }
  }
  out.close();
  return Ok{};
};

constexpr Entry table[] = {
    {"aten::geqrf.a", "t>tt", run<geqrf>, kLinear},
    {"aten::linalg_householder_product.out", "tt>t", run<householder_product>, kLinear},
    {"aten::linalg_qr.out", "tz>tt", run<linalg_qr>, kLinear},
    {"aten::orgqr.out", "tt>t", run<householder_product>, kLinear},
    {"aten::ormqr.out", "tttbb>t", run<ormqr>, kLinear},
};

}  // namespace
}  // namespace linalg

extern const std::span<const Entry> orthogonal_kernels = linalg::table;

}  // namespace backplane::portable
