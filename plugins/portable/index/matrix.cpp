// Matrices by their diagonals: tril, triu, diag_embed, trace.
#include <algorithm>

#include "portable/map.hpp"
#include "portable/views/strided.hpp"

namespace backplane::portable {
namespace {

// Elements on one side of a diagonal; the others zero.
template <bool Upper>
Status triangle(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  if (self.dim() < 2)
    return invalid({Upper ? "triu" : "tril", ": input tensor must have at least 2 dimensions"});
  BP_TRY(ctx.resize(args.out(0), self.shape()));
  const int64_t size = size_of(self.dtype());
  const int64_t rows = self.size(-2);
  const int64_t columns = self.size(-1);
  BP_ASSIGN_OR_RETURN(std::byte * dense, dense_bytes(ctx, self));
  for (int64_t i = 0; i < self.numel(); ++i) {
    const int64_t row = i / columns % rows;
    const int64_t distance = i % columns - row - args.integer(1);
    if (Upper ? distance < 0 : distance > 0) std::fill_n(dense + i * size, size, std::byte{0});
  }
  write_dense(dense, args.out(0));
  return Ok{};
}

// args: self, offset, dim1, dim2 of the result, which is zero beside the diagonal.
Status diag_embed(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(0);
  const int64_t offset = args.integer(1);
  const int64_t rank = self.dim() + 1;
  if (self.dim() == 0 || rank > kMaxRank)
    return invalid({"diag_embed: rank ", self.dim(), " is not between 1 and ", kMaxRank - 1});
  BP_ASSIGN_OR_RETURN(const int64_t dim1, wrap_dim(args.integer(2), rank));
  BP_ASSIGN_OR_RETURN(const int64_t dim2, wrap_dim(args.integer(3), rank));
  if (dim1 == dim2) {
    return invalid(
        {"diagonal dimensions cannot be identical ", args.integer(2), ", ", args.integer(3)});
  }
  int64_t length = 0;
  if (__builtin_add_overflow(self.size(-1), offset < 0 ? -offset : offset, &length))
    return invalid({"diag_embed: offset ", offset, " is too large"});
  Dims shape;
  int64_t next = 0;
  for (int64_t d = 0; d < rank; ++d)
    shape.push_back(d == dim1 || d == dim2 ? length : self.size(next++));
  BP_ASSIGN_OR_RETURN(const int64_t elements, count(shape));
  static_cast<void>(elements);
  BP_TRY(ctx.resize(out, shape));
  fill(out, Scalar(int64_t{0}));
  Strided diagonal(out);
  diagonal.shape = Dims(self.shape());
  diagonal.strides = Dims();
  for (int64_t d = 0; d < rank; ++d) {
    if (d != dim1 && d != dim2) diagonal.strides.push_back(out.stride(d));
  }
  diagonal.strides.push_back(out.stride(dim1) + out.stride(dim2));
  diagonal.offset = offset < 0 ? -offset * out.stride(dim1) : offset * out.stride(dim2);
  copy_bytes(self, diagonal.tensor());
  return Ok{};
}

Status trace(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor out = args.out(0);
  if (self.dim() != 2)
    return invalid({"trace: expected a matrix, but got tensor with dim ", self.dim()});
  BP_TRY(ctx.resize(out, Dims()));
  return dispatch<float, double, int64_t, Complex64, Complex128>(
      out.dtype(), [&]<class T>() -> Status {
        BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
        BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, out));
        *y = T{};
        for (int64_t i = 0; i < std::min(self.size(0), self.size(1)); ++i)
          *y += x[i * self.size(1) + i];
        close(out, y);
        return Ok{};
      });
}

constexpr Entry table[] = {
    {"aten::diag_embed.out", "tiii>t", diag_embed},
    {"aten::trace.out", "t>t", trace, kNumbers - kBool},
    {"aten::tril.out", "ti>t", triangle<false>, kNumbers},
    {"aten::triu.out", "ti>t", triangle<true>, kNumbers},
};

}  // namespace

extern const std::span<const Entry> matrix_kernels = table;

}  // namespace backplane::portable
