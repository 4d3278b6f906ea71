// Patches of images laid out as columns, and summed back.
#include <algorithm>
#include <array>

#include "portable/dense.hpp"

namespace backplane::portable {
namespace {

using Two = std::array<int64_t, 2>;

struct Patches {
  int64_t batch, channels;
  Two image, kernel, dilation, padding, stride, count;
  [[nodiscard]] int64_t columns() const { return count[0] * count[1]; }
  [[nodiscard]] int64_t taps() const { return kernel[0] * kernel[1]; }
};

Two two(std::span<const int64_t> list) {
  return {list[0], list[list.size() == 1 ? 0 : 1]};
}

// The lists from argument `first` on: kernel, dilation, padding, stride.
Status fill_lists(const Args& args, int64_t first, Patches& p) {
  for (int64_t i = first; i < first + 4; ++i) {
    const auto list = args.ints(i);
    if (list.size() != 1 && list.size() != 2)
      return invalid(
          {"expected one or two numbers for each of kernel_size, dilation, padding and "
           "stride, but got ",
           list});
    for (const int64_t v : list) {
      if (v < (i == first + 2 ? 0 : 1))
        return invalid(
            {"kernel_size, dilation and stride should be greater than zero and padding "
             "not negative, but got ",
             list});
    }
  }
  p.kernel = two(args.ints(first));
  p.dilation = two(args.ints(first + 1));
  p.padding = two(args.ints(first + 2));
  p.stride = two(args.ints(first + 3));
  for (size_t d = 0; d < 2; ++d) {
    const int64_t room = p.image[d] + 2 * p.padding[d] - p.dilation[d] * (p.kernel[d] - 1) - 1;
    p.count[d] = room < 0 ? 0 : room / p.stride[d] + 1;
  }
  if (p.columns() == 0)
    return invalid({"given spatial size (", p.image[0], ", ", p.image[1],
                    "), the array of sliding blocks has no element"});
  return Ok{};
}

// f(element of the columns, element of the image) for all that lie in the image.
template <class F>
void for_elements(const Patches& p, F&& f) {
  const int64_t rows = p.batch * p.channels * p.taps();
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t plane = row / p.taps();
    const int64_t ky = row / p.kernel[1] % p.kernel[0];
    const int64_t kx = row % p.kernel[1];
    for (int64_t i = 0; i < p.count[0]; ++i) {
      const int64_t y = i * p.stride[0] - p.padding[0] + ky * p.dilation[0];
      if (y < 0 || y >= p.image[0]) continue;
      for (int64_t j = 0; j < p.count[1]; ++j) {
        const int64_t x = j * p.stride[1] - p.padding[1] + kx * p.dilation[1];
        if (x < 0 || x >= p.image[1]) continue;
        f(row * p.columns() + i * p.count[1] + j, (plane * p.image[0] + y) * p.image[1] + x);
      }
    }
  }
}

// args: self, kernel_size, dilation, padding, stride.
Status im2col(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const bool fits = (self.dim() == 3 || self.dim() == 4) && self.size(-1) > 0 &&
                    self.size(-2) > 0 && self.size(-3) > 0;
  if (!fits)
    return invalid(
        {"expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other "
         "non-zero dimensions for input, but got: ",
         self.shape()});
  Patches p{};
  p.batch = self.dim() == 4 ? self.size(0) : 1;
  p.channels = self.size(-3);
  p.image = {self.size(-2), self.size(-1)};
  BP_TRY(fill_lists(args, 1, p));
  Dims shape(self.shape().first(static_cast<size_t>(self.dim() - 3)));
  shape.push_back(p.channels * p.taps());
  shape.push_back(p.columns());
  BP_TRY(ctx.resize(args.out(0), shape));
  return dispatch<float, double, int64_t, Complex64, Complex128>(
      self.dtype(), [&]<class T>() -> Status {
        BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
        BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
        std::fill_n(y, args.out(0).numel(), T{});
        for_elements(p, [&](int64_t column, int64_t pixel) { y[column] = x[pixel]; });
        close(args.out(0), y);
        return Ok{};
      });
}

// args: self, output_size, kernel_size, dilation, padding, stride.
Status col2im(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const auto size = args.ints(1);
  if ((self.dim() != 2 && self.dim() != 3) || self.size(-1) == 0 || self.size(-2) == 0)
    return invalid(
        {"expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size "
         "and non-zero dimensions, but got: ",
         self.shape()});
  if (size.size() != 2 && size.size() != 1)
    return invalid({"expected two numbers for output_size, but got ", size});
  Patches p{};
  p.image = two(size);
  if (p.image[0] <= 0 || p.image[1] <= 0)
    return invalid({"output_size should be greater than zero, but got ", size});
  BP_TRY(fill_lists(args, 2, p));
  if (self.size(-2) % p.taps() != 0 || self.size(-1) != p.columns()) {
    return invalid({"expected size of input's dimension 1 to be divisible by ", p.taps(),
                    " and of dimension 2 to be ", p.columns(), ", but got ", self.shape()});
  }
  p.batch = self.dim() == 3 ? self.size(0) : 1;
  p.channels = self.size(-2) / p.taps();
  Dims shape(self.shape().first(static_cast<size_t>(self.dim() - 2)));
  for (const int64_t s : {p.channels, p.image[0], p.image[1]}) shape.push_back(s);
  BP_TRY(ctx.resize(args.out(0), shape));
  return dispatch<float, double, int64_t, Complex64, Complex128>(
      self.dtype(), [&]<class T>() -> Status {
        BP_ASSIGN_OR_RETURN(const T* x, read<T>(ctx, self));
        BP_ASSIGN_OR_RETURN(T * y, open<T>(ctx, args.out(0)));
        std::fill_n(y, args.out(0).numel(), T{});
        for_elements(p, [&](int64_t column, int64_t pixel) { y[pixel] += x[column]; });
        close(args.out(0), y);
        return Ok{};
      });
}

constexpr DTypes kPatches = kFloats | kComplex | kBool;

constexpr Entry table[] = {
    {"aten::col2im.out", "tnnnnn>t", col2im, kPatches},
    {"aten::im2col.out", "tnnnn>t", im2col, kPatches},
};

}  // namespace

extern const std::span<const Entry> patches_kernels = table;

}  // namespace backplane::portable
