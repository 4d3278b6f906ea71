// A tensor's memory seen with another shape, strides and start: what a view is.
#pragma once

#include "portable/dense.hpp"
#include "portable/shape.hpp"

namespace backplane::portable {

class Strided {
 public:
  explicit Strided(const Tensor& tensor)
      : shape(tensor.shape()),
        strides(tensor.strides()),
        raw_(*tensor.raw()),
        size_(size_of(tensor.dtype())) {}

  Dims shape;
  Dims strides;
  int64_t offset = 0;  // elements after the tensor's first

  // Valid as long as this object is, and unchanged.
  Tensor tensor() {
    view_ = raw_;
    view_.ndim = static_cast<int32_t>(shape.size());
    view_.shape = const_cast<int64_t*>(shape.begin());      // NOLINT: the C struct has no const
    view_.strides = const_cast<int64_t*>(strides.begin());  // NOLINT
    view_.byte_offset += static_cast<uint64_t>(offset * size_);
    return Tensor(&view_);
  }

 private:
  bp_tensor_t raw_;
  bp_tensor_t view_{};
  int64_t size_;
};

// out takes the view's shape and elements.
inline Status copy_view(Context& ctx, Strided& view, const Tensor& out) {
  BP_TRY(ctx.resize(out, view.shape));
  copy_bytes(view.tensor(), out);
  return Ok{};
}

// Copies elements between tensors of one shape, converting dtypes.
void convert(const Tensor& from, const Tensor& to);

// Where a range with Python's rules begins, and how many it has.
struct Slice {
  int64_t start;
  int64_t length;
};
[[nodiscard]] Slice clamp_slice(int64_t size, int64_t start, int64_t end, int64_t step);

// The part of one dimension; step as in Python, above 0.
Result<Strided> sliced(const Tensor& self, int64_t dim, const Slice& slice, int64_t step);

// The view of a kernel's arguments from `first` on: dim, start, end, step of slice; and so on.
// Shared by the copies of views and by what writes through views.
Result<Strided> slice_of(const Tensor& self, const Args& args, int64_t first);
Result<Strided> select_of(const Tensor& self, const Args& args, int64_t first);
Result<Strided> diagonal_of(const Tensor& self, const Args& args, int64_t first);
Result<Strided> as_strided_of(const Tensor& self, const Args& args, int64_t first);

}  // namespace backplane::portable
