// Order and selection: sort, topk, cumulative sums, positions of what is true, masks.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "portable/reduce/rows.hpp"
#include "portable/views/strided.hpp"
#include "portable/walk.hpp"

namespace backplane::portable {
namespace {

// a comes before b: NaN is larger than everything.
template <class T>
bool before(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a)) return false;
    if (std::isnan(b)) return true;
  }
  return a < b;
}

// Rows along one dimension: f(const T* x, n, T* values, int64_t* indices) gives k of each row.
template <class T, class F>
Status rows_along(Context& ctx, const Tensor& self, int64_t dim, int64_t k, const Tensor& values,
                  const Tensor& indices, F&& f) {
  Dims shape(self.shape());
  if (self.dim() > 0) shape[dim] = k;
  BP_TRY(ctx.resize(values, shape));
  BP_TRY(ctx.resize(indices, shape));
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, values));
  BP_ASSIGN_OR_RETURN(int64_t * z, open<int64_t>(ctx, indices));
  const Split s = self.dim() == 0 ? Split{} : split_at(self.shape(), dim);
  BP_ASSIGN_OR_RETURN(T * row, ctx.scratch<T>(std::max<int64_t>(s.size + k, 1)));
  BP_ASSIGN_OR_RETURN(int64_t * order,
                      ctx.scratch<int64_t>(std::max<int64_t>(std::max(s.size, k), 1)));
  for (int64_t o = 0; o < s.outer; ++o) {
    for (int64_t i = 0; i < s.inner; ++i) {
      for (int64_t j = 0; j < s.size; ++j) row[j] = x[(o * s.size + j) * s.inner + i];
      f(row, s.size, row + s.size, order);
      for (int64_t j = 0; j < k; ++j) {
        y[(o * k + j) * s.inner + i] = row[s.size + j];
        z[(o * k + j) * s.inner + i] = order[j];
      }
    }
  }
  close(values, y);
  close(indices, z);
  return Ok{};
}

Status sort_by(Context& ctx, const Args& args, int64_t dim_at, bool descending) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(dim_at), self.dim()));
  const int64_t n = self.dim() == 0 ? 1 : self.size(dim);
  return dispatch<float, double, int64_t>(self.dtype(), [&]<class T>() {
    return rows_along<T>(ctx, self, dim, n, args.out(0), args.out(1),
                         [&](const T* x, int64_t length, T* y, int64_t* order) {
                           std::iota(order, order + length, int64_t{0});
                           std::stable_sort(order, order + length, [&](int64_t a, int64_t b) {
                             return descending ? before(x[b], x[a]) : before(x[a], x[b]);
                           });
                           for (int64_t i = 0; i < length; ++i) y[i] = x[order[i]];
                         });
  });
}
Status sort(Context& ctx, const Args& args) {
  return sort_by(ctx, args, 1, args.boolean(2));
}
Status sort_stable(Context& ctx, const Args& args) {
  return sort_by(ctx, args, 2, args.boolean(3));
}

Status topk(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const int64_t k = args.integer(1);
  const bool largest = args.boolean(3);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(2), self.dim()));
  const int64_t n = self.dim() == 0 ? 1 : self.size(dim);
  if (k < 0 || k > n) return invalid({"selected index k out of range: ", k, " of ", n});
  return dispatch<float, double, int64_t>(self.dtype(), [&]<class T>() {
    return rows_along<T>(ctx, self, dim, self.dim() == 0 ? 1 : k, args.out(0), args.out(1),
                         [&](const T* x, int64_t length, T* y, int64_t* order) {
                           std::vector<int64_t> all(static_cast<size_t>(length));
                           std::iota(all.begin(), all.end(), int64_t{0});
                           std::partial_sort(
                               all.begin(), all.begin() + k, all.end(), [&](int64_t a, int64_t b) {
                                 if (largest ? before(x[b], x[a]) : before(x[a], x[b])) return true;
                                 if (largest ? before(x[a], x[b]) : before(x[b], x[a]))
                                   return false;
                                 return a < b;
                               });
                           for (int64_t i = 0; i < k; ++i) {
                             order[i] = all[static_cast<size_t>(i)];
                             y[i] = x[order[i]];
                           }
                         });
  });
}

template <class F>
Status cumulative(Context& ctx, const Args& args, F&& combine) {
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  BP_TRY(ctx.resize(out, self.shape()));
  return dispatch<float, double, int64_t, Complex64, Complex128>(
      out.dtype(), [&]<class T>() -> Status {
        BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
        BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, out));
        const Split s = self.dim() == 0 ? Split{} : split_at(self.shape(), dim);
        for (int64_t o = 0; o < s.outer; ++o) {
          for (int64_t i = 0; i < s.inner; ++i) {
            // Running sums of floats in double, as PyTorch's are.
            using Wide = std::conditional_t<std::is_same_v<T, float>, double, T>;
            Wide sum{};
            for (int64_t j = 0; j < s.size; ++j) {
              const int64_t at = (o * s.size + j) * s.inner + i;
              sum = j == 0 ? Wide(x[at]) : combine(sum, Wide(x[at]));
              y[at] = static_cast<T>(sum);
            }
          }
        }
        close(out, y);
        return Ok{};
      });
}
Status cumsum(Context& ctx, const Args& args) {
  return cumulative(ctx, args, [](auto a, auto b) { return a + b; });
}
Status cumprod(Context& ctx, const Args& args) {
  return cumulative(ctx, args, [](auto a, auto b) { return a * b; });
}

// Truth of any dtype, dense.
Result<const bool*> truth(Context& ctx, const Tensor& tensor) {
  BP_ASSIGN_OR_RETURN(bool* out, ctx.scratch<bool>(std::max<int64_t>(tensor.numel(), 1)));
  const Status done = dispatch<float, double, int64_t, uint64_t, Complex64, Complex128>(
      tensor.dtype(), [&]<class T>() -> Status {
        BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, tensor));
        for (int64_t i = 0; i < tensor.numel(); ++i) out[i] = x[i] != T{};
        return Ok{};
      });
  if (!done.ok()) return done.error();
  return static_cast<const bool*>(out);
}

Status nonzero(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const bool* hit, truth(ctx, self));
  const int64_t n = self.numel();
  const int64_t hits = std::count(hit, hit + n, true);
  const Dims shape = {hits, self.dim()};
  BP_TRY(ctx.resize(out, shape));
  BP_ASSIGN_OR_RETURN(int64_t * y, open<int64_t>(ctx, out));
  int64_t row = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!hit[i]) continue;
    int64_t rest = i;
    for (int64_t d = self.dim() - 1; d >= 0; --d) {
      y[row * self.dim() + d] = rest % self.size(d);
      rest /= self.size(d);
    }
    ++row;
  }
  close(out, y);
  return Ok{};
}

// self and mask over their common shape, self's elements as they are.
struct Masked {
  Dims shape;
  const bool* mask;
  std::byte* values;
};
Result<Masked> masked(Context& ctx, const Tensor& self, const Tensor& mask) {
  if (mask.dtype() != DType::boolean)
    return invalid({"expected BoolTensor for mask, got ", mask.dtype()});
  Masked m{};
  BP_ASSIGN_OR_RETURN(m.shape, broadcast(self.shape(), mask.shape()));
  BP_ASSIGN_OR_RETURN(const int64_t n, count(m.shape));
  const int64_t size = size_of(self.dtype());
  BP_ASSIGN_OR_RETURN(m.values, ctx.scratch<std::byte>(std::max<int64_t>(n * size, 1)));
  BP_ASSIGN_OR_RETURN(bool* flags, ctx.scratch<bool>(std::max<int64_t>(n, 1)));
  Dims strides(m.shape.size(), 1);
  for (int64_t d = m.shape.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * m.shape[d];
  const auto spread = [&](const Tensor& from, void* to) {
    Strided view(from);
    view.shape = m.shape;
    view.strides = broadcast_strides(from, m.shape);
    bp_tensor_t raw = *from.raw();
    raw.data = to;
    raw.byte_offset = 0;
    raw.ndim = static_cast<int32_t>(m.shape.size());
    raw.shape = const_cast<int64_t*>(m.shape.begin());    // NOLINT: the C struct has no const
    raw.strides = const_cast<int64_t*>(strides.begin());  // NOLINT
    copy_bytes(view.tensor(), Tensor(&raw));
  };
  spread(self, m.values);
  spread(mask, flags);
  m.mask = flags;
  return m;
}

// Dense bytes into `out`, which has been resized.
void write_dense(const std::byte* bytes, const Tensor& out) {
  Dims strides(out.dim(), 1);
  for (int64_t d = out.dim() - 1; d > 0; --d) strides[d - 1] = strides[d] * out.size(d);
  bp_tensor_t raw = *out.raw();
  raw.data = const_cast<std::byte*>(bytes);  // NOLINT: read only
  raw.byte_offset = 0;
  raw.strides = const_cast<int64_t*>(strides.begin());  // NOLINT
  copy_bytes(Tensor(&raw), out);
}

Status masked_select(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const Masked m, masked(ctx, args.tensor(0), args.tensor(1)));
  BP_ASSIGN_OR_RETURN(const int64_t n, count(m.shape));
  const int64_t size = size_of(args.tensor(0).dtype());
  const Dims shape = {std::count(m.mask, m.mask + n, true)};
  BP_TRY(ctx.resize(args.out(0), shape));
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (m.mask[i])
      std::copy_n(m.values + i * size, size, m.values + size * at++);  // forward: never past i
  }
  write_dense(m.values, args.out(0));
  return Ok{};
}

Status masked_scatter(Context& ctx, const Args& args) {
  const Tensor source = args.tensor(2);
  const Tensor self = args.tensor(0);
  if (source.dtype() != self.dtype())
    return invalid({"masked_scatter_: expected self and source to have same dtypes but got ",
                    self.dtype(), " and ", source.dtype()});
  BP_ASSIGN_OR_RETURN(const Masked m, masked(ctx, self, args.tensor(1)));
  BP_ASSIGN_OR_RETURN(const int64_t n, count(m.shape));
  const int64_t size = size_of(self.dtype());
  BP_ASSIGN_OR_RETURN(auto* dense,
                      ctx.scratch<std::byte>(std::max<int64_t>(source.numel() * size, 1)));
  Dims flat_strides(source.dim(), 1);
  for (int64_t d = source.dim() - 1; d > 0; --d)
    flat_strides[d - 1] = flat_strides[d] * source.size(d);
  bp_tensor_t raw = *source.raw();
  raw.data = dense;
  raw.byte_offset = 0;
  raw.strides = const_cast<int64_t*>(flat_strides.begin());  // NOLINT
  copy_bytes(source, Tensor(&raw));
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (!m.mask[i]) continue;
    if (at == source.numel())
      return invalid({"masked_scatter: expected the number of elements in source (", source.numel(),
                      ") >= number of ones in mask"});
    std::copy_n(dense + size * at++, size, m.values + i * size);
  }
  BP_TRY(ctx.resize(args.out(0), m.shape));
  write_dense(m.values, args.out(0));
  return Ok{};
}

// Where each value would stand among sorted boundaries.
Status bucketize(Context& ctx, const Args& args) {
  const Tensor boundaries = args.tensor(1);
  const Tensor out = args.out(0);
  const bool right = args.boolean(3);
  if (boundaries.dim() != 1)
    return invalid({"boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(), ")"});
  BP_ASSIGN_OR_RETURN(const double* edges, read<double>(ctx, boundaries));
  const int64_t n = boundaries.numel();
  const auto place = [&](double v) {
    const double* at = right ? std::upper_bound(edges, edges + n, v,
                                                [](double a, double b) { return before(a, b); })
                             : std::lower_bound(edges, edges + n, v,
                                                [](double a, double b) { return before(a, b); });
    return static_cast<int64_t>(at - edges);
  };
  if (!args.is_tensor(0)) {
    BP_TRY(ctx.resize(out, Dims()));
    BP_ASSIGN_OR_RETURN(int64_t * y, open<int64_t>(ctx, out));
    *y = place(args.scalar(0).to<double>());
    close(out, y);
    return Ok{};
  }
  const Tensor self = args.tensor(0);
  BP_TRY(ctx.resize(out, self.shape()));
  BP_ASSIGN_OR_RETURN(const double* x, read<double>(ctx, self));
  BP_ASSIGN_OR_RETURN(int64_t * y, open<int64_t>(ctx, out));
  for (int64_t i = 0; i < self.numel(); ++i) y[i] = place(x[i]);
  close(out, y);
  return Ok{};
}

// Elements on one side of a diagonal; the others zero.
template <bool Upper>
Status triangle(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(0);
  if (self.dim() < 2)
    return invalid({Upper ? "triu" : "tril", ": input tensor must have at least 2 dimensions"});
  BP_TRY(ctx.resize(out, self.shape()));
  const int64_t size = size_of(self.dtype());
  const int64_t rows = self.size(-2);
  const int64_t columns = self.size(-1);
  BP_ASSIGN_OR_RETURN(auto* dense,
                      ctx.scratch<std::byte>(std::max<int64_t>(self.numel() * size, 1)));
  Dims strides(self.dim(), 1);
  for (int64_t d = self.dim() - 1; d > 0; --d) strides[d - 1] = strides[d] * self.size(d);
  bp_tensor_t raw = *self.raw();
  raw.data = dense;
  raw.byte_offset = 0;
  raw.strides = const_cast<int64_t*>(strides.begin());  // NOLINT
  copy_bytes(self, Tensor(&raw));
  for (int64_t i = 0; i < self.numel(); ++i) {
    const int64_t row = i / columns % rows;
    const int64_t distance = i % columns - row - args.integer(1);
    if (Upper ? distance < 0 : distance > 0) std::fill_n(dense + i * size, size, std::byte{0});
  }
  write_dense(dense, out);
  return Ok{};
}

constexpr Entry table[] = {
    {"aten::bucketize.Scalar_out", "stbb>t", bucketize},
    {"aten::bucketize.Tensor_out", "ttbb>t", bucketize, kReals},
    {"aten::cumprod.out", "tiI>t", cumprod, kNumbers},
    {"aten::cumsum.out", "tiI>t", cumsum, kNumbers},
    {"aten::masked_scatter.out", "ttt>t", masked_scatter},
    {"aten::masked_select.out", "tt>t", masked_select},
    {"aten::nonzero.out", "t>t", nonzero},
    {"aten::sort.values", "tib>tt", sort, kReals | kBool},
    {"aten::sort.values_stable", "tBib>tt", sort_stable, kReals | kBool},
    {"aten::topk.values", "tiibb>tt", topk, kReals},
    {"aten::tril.out", "ti>t", triangle<false>},
    {"aten::triu.out", "ti>t", triangle<true>},
};

}  // namespace

extern const std::span<const Entry> order_kernels = table;

}  // namespace backplane::portable
