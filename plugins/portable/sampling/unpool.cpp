// Pools undone: each element goes to where its index says, in a plane of zeros.
#include <algorithm>

#include "portable/dense.hpp"

namespace backplane::portable {
namespace {

// Planes of `from` elements scattered into planes of `to`. Gradients are summed.
template <class T>
Status scatter(Context& ctx, const Tensor& self, const Tensor& indices, int64_t from, int64_t to,
               bool sums, const Tensor& out) {
  BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
  BP_ASSIGN_OR_RETURN(const int64_t* index, read<int64_t>(ctx, indices));
  BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, out));
  std::fill_n(y, out.numel(), T{});
  for (int64_t i = 0, n = self.numel(); i < n; ++i) {
    if (index[i] < 0 || index[i] >= to)
      return invalid(
          {"found an invalid max index: ", index[i], " (output volumes are of ", to, " elements)"});
    T& at = y[i / from * to + index[i]];
    at = sums ? at + x[i] : x[i];
  }
  close(out, y);
  return Ok{};
}

int64_t area_of(const Tensor& t, int64_t spatial) {
  int64_t area = 1;
  for (int64_t d = t.dim() - spatial; d < t.dim(); ++d) area *= t.size(d);
  return area;
}

// args: self, indices, output_size(, stride, padding).
template <int64_t Spatial>
Status max_unpool(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Tensor indices = args.tensor(1);
  const auto size = args.ints(2);
  if (self.dim() != Spatial + 1 && self.dim() != Spatial + 2)
    return invalid({"expected input of ", Spatial + 1, " or ", Spatial + 2, " dimensions, but got ",
                    self.shape()});
  if (static_cast<int64_t>(size.size()) != Spatial)
    return invalid(
        {"there should be exactly ", Spatial, " elements in output_size, but got ", size});
  if (indices.dtype() != DType::i64)
    return invalid({"elements in indices should be type int64, but got ", indices.dtype()});
  if (!std::equal(self.shape().begin(), self.shape().end(), indices.shape().begin(),
                  indices.shape().end()))
    return invalid({"expected shape of indices to be same as that of the input tensor (",
                    self.shape(), "), but got ", indices.shape()});
  if (Spatial == 3) {
    for (const int64_t stride : args.ints(3)) {
      if (stride <= 0) return invalid({"strides should be greater than zero, but got ", stride});
    }
  }
  for (int64_t d = 1; d < self.dim(); ++d) {
    if (self.size(d) == 0 && (d > 1 || self.dim() == Spatial + 2))
      return invalid({"expected input to have non-zero size for non-batch dimensions, but got ",
                      self.shape()});
  }
  Dims shape(self.shape().first(static_cast<size_t>(self.dim() - Spatial)));
  int64_t area = 1;
  for (const int64_t s : size) {
    if (s < 0) return invalid({"output_size should not be negative, but got ", size});
    shape.push_back(s);
    area *= s;
  }
  BP_TRY(ctx.resize(args.out(0), shape));
  return dispatch<float, double>(self.dtype(), [&]<class T>() {
    return scatter<T>(ctx, self, indices, area_of(self, Spatial), area, false, args.out(0));
  });
}

// args: grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices.
template <int64_t Spatial>
Status max_pool_backward(Context& ctx, const Args& args) {
  const Tensor grad = args.tensor(0);
  const Tensor self = args.tensor(1);
  const Tensor indices = args.tensor(7);
  if (!std::equal(grad.shape().begin(), grad.shape().end(), indices.shape().begin(),
                  indices.shape().end()) ||
      (self.dim() != Spatial + 1 && self.dim() != Spatial + 2) || grad.dim() != self.dim())
    return invalid({"gradient of shape ", grad.shape(), " and indices of shape ", indices.shape(),
                    " for an input of shape ", self.shape()});
  for (int64_t d = 0; d < self.dim() - Spatial; ++d) {
    if (grad.size(d) != self.size(d))
      return invalid({"gradient of shape ", grad.shape(), " for an input of shape ", self.shape()});
  }
  BP_TRY(ctx.resize(args.out(0), self.shape()));
  return dispatch<float, double>(grad.dtype(), [&]<class T>() {
    return scatter<T>(ctx, grad, indices, area_of(grad, Spatial), area_of(self, Spatial), true,
                      args.out(0));
  });
}

constexpr Entry table[] = {
    {"aten::max_pool2d_with_indices_backward.grad_input", "ttnnnnbt>t", max_pool_backward<2>,
     kFloats},
    {"aten::max_pool3d_with_indices_backward.grad_input", "ttnnnnbt>t", max_pool_backward<3>,
     kFloats},
    {"aten::max_unpool2d.out", "ttn>t", max_unpool<2>, kFloats},
    {"aten::max_unpool3d.out", "ttnnn>t", max_unpool<3>, kFloats},
};

}  // namespace

extern const std::span<const Entry> unpool_kernels = table;

}  // namespace backplane::portable
