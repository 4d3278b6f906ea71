// Products of matrices and vectors, all through gemm().
#include <algorithm>

#include "portable/dense.hpp"
#include "portable/nn/gemm.hpp"
#include "portable/shape.hpp"

namespace backplane::portable {
namespace {

constexpr DTypes kProducts = kReals | kComplex;

// What is added to a product: beta * bias, broadcast to the result; and alpha before the product.
struct Addend {
  Tensor bias;  // absent: nothing
  Scalar beta{int64_t{1}};
  Scalar alpha{int64_t{1}};
};

// out[batch, m, n] = beta * bias + alpha * Σ a[batch, m, k] · b[batch, k, n]; a and b dense,
// row-major.
struct Problem {
  int64_t batch, m, n, k;
  bool sum_batches = false;  // addbmm: one result
};

template <class T>
Status compute(Context& ctx, const Tensor& a, const Tensor& b, const Problem& p, const Addend& add,
               const Tensor& out) {
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, a));
  BP_ASSIGN_OR_RETURN(const T* y, read<T>(ctx, b));
  const int64_t results = p.sum_batches ? 1 : p.batch;
  BP_ASSIGN_OR_RETURN(T * c, ctx.scratch<T>(std::max<int64_t>(results * p.m * p.n, 1)));
  std::fill(c, c + results * p.m * p.n, T{});
  for (int64_t i = 0; i < p.batch; ++i) {
    T* to = c + (p.sum_batches ? 0 : i * p.m * p.n);
    BP_TRY(gemm<T>(ctx, {p.m, p.n, p.k}, {x + i * p.m * p.k, p.k, 1}, {y + i * p.k * p.n, p.n, 1},
                   to, p.n));
  }
  const T alpha = add.alpha.to<T>();
  const T beta = add.beta.to<T>();
  if (alpha != T(1)) std::transform(c, c + results * p.m * p.n, c, [&](T v) { return v * alpha; });
  if (add.bias && beta != T(0)) {
    BP_ASSIGN_OR_RETURN(const T* bias, read<T>(ctx, add.bias));
    const Dims shape(out.shape());
    const int64_t rank = shape.size();
    Dims steps(rank, 0);  // of the bias, dense, broadcast
    int64_t step = 1;
    for (int64_t d = add.bias.dim() - 1; d >= 0; --d) {
      if (add.bias.size(d) != 1) steps[d + rank - add.bias.dim()] = step;
      step *= add.bias.size(d);
    }
    Dims index(rank, 0);
    for (int64_t i = 0, total = out.numel(); i < total; ++i) {
      int64_t at = 0;
      for (int64_t d = 0; d < rank; ++d) at += index[d] * steps[d];
      c[i] += beta == T(1) ? bias[at] : beta * bias[at];
      for (int64_t d = rank - 1; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
    }
  }
  close(out, c);
  return Ok{};
}

Status product(Context& ctx, const Tensor& a, const Tensor& b, const Problem& p, const Addend& add,
               const Tensor& out, const Dims& shape) {
  if (a.dtype() != b.dtype()) {
    return invalid(
        {"expected m1 and m2 to have the same dtype, but got: ", a.dtype(), " != ", b.dtype()});
  }
  if (add.bias) {
    BP_ASSIGN_OR_RETURN(const Dims common, broadcast(add.bias.shape(), shape));
    if (!(common == shape)) {
      return invalid({"the expanded size of the tensor must match: bias of ", add.bias.shape(),
                      " for a product of ", shape});
    }
  }
  BP_TRY(ctx.resize(out, shape));
  return dispatch<float, double, int64_t, Complex64, Complex128>(
      a.dtype(), [&]<class T>() { return compute<T>(ctx, a, b, p, add, out); });
}

Error cannot_multiply(std::string_view op, const Tensor& a, const Tensor& b) {
  return invalid({op, ": shapes cannot be multiplied (", a.shape(), " and ", b.shape(), ")"});
}

Status matrix_product(Context& ctx, const Tensor& a, const Tensor& b, const Addend& add,
                      const Tensor& out) {
  if (a.dim() != 2 || b.dim() != 2 || a.size(1) != b.size(0))
    return cannot_multiply("mat1 and mat2", a, b);
  return product(ctx, a, b, {1, a.size(0), b.size(1), a.size(1)}, add, out, {a.size(0), b.size(1)});
}
Status mm(Context& ctx, const Args& args) {
  return matrix_product(ctx, args.tensor(0), args.tensor(1), {}, args.out(0));
}
Status addmm(Context& ctx, const Args& args) {
  return matrix_product(ctx, args.tensor(1), args.tensor(2),
                        {args.tensor(0), args.scalar(3), args.scalar(4)}, args.out(0));
}

Status batch_product(Context& ctx, const Tensor& a, const Tensor& b, const Addend& add, bool sum,
                     const Tensor& out) {
  if (a.dim() != 3 || b.dim() != 3 || a.size(0) != b.size(0) || a.size(2) != b.size(1)) {
    return cannot_multiply("batch1 and batch2", a, b);
  }
  const Dims shape = sum ? Dims{a.size(1), b.size(2)} : Dims{a.size(0), a.size(1), b.size(2)};
  return product(ctx, a, b, {a.size(0), a.size(1), b.size(2), a.size(2), sum}, add, out, shape);
}
Status bmm(Context& ctx, const Args& args) {
  return batch_product(ctx, args.tensor(0), args.tensor(1), {}, false, args.out(0));
}
template <bool Sum>
Status addbmm(Context& ctx, const Args& args) {
  return batch_product(ctx, args.tensor(1), args.tensor(2),
                       {args.tensor(0), args.scalar(3), args.scalar(4)}, Sum, args.out(0));
}

Status vector_product(Context& ctx, const Tensor& a, const Tensor& v, const Addend& add,
                      const Tensor& out) {
  if (a.dim() != 2 || v.dim() != 1 || a.size(1) != v.size(0))
    return cannot_multiply("matrix and vector", a, v);
  return product(ctx, a, v, {1, a.size(0), 1, a.size(1)}, add, out, {a.size(0)});
}
Status mv(Context& ctx, const Args& args) {
  return vector_product(ctx, args.tensor(0), args.tensor(1), {}, args.out(0));
}
Status addmv(Context& ctx, const Args& args) {
  return vector_product(ctx, args.tensor(1), args.tensor(2),
                        {args.tensor(0), args.scalar(3), args.scalar(4)}, args.out(0));
}

Status dot(Context& ctx, const Args& args) {
  const Tensor a = args.tensor(0);
  const Tensor b = args.tensor(1);
  if (a.dim() != 1 || b.dim() != 1 || a.size(0) != b.size(0)) {
    return invalid(
        {"inconsistent tensor size, expected tensors to have 1 dimension and the same number of "
         "elements, but got ",
         a.shape(), " and ", b.shape()});
  }
  return product(ctx, a, b, {1, 1, 1, a.size(0)}, {}, args.out(0), {});
}

Status outer_product(Context& ctx, const Tensor& a, const Tensor& b, const Addend& add,
                     const Tensor& out) {
  if (a.dim() != 1 || b.dim() != 1) return cannot_multiply("outer: vectors", a, b);
  return product(ctx, a, b, {1, a.size(0), b.size(0), 1}, add, out, {a.size(0), b.size(0)});
}
Status outer(Context& ctx, const Args& args) {
  return outer_product(ctx, args.tensor(0), args.tensor(1), {}, args.out(0));
}
Status addr(Context& ctx, const Args& args) {
  return outer_product(ctx, args.tensor(1), args.tensor(2),
                       {args.tensor(0), args.scalar(3), args.scalar(4)}, args.out(0));
}

constexpr Entry table[] = {
    {"aten::addbmm.out", "tttss>t", addbmm<true>, kProducts},
    {"aten::addmm.out", "tttss>t", addmm, kProducts},
    {"aten::addmv.out", "tttss>t", addmv, kProducts},
    {"aten::addr.out", "tttss>t", addr, kProducts | kBool},
    {"aten::baddbmm.out", "tttss>t", addbmm<false>, kProducts},
    {"aten::bmm.out", "tt>t", bmm, kProducts},
    {"aten::dot.out", "tt>t", dot, kProducts},
    {"aten::ger.out", "tt>t", outer, kProducts | kBool},
    {"aten::mm.out", "tt>t", mm, kProducts},
    {"aten::mv.out", "tt>t", mv, kProducts},
    {"aten::outer.out", "tt>t", outer, kProducts | kBool},
};

}  // namespace

extern const std::span<const Entry> products_kernels = table;

}  // namespace backplane::portable
