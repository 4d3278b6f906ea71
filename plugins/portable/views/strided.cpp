// Copies of views: the same elements through other strides.
#include "portable/views/strided.hpp"

#include <algorithm>
#include <limits>

#include "portable/walk.hpp"

namespace backplane::portable {

void convert(const Tensor& from, const Tensor& to) {
  if (from.dtype() == to.dtype()) {
    copy_bytes(from, to);
    return;
  }
  const std::array<Dims, 2> strides = {Dims(from.strides()), Dims(to.strides())};
  const Walk walk(to.shape(), strides);
  if (walk.numel() == 0) return;
  const DType native = native_of(to.dtype());
  alignas(16) std::array<std::byte, kStrip * sizeof(Complex128)> strip;  // NOLINT: filled by load
  Walk::Cursor cursor = walk.at(0);
  for (int64_t done = 0; done < walk.numel();) {
    const int64_t n = std::min(walk.row_left(cursor), kStrip);
    load(compute_of(to.dtype()), strip.data(), from.dtype(),
         from.bytes() + cursor.offset[0] * size_of(from.dtype()), walk.stride(0), n);
    store(native, strip.data(), to.dtype(), to.bytes() + cursor.offset[1] * size_of(to.dtype()),
          walk.stride(1), n);
    walk.advance(cursor, n);
    done += n;
  }
}

Slice clamp_slice(int64_t size, int64_t start, int64_t end, int64_t step) {
  if (start < 0) start += size;
  if (end < 0) end += size;
  start = std::clamp<int64_t>(start, 0, size);
  end = std::clamp<int64_t>(end, start, size);
  return {start, (end - start) / step + ((end - start) % step != 0 ? 1 : 0)};
}

Result<Strided> sliced(const Tensor& self, int64_t dim, const Slice& slice, int64_t step) {
  Strided view(self);
  view.offset = slice.length == 0 ? 0 : slice.start * view.strides[dim];
  view.shape[dim] = slice.length;
  view.strides[dim] *= step;
  return view;
}

Result<Strided> slice_of(const Tensor& self, const Args& args, int64_t first) {
  if (self.dim() == 0) return invalid({"slice() cannot be applied to a 0-dim tensor."});
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(first), self.dim()));
  const int64_t step = args.integer(first + 3);
  if (step <= 0) return invalid({"slice step must be positive, got ", step});
  const Slice slice =
      clamp_slice(self.size(dim), args.integer_or(first + 1, 0),
                  args.integer_or(first + 2, std::numeric_limits<int64_t>::max()), step);
  return sliced(self, dim, slice, step);
}

Result<Strided> select_of(const Tensor& self, const Args& args, int64_t first) {
  if (self.dim() == 0) return invalid({"select() cannot be applied to a 0-dim tensor."});
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(first), self.dim()));
  const int64_t size = self.size(dim);
  int64_t index = args.integer(first + 1);
  if (index < -size || index >= size) {
    return invalid({"select(): index ", index, " out of range for tensor of size ", self.shape(),
                    " at dimension ", dim});
  }
  if (index < 0) index += size;
  Strided view(self);
  view.offset = index * view.strides[dim];
  view.shape.erase(dim);
  view.strides.erase(dim);
  return view;
}

Result<Strided> diagonal_of(const Tensor& self, const Args& args, int64_t first) {
  const int64_t offset = args.integer(first);
  BP_ASSIGN_OR_RETURN(const int64_t dim1, wrap_dim(args.integer(first + 1), self.dim()));
  BP_ASSIGN_OR_RETURN(const int64_t dim2, wrap_dim(args.integer(first + 2), self.dim()));
  if (dim1 == dim2) {
    return invalid({"diagonal dimensions cannot be identical ", args.integer(first + 1), ", ",
                    args.integer(first + 2)});
  }
  Strided view(self);
  const int64_t rows = self.size(dim1);
  const int64_t columns = self.size(dim2);
  const int64_t length =
      offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns);
  const int64_t stride = view.strides[dim1] + view.strides[dim2];
  if (length > 0)
    view.offset = offset >= 0 ? offset * view.strides[dim2] : -offset * view.strides[dim1];
  view.shape.erase(std::max(dim1, dim2));
  view.shape.erase(std::min(dim1, dim2));
  view.strides.erase(std::max(dim1, dim2));
  view.strides.erase(std::min(dim1, dim2));
  view.shape.push_back(std::max<int64_t>(length, 0));
  view.strides.push_back(stride);
  return view;
}

// The elements of a dense tensor at any strides that stay inside it.
Result<Strided> as_strided_of(const Tensor& self, const Args& args, int64_t first) {
  const auto sizes = args.ints(first);
  const auto strides = args.ints(first + 1);
  if (sizes.size() != strides.size()) {
    return invalid(
        {"mismatch in length of strides and shape: ", static_cast<int64_t>(strides.size()), " and ",
         static_cast<int64_t>(sizes.size())});
  }
  if (!self.is_contiguous()) return invalid({"as_strided needs a row-major tensor here"});
  int64_t last = args.integer_or(first + 2, 0);
  bool empty = false;
  bool fits = last >= 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0 || strides[d] < 0)
      return invalid(
          {"as_strided: negative sizes and strides are not supported: ", sizes, " and ", strides});
    empty = empty || sizes[d] == 0;
    int64_t reach = 0;
    fits = fits &&
           !__builtin_mul_overflow(std::max<int64_t>(sizes[d] - 1, 0), strides[d], &reach) &&
           !__builtin_add_overflow(last, reach, &last);
  }
  if (!empty && (!fits || last >= self.numel())) {
    return invalid({"setStorage: sizes ", sizes, ", strides ", strides,
                    " are out of bounds for storage of ", self.numel(), " elements"});
  }
  Strided view(self);
  view.shape = Dims(sizes);
  view.strides = Dims(strides);
  view.offset = empty ? 0 : args.integer_or(first + 2, 0);
  return view;
}

namespace {

template <Result<Strided> (*Of)(const Tensor&, const Args&, int64_t)>
Status copy_of(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(Strided view, Of(args.tensor(0), args, 1));
  return copy_view(ctx, view, args.out(0));
}

// self with src written through the view.
template <Result<Strided> (*Of)(const Tensor&, const Args&, int64_t)>
Status scatter_of(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor src = args.tensor(1);
  const Tensor out = args.out(0);
  BP_ASSIGN_OR_RETURN(Strided view, Of(self, args, 2));
  if (!std::ranges::equal(view.shape, src.shape())) {
    return invalid({"expected src to have a size equal to the slice of self. src size = ",
                    src.shape(), ", slice size = ", view.shape});
  }
  BP_TRY(ctx.resize(out, self.shape()));
  if (out.bytes() != self.bytes()) copy_bytes(self, out);
  BP_ASSIGN_OR_RETURN(Strided place, Of(out, args, 2));
  convert(src, place.tensor());
  return Ok{};
}

Status permute(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const auto dims = args.ints(1);
  if (static_cast<int64_t>(dims.size()) != self.dim()) {
    return invalid(
        {"permute(sparse_coo): number of dimensions in the tensor input does not match the length "
         "of the desired ordering of dimensions i.e. input.dim() = ",
         self.dim(), " is not equal to len(dims) = ", static_cast<int64_t>(dims.size())});
  }
  BP_ASSIGN_OR_RETURN(const auto named, wrap_dims(dims, self.dim()));  // refuses what comes twice
  static_cast<void>(named);
  Strided view(self);
  for (int64_t i = 0; i < self.dim(); ++i) {
    BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(dims[static_cast<size_t>(i)], self.dim()));
    view.shape[i] = self.size(dim);
    view.strides[i] = self.stride(dim);
  }
  return copy_view(ctx, view, args.out(0));
}

Status swap(Context& ctx, const Tensor& self, int64_t a, int64_t b, const Tensor& out) {
  BP_ASSIGN_OR_RETURN(const int64_t dim0, wrap_dim(a, self.dim()));
  BP_ASSIGN_OR_RETURN(const int64_t dim1, wrap_dim(b, self.dim()));
  Strided view(self);
  if (self.dim() > 0) {
    std::swap(view.shape[dim0], view.shape[dim1]);
    std::swap(view.strides[dim0], view.strides[dim1]);
  }
  return copy_view(ctx, view, out);
}
Status transpose(Context& ctx, const Args& args) {
  return swap(ctx, args.tensor(0), args.integer(1), args.integer(2), args.out(0));
}
Status matrix_transpose(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  if (self.dim() > 2)
    return invalid({"t() expects a tensor with <= 2 dimensions, but self is ", self.dim(), "D"});
  return self.dim() < 2 ? swap(ctx, self, 0, 0, args.out(0)) : swap(ctx, self, 0, 1, args.out(0));
}

Status expand(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const auto sizes = args.ints(1);
  const auto rank = static_cast<int64_t>(sizes.size());
  if (rank < self.dim()) {
    return invalid({"expand: the number of sizes provided (", rank,
                    ") must be greater or equal to the number of dimensions in the tensor (",
                    self.dim(), ")"});
  }
  if (rank > kMaxRank) return invalid({"expand: rank ", rank, " is over ", kMaxRank});
  Strided view(self);
  view.shape = Dims(sizes);
  view.strides = Dims(rank, 0);
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t from = d - (rank - self.dim());
    const int64_t size = from < 0 ? 1 : self.size(from);
    if (view.shape[d] == -1 && from >= 0) view.shape[d] = size;
    if (view.shape[d] < 0 || (size != 1 && size != view.shape[d])) {
      return invalid({"the expanded size of the tensor (", view.shape[d],
                      ") must match the existing size (", size, ") at non-singleton dimension ", d,
                      ". Target sizes: ", sizes, ". Tensor sizes: ", self.shape()});
    }
    if (size != 1) view.strides[d] = self.stride(from);
  }
  return copy_view(ctx, view, args.out(0));
}

Status unfold(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  const int64_t size = args.integer(2);
  const int64_t step = args.integer(3);
  const int64_t have = self.dim() == 0 ? 1 : self.size(dim);
  if (size < 0 || size > have) {
    return invalid(
        {"maximum size for tensor at dimension ", dim, " is ", have, " but size is ", size});
  }
  if (step <= 0) return invalid({"step is ", step, " but must be > 0"});
  Strided view(self);
  if (self.dim() == 0) {
    view.shape = Dims{size};
    view.strides = Dims{1};
    return copy_view(ctx, view, args.out(0));
  }
  view.shape.push_back(size);
  view.strides.push_back(view.strides[dim]);
  view.shape[dim] = (have - size) / step + 1;
  view.strides[dim] *= step;
  return copy_view(ctx, view, args.out(0));
}

Status narrow(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  if (self.dim() == 0) return invalid({"narrow() cannot be applied to a 0-dim tensor."});
  BP_ASSIGN_OR_RETURN(const int64_t dim, wrap_dim(args.integer(1), self.dim()));
  const int64_t size = self.size(dim);
  int64_t start = args.integer(2);
  const int64_t length = args.integer(3);
  if (length < 0 || start < -size || start > size) {
    return invalid({"start out of range (expected to be in range of [", -size, ", ", size,
                    "], but got ", start, ")"});
  }
  if (start < 0) start += size;
  if (start > size - length)
    return invalid(
        {"start (", start, ") + length (", length, ") exceeds dimension size (", size, ")."});
  BP_ASSIGN_OR_RETURN(Strided view, sliced(self, dim, {start, length}, 1));
  return copy_view(ctx, view, args.out(0));
}

constexpr Entry table[] = {
    {"aten::as_strided_copy.out", "tnnI>t", copy_of<as_strided_of>},
    {"aten::as_strided_scatter.out", "ttnnI>t", scatter_of<as_strided_of>, kAll,
     BP_KERNEL_IN_PLACE},
    {"aten::diagonal_copy.out", "tiii>t", copy_of<diagonal_of>},
    {"aten::diagonal_scatter.out", "ttiii>t", scatter_of<diagonal_of>, kAll, BP_KERNEL_IN_PLACE},
    {"aten::expand_copy.out", "tnb>t", expand},
    {"aten::narrow_copy.out", "tiii>t", narrow},
    {"aten::permute_copy.out", "tn>t", permute},
    {"aten::select_copy.int_out", "tii>t", copy_of<select_of>},
    {"aten::select_scatter.out", "ttii>t", scatter_of<select_of>, kAll, BP_KERNEL_IN_PLACE},
    {"aten::slice_copy.Tensor_out", "tiIIi>t", copy_of<slice_of>},
    {"aten::slice_scatter.out", "ttiIIi>t", scatter_of<slice_of>, kAll, BP_KERNEL_IN_PLACE},
    {"aten::t_copy.out", "t>t", matrix_transpose},
    {"aten::transpose_copy.int_out", "tii>t", transpose},
    {"aten::unfold_copy.out", "tiii>t", unfold},
};

}  // namespace

extern const std::span<const Entry> strided_kernels = table;

}  // namespace backplane::portable
