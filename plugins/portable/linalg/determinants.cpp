// Factors of Gaussian elimination and determinants.
#include <cmath>
#include <limits>
#include <vector>

#include "portable/linalg/lu.hpp"

namespace backplane::portable {
namespace linalg {
namespace {

Status refuse_without_pivots(const Args& args) {
  if (args.boolean(1)) return Ok{};
  return error(Code::unsupported, {"without row exchanges it is not there for the CPU"});
}

// args: A, pivot, check_errors. Outputs: LU, pivots, info.
template <class T>
Status lu_factor(Context& ctx, const Args& args, bool check_errors, bool with_info) {
  const Tensor self = args.tensor(0);
  BP_TRY(expect_matrices(self));
  BP_ASSIGN_OR_RETURN(const Batch<T> a, Batch<T>::read(ctx, self));
  BP_ASSIGN_OR_RETURN(Out<T> lu, Out<T>::open(ctx, args.out(0), a.batch(), {a.rows(), a.cols()}));
  BP_ASSIGN_OR_RETURN(auto pivots, Out<int64_t>::open(ctx, args.out(1), a.batch(), {a.rank()}));
  std::vector<int64_t> info(static_cast<size_t>(a.count()));
  for (int64_t i = 0; i < a.count(); ++i) {
    lu[i] = a[i];
    info[static_cast<size_t>(i)] = factor_lu<T>(lu[i], pivots.row(i));
    if (check_errors && info[static_cast<size_t>(i)] != 0) {
      return invalid({which(i, a.count()), " has a zero pivot in column ",
                      info[static_cast<size_t>(i)], ": no solution can use its factors"});
    }
  }
  lu.close();
  pivots.close();
  if (!with_info) return Ok{};
  BP_ASSIGN_OR_RETURN(auto infos, Out<int64_t>::open(ctx, args.out(2), a.batch(), {}));
  std::copy(info.begin(), info.end(), infos.row(0));
  infos.close();
  return Ok{};
}
constexpr auto lu_factor_checked = []<class T>(Context& ctx, const Args& args) {
  return lu_factor<T>(ctx, args, true, false);
};
constexpr auto lu_factor_ex = []<class T>(Context& ctx, const Args& args) {
  return lu_factor<T>(ctx, args, args.boolean(2), true);
};

// Writes what is asked for of P, L and U.
template <class T>
Status unpack(Context& ctx, const Args& args, const Batch<T>& lu, const Batch<int64_t>* pivots,
              bool data) {
  const int64_t m = lu.rows(), n = lu.cols(), k = lu.rank();
  const Dims none{0};
  BP_ASSIGN_OR_RETURN(Out<T> p, pivots != nullptr
                                    ? Out<T>::open(ctx, args.out(0), lu.batch(), {m, m})
                                    : Out<T>::open(ctx, args.out(0), none, {}));
  BP_ASSIGN_OR_RETURN(Out<T> l, data ? Out<T>::open(ctx, args.out(1), lu.batch(), {m, k})
                                     : Out<T>::open(ctx, args.out(1), none, {}));
  BP_ASSIGN_OR_RETURN(Out<T> u, data ? Out<T>::open(ctx, args.out(2), lu.batch(), {k, n})
                                     : Out<T>::open(ctx, args.out(2), none, {}));
  for (int64_t i = 0; i < lu.count(); ++i) {
    if (pivots != nullptr) {
      p[i].setIdentity();
      const auto exchanged = (*pivots)[i];
      for (int64_t row = 0; row < exchanged.rows(); ++row) {
        const int64_t other = exchanged(row, 0) - 1;
        if (other < 0 || other >= m) {
          return invalid({"pivot ", other + 1, " is not a row of a matrix of ", m, " rows"});
        }
        p[i].col(row).swap(p[i].col(other));
      }
    }
    if (data) {
      l[i] = lu[i].leftCols(k).template triangularView<Eigen::UnitLower>();
      u[i] = lu[i].topRows(k).template triangularView<Eigen::Upper>();
    }
  }
  p.close();
  l.close();
  u.close();
  return Ok{};
}

// args: LU_data, LU_pivots, unpack_data, unpack_pivots
constexpr auto lu_unpack = []<class T>(Context& ctx, const Args& args) -> Status {
  const Tensor packed = args.tensor(0), order = args.tensor(1);
  BP_TRY(expect_matrices(packed));
  BP_ASSIGN_OR_RETURN(const Batch<T> lu, Batch<T>::read(ctx, packed));
  if (order.dtype() != DType::i32 || order.dim() != packed.dim() - 1 ||
      order.size(-1) != lu.rank()) {
    return invalid({"pivots must be Int of shape ", join(lu.batch(), {lu.rank()}), ", but are ",
                    order.dtype(), " of ", order.shape()});
  }
  BP_ASSIGN_OR_RETURN(Batch<int64_t> pivots, Batch<int64_t>::read(ctx, order, 1));
  pivots.spread(lu.batch());
  return unpack<T>(ctx, args, lu, args.boolean(3) ? &pivots : nullptr, args.boolean(2));
};

// args: A, pivot. Outputs: P, L, U.
constexpr auto lu = []<class T>(Context& ctx, const Args& args) -> Status {
  const Tensor self = args.tensor(0);
  BP_TRY(expect_matrices(self));
  BP_ASSIGN_OR_RETURN(const Batch<T> a, Batch<T>::read(ctx, self));
  BP_ASSIGN_OR_RETURN(T * factors, ctx.scratch<T>(self.numel()));
  BP_ASSIGN_OR_RETURN(int64_t * order, ctx.scratch<int64_t>(a.count() * a.rank()));
  for (int64_t i = 0; i < a.count(); ++i) {
    View<T> matrix(factors + i * a.rows() * a.cols(), a.rows(), a.cols());
    matrix = a[i];
    factor_lu<T>(matrix, order + i * a.rank());
  }
  const Batch<int64_t> pivots(order, a.batch(), a.rank(), 1);
  return unpack<T>(ctx, args, Batch<T>(factors, a.batch(), a.rows(), a.cols()), &pivots, true);
};

// What an operator gives of a determinant. The log of a negative one is NaN.
enum class Part { value, log, sign_and_log };

// Outputs after these, if any: LU, pivots.
template <class T, Part part>
Status determinants(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_TRY(expect_square(self));
  BP_ASSIGN_OR_RETURN(const Batch<T> a, Batch<T>::read(ctx, self));
  const int64_t n = a.rows(), given = part == Part::sign_and_log ? 2 : 1;
  const bool factors = args.size() - args.num_inputs() > given;
  BP_ASSIGN_OR_RETURN(Out<T> first, Out<T>::open(ctx, args.out(0), a.batch(), {}));
  BP_ASSIGN_OR_RETURN(T * scratch, ctx.scratch<T>(self.numel()));
  BP_ASSIGN_OR_RETURN(int64_t * pivots, ctx.scratch<int64_t>(a.count() * n));
  BP_ASSIGN_OR_RETURN(double* logs, ctx.scratch<double>(a.count()));
  for (int64_t i = 0; i < a.count(); ++i) {
    View<T> matrix(scratch + i * n * n, n, n);
    matrix = a[i];
    factor_lu<T>(matrix, pivots + i * n);
    const Determinant<T> d = determinant<T>(matrix, pivots + i * n);
    logs[i] = d.log;
    first.number(i) = part == Part::value ? d.value
                      : part == Part::log ? std::log(d.sign) + d.log
                                          : d.sign;
    if (part == Part::log && d.sign == T(0)) first.number(i) = d.log;
  }
  first.close();
  if constexpr (part == Part::sign_and_log) {
    BP_ASSIGN_OR_RETURN(auto log, Out<double>::open(ctx, args.out(1), a.batch(), {}));
    std::copy(logs, logs + a.count(), log.row(0));
    log.close();
  }
  if (!factors) return Ok{};
  BP_ASSIGN_OR_RETURN(Out<T> lu_out, Out<T>::open(ctx, args.out(given), a.batch(), {n, n}));
  std::copy(scratch, scratch + self.numel(), lu_out.row(0));
  lu_out.close();
  BP_ASSIGN_OR_RETURN(auto order, Out<int64_t>::open(ctx, args.out(given + 1), a.batch(), {n}));
  std::copy(pivots, pivots + a.count() * n, order.row(0));
  order.close();
  return Ok{};
}
constexpr auto det = []<class T>(Context& ctx, const Args& args) {
  return determinants<T, Part::value>(ctx, args);
};
constexpr auto slogdet = []<class T>(Context& ctx, const Args& args) {
  return determinants<T, Part::sign_and_log>(ctx, args);
};
constexpr auto logdet = []<class T>(Context& ctx, const Args& args) {
  return determinants<T, Part::log>(ctx, args);
};

constexpr Entry table[] = {
    {"aten::_linalg_det.result", "t>ttt", run<det>, kLinear},
    {"aten::_linalg_slogdet.sign", "t>tttt", run<slogdet>, kLinear},
    {"aten::_lu_with_info.out", "tbb>ttt", run<lu_factor_ex>, kLinear, 0, refuse_without_pivots},
    {"aten::det.out", "t>t", run<det>, kLinear},
    {"aten::linalg_det.out", "t>t", run<det>, kLinear},
    {"aten::linalg_lu.out", "tb>ttt", run<lu>, kLinear, 0, refuse_without_pivots},
    {"aten::linalg_lu_factor.out", "tb>tt", run<lu_factor_checked>, kLinear, 0,
     refuse_without_pivots},
    {"aten::linalg_lu_factor_ex.out", "tbb>ttt", run<lu_factor_ex>, kLinear, 0,
     refuse_without_pivots},
    {"aten::linalg_slogdet.out", "t>tt", run<slogdet>, kLinear},
    {"aten::logdet.out", "t>t", run<logdet>, kLinear},
    {"aten::lu_unpack.out", "ttbb>ttt", run<lu_unpack>, kLinear},
    {"aten::slogdet.out", "t>tt", run<slogdet>, kLinear},
};

}  // namespace
}  // namespace linalg

extern const std::span<const Entry> determinants_kernels = linalg::table;

}  // namespace backplane::portable
