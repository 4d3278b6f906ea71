// Systems of linear equations with square matrices, and inverses.
#include "portable/linalg/lu.hpp"

namespace backplane::portable {
namespace linalg {
namespace {

// Whether b is a vector for each matrix of a, by PyTorch's rule for linalg.solve.
bool is_vector(const Tensor& a, const Tensor& b) {
  if (b.dim() == 1) return true;
  return b.dim() == a.dim() - 1 &&
         std::equal(b.shape().begin(), b.shape().end(), a.shape().begin());
}

// Where the results of a system go; those that are absent aren't wanted.
struct Results {
  Tensor x, lu, pivots, info;
};

template <class T>
Status solve_all(Context& ctx, Batch<T>& a, Batch<T>& b, const Dims& shape, bool left, bool check,
                 const Results& to) {
  const int64_t n = a.rows();
  BP_ASSIGN_OR_RETURN(const Dims batch, broadcast(a.batch(), b.batch()));
  BP_ASSIGN_OR_RETURN(T * factors, ctx.scratch<T>(a.count() * n * n));
  BP_ASSIGN_OR_RETURN(int64_t * pivots, ctx.scratch<int64_t>(a.count() * n));
  BP_ASSIGN_OR_RETURN(int64_t * info, ctx.scratch<int64_t>(a.count()));
  for (int64_t i = 0; i < a.count(); ++i) {
    View<T> lu(factors + i * n * n, n, n);
    lu = a[i];
    info[i] = factor_lu<T>(lu, pivots + i * n);
    if (check && info[i] != 0) {
      return invalid({which(i, a.count()), " is singular: its pivot ", info[i],
                      " is zero, so there is no solution"});
    }
  }
  const auto write = [&]<class U>(const Tensor& out, const U* values, Sizes item) -> Status {
    if (!out) return Ok{};
    BP_ASSIGN_OR_RETURN(Out<U> o, Out<U>::open(ctx, out, a.batch(), item));
    std::copy(values, values + out.numel(), o.row(0));
    o.close();
    return Ok{};
  };
  BP_TRY(write(to.lu, factors, {n, n}));
  BP_TRY(write(to.pivots, pivots, {n}));
  BP_TRY(write(to.info, info, {}));

  BP_TRY(ctx.resize(to.x, shape));
  BP_ASSIGN_OR_RETURN(T * x, open<T>(ctx, to.x));
  Batch<T> lu(factors, a.batch(), n, n);
  Batch<int64_t> order(pivots, a.batch(), n, 1);
  lu.spread(batch);
  order.spread(batch);
  b.spread(batch);
  for (int64_t i = 0, size = b.rows() * b.cols(); i < b.count(); ++i) {
    Matrix<T> own = lu[i];
    View<T>(x + i * size, b.rows(), b.cols()) =
        solve_lu<T>(own, order[i].data(), left, false, b[i]);
  }
  close(to.x, x);
  return Ok{};
}

template <class T>
Status solve(Context& ctx, const Args& args, bool check, const Results& to) {
  const Tensor a = args.tensor(0), b = args.tensor(1);
  const bool left = args.boolean(2), vector = is_vector(a, b);
  BP_TRY(expect_square(a));
  BP_TRY(expect_same_dtype(a, b));
  if (!vector) BP_TRY(expect_matrices(b));
  if (vector && !left) return invalid({"a vector can't be on the left of a matrix: left=False"});
  BP_ASSIGN_OR_RETURN(Batch<T> matrices, Batch<T>::read(ctx, a));
  BP_ASSIGN_OR_RETURN(Batch<T> sides, Batch<T>::read(ctx, b, vector ? 1 : 2));
  if ((left ? sides.rows() : sides.cols()) != matrices.rows()) {
    return invalid({"matrices of ", a.shape(), " and a right side of ", b.shape(),
                    " don't make a system of equations"});
  }
  BP_ASSIGN_OR_RETURN(Dims shape, broadcast(matrices.batch(), sides.batch()));
  shape.push_back(sides.rows());
  if (!vector) shape.push_back(sides.cols());
  return solve_all<T>(ctx, matrices, sides, shape, left, check, to);
}
constexpr auto solve_checked = []<class T>(Context& ctx, const Args& args) {
  return solve<T>(ctx, args, true, {args.out(0), {}, {}, {}});
};
constexpr auto solve_ex = []<class T>(Context& ctx, const Args& args) {
  return solve<T>(ctx, args, args.boolean(3), {args.out(0), {}, {}, args.out(1)});
};
constexpr auto solve_with_factors = []<class T>(Context& ctx, const Args& args) {
  return solve<T>(ctx, args, args.boolean(3), {args.out(0), args.out(1), args.out(2), args.out(3)});
};

template <class T>
Status inverse(Context& ctx, const Args& args, bool check, const Results& to) {
  const Tensor self = args.tensor(0);
  BP_TRY(expect_square(self));
  BP_ASSIGN_OR_RETURN(Batch<T> a, Batch<T>::read(ctx, self));
  const Matrix<T> identity = Matrix<T>::Identity(a.rows(), a.rows());
  Batch<T> b(identity.data(), {}, a.rows(), a.rows());
  return solve_all<T>(ctx, a, b, Dims(self.shape()), true, check, to);
}
constexpr auto inverse_checked = []<class T>(Context& ctx, const Args& args) {
  return inverse<T>(ctx, args, true, {args.out(0), {}, {}, {}});
};
constexpr auto inverse_ex = []<class T>(Context& ctx, const Args& args) {
  return inverse<T>(ctx, args, args.boolean(1), {args.out(0), {}, {}, args.out(1)});
};

// args: self, ind. The inverse of the first `ind` dimensions as rows, the others as columns.
constexpr auto tensor_inverse = []<class T>(Context& ctx, const Args& args) -> Status {
  const Tensor self = args.tensor(0);
  const int64_t split = args.integer(1);
  if (split <= 0) return invalid({"ind must be positive, but is ", split});
  const auto first = self.shape().first(static_cast<size_t>(std::min(split, self.dim())));
  const auto last = self.shape().subspan(first.size());
  const int64_t n = elements(last);
  if (elements(first) != n) {
    return invalid({"dimensions ", first, " have not as many elements as ", last});
  }
  Dims shape(last);
  for (const int64_t size : first) shape.push_back(size);
  BP_ASSIGN_OR_RETURN(const T* data, read<T>(ctx, self));
  Batch<T> a(data, {}, n, n);
  const Matrix<T> identity = Matrix<T>::Identity(n, n);
  Batch<T> b(identity.data(), {}, n, n);
  return solve_all<T>(ctx, a, b, shape, true, true, {args.out(0), {}, {}, {}});
};

// args: self, other, dims: dimensions of self that go to its end first.
constexpr auto tensor_solve = []<class T>(Context& ctx, const Args& args) -> Status {
  const Tensor self = args.tensor(0), other = args.tensor(1);
  BP_TRY(expect_same_dtype(self, other));
  std::array<bool, kMaxRank> last{};
  if (!args.ints(2).empty()) {
    BP_ASSIGN_OR_RETURN(last, wrap_dims(args.ints(2), self.dim()));
  }
  Dims order, shape;
  for (int64_t d = 0; d < self.dim(); ++d) {
    if (!last[static_cast<size_t>(d)]) order.push_back(d);
  }
  for (const int64_t dim : args.ints(2)) {
    BP_ASSIGN_OR_RETURN(const int64_t d, wrap_dim(dim, self.dim()));
    order.push_back(d);
  }
  for (int64_t d = other.dim(); d < order.size(); ++d) shape.push_back(self.size(order[d]));
  const int64_t n = other.numel();
  if (elements(shape) != n || self.numel() != n * n) {
    return invalid({"a tensor of ", self.shape(), " and one of ", other.shape(),
                    " don't make a system of equations"});
  }
  BP_ASSIGN_OR_RETURN(const T* data, read<T>(ctx, self, order));
  BP_ASSIGN_OR_RETURN(const T* side, read<T>(ctx, other));
  Batch<T> a(data, {}, n, n), b(side, {}, n, 1);
  return solve_all<T>(ctx, a, b, shape, true, true, {args.out(0), {}, {}, {}});
};

// LU, pivots and B; outputs: the solution. Pivots come from the caller: they are checked.
template <class T>
Status use_factors(Context& ctx, const std::array<Tensor, 3>& in, bool left, bool adjoint,
                   const Tensor& out) {
  BP_TRY(expect_square(in[0]));
  BP_TRY(expect_matrices(in[2]));
  BP_TRY(expect_same_dtype(in[0], in[2]));
  BP_ASSIGN_OR_RETURN(Batch<T> lu, Batch<T>::read(ctx, in[0]));
  BP_ASSIGN_OR_RETURN(Batch<T> b, Batch<T>::read(ctx, in[2]));
  const int64_t n = lu.rows();
  if ((left ? b.rows() : b.cols()) != n) {
    return invalid({"factors of ", in[0].shape(), " and a right side of ", in[2].shape(),
                    " don't make a system of equations"});
  }
  const Dims expected = join(lu.batch(), {n});
  if (in[1].dtype() != DType::i32 || !(Dims(in[1].shape()) == expected)) {
    return invalid({"pivots must be Int of shape ", expected, ", but are ", in[1].dtype(), " of ",
                    in[1].shape()});
  }
  BP_ASSIGN_OR_RETURN(Batch<int64_t> pivots, Batch<int64_t>::read(ctx, in[1], 1));
  BP_ASSIGN_OR_RETURN(const Dims batch, broadcast(lu.batch(), b.batch()));
  BP_ASSIGN_OR_RETURN(Out<T> x, Out<T>::open(ctx, out, batch, {b.rows(), b.cols()}));
  lu.spread(batch);
  pivots.spread(batch);
  b.spread(batch);
  for (int64_t i = 0; i < b.count(); ++i) {
    const auto order = pivots[i];
    if (n > 0 && (order.minCoeff() < 1 || order.maxCoeff() > n)) {
      return invalid({"pivots from ", order.minCoeff(), " to ", order.maxCoeff(),
                      " are not rows of a matrix of ", n});
    }
    Matrix<T> own = lu[i];
    x[i] = solve_lu<T>(own, order.data(), left, adjoint, b[i]);
  }
  x.close();
  return Ok{};
}
constexpr auto linalg_lu_solve = []<class T>(Context& ctx, const Args& args) {
  return use_factors<T>(ctx, {args.tensor(0), args.tensor(1), args.tensor(2)}, args.boolean(3),
                        args.boolean(4), args.out(0));
};
constexpr auto lu_solve = []<class T>(Context& ctx, const Args& args) {
  return use_factors<T>(ctx, {args.tensor(1), args.tensor(2), args.tensor(0)}, true, false,
                        args.out(0));
};

constexpr Entry table[] = {
    {"aten::_linalg_solve_ex.result", "ttbb>tttt", run<solve_with_factors>, kLinear},
    {"aten::inverse.out", "t>t", run<inverse_checked>, kLinear},
    {"aten::linalg_inv.out", "t>t", run<inverse_checked>, kLinear},
    {"aten::linalg_inv_ex.inverse", "tb>tt", run<inverse_ex>, kLinear},
    {"aten::linalg_lu_solve.out", "tttbb>t", run<linalg_lu_solve>, kLinear},
    {"aten::linalg_solve.out", "ttb>t", run<solve_checked>, kLinear},
    {"aten::linalg_solve_ex.out", "ttbb>tt", run<solve_ex>, kLinear},
    {"aten::linalg_tensorinv.out", "ti>t", run<tensor_inverse>, kLinear},
    {"aten::linalg_tensorsolve.out", "ttN>t", run<tensor_solve>, kLinear},
    {"aten::lu_solve.out", "ttt>t", run<lu_solve>, kLinear},
};

}  // namespace
}  // namespace linalg

extern const std::span<const Entry> systems_kernels = linalg::table;

}  // namespace backplane::portable
