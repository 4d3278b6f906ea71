// Distances between all pairs of rows, and rows cut to a norm.
#include <algorithm>
#include <cmath>
#include <limits>

#include "portable/dense.hpp"
#include "portable/shape.hpp"

namespace backplane::portable {
namespace {

// The p-norm of a - b.
template <class T>
T distance(const T* a, const T* b, int64_t n, double p) {
  T sum{};
  for (int64_t i = 0; i < n; ++i) {
    const T z = std::abs(a[i] - b[i]);
    if (std::isnan(z)) return z;
    if (p == 0) {
      sum += z != 0 ? T(1) : T(0);
    } else if (p == 1) {
      sum += z;
    } else if (p == 2) {
      sum += z * z;
    } else if (std::isinf(p)) {
      sum = std::max(sum, z);
    } else {
      sum += std::pow(z, static_cast<T>(p));
    }
  }
  if (p == 2) return std::sqrt(sum);
  return p == 0 || p == 1 || std::isinf(p) ? sum : std::pow(sum, static_cast<T>(1 / p));
}

// args: x1, x2, p, compute_mode.
Status cdist(Context& ctx, const Args& args) {
  const Tensor a = args.tensor(0);
  const Tensor b = args.tensor(1);
  const double p = args.floating(2);
  if (a.dim() < 2 || b.dim() < 2)
    return invalid({"only tensors of 2 dimensions and more, got ", a.shape(), " and ", b.shape()});
  if (a.size(-1) != b.size(-1))
    return invalid(
        {"X1 and X2 must have the same number of columns. X1: ", a.size(-1), " X2: ", b.size(-1)});
  if (!(p >= 0)) return invalid({"cdist only supports non-negative p values, got ", p});
  const auto lead = [](const Tensor& t) {
    return t.shape().first(static_cast<size_t>(t.dim() - 2));
  };
  BP_ASSIGN_OR_RETURN(Dims shape, broadcast(lead(a), lead(b)));
  const int64_t batch_rank = shape.size();
  const int64_t rows = a.size(-2);
  const int64_t columns = b.size(-2);
  const int64_t n = a.size(-1);
  int64_t batch = 1;
  for (const int64_t size : shape) batch *= size;
  shape.push_back(rows);
  shape.push_back(columns);
  BP_TRY(ctx.resize(args.out(0), shape));
  // Which matrix of `t` the batch-th result is made of.
  const auto matrix = [&](const Tensor& t, int64_t at) {
    int64_t index = 0;
    int64_t scale = 1;
    for (int64_t d = batch_rank - 1, e = t.dim() - 3; d >= 0 && e >= 0; --d, --e) {
      if (t.size(e) != 1) index += at % shape[d] * scale;
      scale *= t.size(e);
      at /= shape[d];
    }
    return index;
  };
  return dispatch<float, double>(a.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, a));
    BP_ASSIGN_OR_RETURN(const T* y, read<T>(ctx, b));
    BP_ASSIGN_OR_RETURN(T * out, open<T>(ctx, args.out(0)));
    if (rows * columns == 0) batch = 0;
    for (int64_t i = 0; i < batch; ++i) {
      const T* left = x + matrix(a, i) * rows * n;
      const T* right = y + matrix(b, i) * columns * n;
      for (int64_t j = 0; j < rows * columns; ++j)
        out[i * rows * columns + j] =
            distance(left + j / columns * n, right + j % columns * n, n, p);
    }
    close(args.out(0), out);
    return Ok{};
  });
}

Status pdist(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const double p = args.floating(1);
  if (self.dim() != 2) return invalid({"pdist only supports 2D tensors, got ", self.shape()});
  if (!(p >= 0)) return invalid({"pdist only supports non-negative p values, got ", p});
  const int64_t rows = self.size(0);
  const int64_t n = self.size(1);
  BP_TRY(ctx.resize(args.out(0), Dims{rows * (rows - 1) / 2}));
  return dispatch<float, double>(self.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
    BP_ASSIGN_OR_RETURN(T * out, open<T>(ctx, args.out(0)));
    T* to = out;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = i + 1; j < rows; ++j) *to++ = distance(x + i * n, x + j * n, n, p);
    }
    close(args.out(0), out);
    return Ok{};
  });
}

// x[outer, slice, inner]: what brings each slice's p-norm down to `most`.
template <class T>
void cut(T* x, const Split& s, int64_t slice, double p, double most) {
  T norm{};
  const auto each = [&](auto&& f) {
    for (int64_t o = 0; o < s.outer; ++o) {
      for (int64_t i = 0; i < s.inner; ++i) f(x[(o * s.size + slice) * s.inner + i]);
    }
  };
  each([&](T v) {
    const T z = std::abs(v);
    norm = std::isinf(p) ? std::max(norm, z)
                         : norm + (p == 2   ? z * z
                                   : p == 1 ? z
                                            : std::pow(z, static_cast<T>(p)));
  });
  if (!std::isinf(p) && p != 1)
    norm = p == 2 ? std::sqrt(norm) : std::pow(norm, static_cast<T>(1 / p));
  if (!(norm > static_cast<T>(most))) return;
  const T scale = static_cast<T>(most) / (norm + static_cast<T>(1e-7));
  each([&](T& v) { v *= scale; });
}

// args: self, p, dim, maxnorm.
Status renorm(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const double p = args.scalar(1).to<double>();
  const double most = args.scalar(3).to<double>();
  if (!(p > 0)) return invalid({"non-positive norm not supported: ", p});
  if (!(most >= 0)) return invalid({"expected maxnorm to be >= 0, but got ", most});
  if (self.dim() < 2) return invalid({"input needs at least 2 dimensions, got ", self.shape()});
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(2), self.dim()));
  BP_TRY(ctx.resize(args.out(0), self.shape()));
  return dispatch<float, double>(self.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
    BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
    std::copy_n(x, self.numel(), y);
    const Split s = split_at(self.shape(), dim);
    for (int64_t i = 0; i < s.size; ++i) cut(y, s, i, p, most);
    close(args.out(0), y);
    return Ok{};
  });
}

// The rows that are named, cut. args: self, indices, max_norm, norm_type.
Status embedding_renorm(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor indices = args.tensor(1);
  if (self.dim() != 2) return invalid({"self must have 2 dimensions, got ", self.shape()});
  if (!set_of(DType::i64, DType::i32).has(indices.dtype()))
    return invalid({"indices have to be Long or Int, got ", indices.dtype()});
  BP_TRY(ctx.resize(args.out(0), self.shape()));
  return dispatch<float, double>(self.dtype(), [&]<class T>() -> Status {
    BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
    BP_ASSIGN_OR_RETURN(const int64_t* rows, read<int64_t>(ctx, indices));
    BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
    std::copy_n(x, self.numel(), y);
    const int64_t count = self.size(0);
    BP_ASSIGN_OR_RETURN(uint8_t * done, ctx.scratch<uint8_t>(std::max<int64_t>(count, 1)));
    std::fill_n(done, count, uint8_t{0});
    for (int64_t i = 0; i < indices.numel(); ++i) {
      if (rows[i] < 0 || rows[i] >= count)
        return invalid({"index ", rows[i], " is out of range of ", count, " rows"});
      if (done[rows[i]]++ == 0)
        cut(y, {1, count, self.size(1)}, rows[i], args.floating(3), args.floating(2));
      done[rows[i]] = 1;
    }
    close(args.out(0), y);
    return Ok{};
  });
}

constexpr Entry table[] = {
    {"aten::_cdist_forward.out", "ttfI>t", cdist, kFloats},
    {"aten::_pdist_forward.out", "tf>t", pdist, kFloats},
    {"aten::embedding_renorm.out", "ttff>t", embedding_renorm, kFloats},
    {"aten::renorm.out", "tsis>t", renorm, kFloats},
};

}  // namespace

extern const std::span<const Entry> pairs_kernels = table;

}  // namespace backplane::portable
