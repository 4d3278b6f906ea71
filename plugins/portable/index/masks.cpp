// Where something is true: nonzero and its forms, masked_select, masked_scatter.
#include <algorithm>

#include "portable/views/strided.hpp"
#include "portable/walk.hpp"

namespace backplane::portable {
namespace {

// Truth of any dtype, dense.
Result<const bool*> truth(Context& ctx, const Tensor& tensor) {
  BP_ASSIGN_OR_RETURN(bool* out, ctx.scratch<bool>(tensor.numel()));
  const Status done = dispatch<float, double, int64_t, uint64_t, Complex64, Complex128>(
      tensor.dtype(), [&]<class T>() -> Status {
        BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, tensor));
        for (int64_t i = 0; i < tensor.numel(); ++i) out[i] = x[i] != T{};
        return Ok{};
      });
  if (!done.ok()) return done.error();
  return static_cast<const bool*>(out);
}

// The coordinates of what is true, a row each, in the first `rows` rows of y.
void write_coordinates(const Tensor& self, const bool* hit, int64_t rows, int64_t* y) {
  int64_t row = 0;
  for (int64_t i = 0, n = self.numel(); i < n && row < rows; ++i) {
    if (!hit[i]) continue;
    int64_t rest = i;
    for (int64_t d = self.dim() - 1; d >= 0; --d) {
      y[row * self.dim() + d] = rest % self.size(d);
      rest /= self.size(d);
    }
    ++row;
  }
}

Status nonzero(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(const bool* hit, truth(ctx, self));
  const Dims shape = {std::count(hit, hit + self.numel(), true), self.dim()};
  BP_TRY(ctx.resize(out, shape));
  BP_ASSIGN_OR_RETURN(int64_t * y, open<int64_t>(ctx, out));
  write_coordinates(self, hit, shape[0], y);
  close(out, y);
  return Ok{};
}

// args: self, size, fill_value. Cut or filled up to `size` rows.
Status nonzero_static(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(0);
  const int64_t rows = args.integer(1);
  if (rows < 0) return invalid({"nonzero_static: size must be a non-negative integer, got ", rows});
  BP_ASSIGN_OR_RETURN(const bool* hit, truth(ctx, self));
  const Dims shape = {rows, self.dim()};
  BP_TRY(ctx.resize(out, shape));
  BP_ASSIGN_OR_RETURN(int64_t * y, open<int64_t>(ctx, out));
  std::fill_n(y, out.numel(), args.integer(2));
  write_coordinates(self, hit, rows, y);
  close(out, y);
  return Ok{};
}

// self and mask over their common shape, self's elements as they are.
struct Masked {
  Dims shape;
  const bool* mask;
  std::byte* values;
  int64_t count;
};
Result<Masked> masked(Context& ctx, const Tensor& self, const Tensor& mask) {
  if (mask.dtype() != DType::boolean)
    return invalid({"expected BoolTensor for mask, got ", mask.dtype()});
  Masked m{};
  BP_ASSIGN_OR_RETURN(m.shape, broadcast(self.shape(), mask.shape()));
  BP_ASSIGN_OR_RETURN(m.count, count(m.shape));
  const auto spread = [&](const Tensor& from) {
    Strided view(from);
    view.shape = m.shape;
    view.strides = broadcast_strides(from, m.shape);
    return dense_bytes(ctx, view.tensor());
  };
  BP_ASSIGN_OR_RETURN(m.values, spread(self));
  BP_ASSIGN_OR_RETURN(const std::byte* flags, spread(mask));
  m.mask = reinterpret_cast<const bool*>(flags);
  return m;
}

Status masked_select(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const Masked m, masked(ctx, args.tensor(0), args.tensor(1)));
  const int64_t size = size_of(args.tensor(0).dtype());
  const Dims shape = {std::count(m.mask, m.mask + m.count, true)};
  BP_TRY(ctx.resize(args.out(0), shape));
  int64_t at = 0;
  for (int64_t i = 0; i < m.count; ++i) {
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
  BP_ASSIGN_OR_RETURN(const std::byte* from, dense_bytes(ctx, source));
  const int64_t size = size_of(self.dtype());
  int64_t at = 0;
  for (int64_t i = 0; i < m.count; ++i) {
    if (!m.mask[i]) continue;
    if (at == source.numel())
      return invalid({"masked_scatter: expected the number of elements in source (", source.numel(),
                      ") >= number of ones in mask"});
    std::copy_n(from + size * at++, size, m.values + i * size);
  }
  BP_TRY(ctx.resize(args.out(0), m.shape));
  write_dense(m.values, args.out(0));
  return Ok{};
}

constexpr Entry table[] = {
    {"aten::masked_scatter.out", "ttt>t", masked_scatter, kNumbers},
    {"aten::masked_select.out", "tt>t", masked_select, kAll - kUnsigned},
    {"aten::nonzero.out", "t>t", nonzero, kNumbers},
    {"aten::nonzero_static.out", "tii>t", nonzero_static, kNumbers},
};

}  // namespace

extern const std::span<const Entry> masks_kernels = table;

}  // namespace backplane::portable
