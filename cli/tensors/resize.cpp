// Separable: the width first, then the height. Numbers are formed in float32 and double just as
// PyTorch's CPU kernel forms them, so that results agree to the last bits.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <vector>

#include "tensors/image.hpp"

namespace backplane::cli {
namespace {

// What one output element is made of: weights.size() inputs from `first` on.
struct Window {
  int64_t first;
  std::vector<float> weights;
};

float triangle(float x) {
  return std::max(1.0F - std::fabs(x), 0.0F);
}

Window make_window(int64_t i, int64_t in, float scale) {
  const float support = std::max(scale, 1.0F);
  const float inverse = scale >= 1.0F ? 1.0F / scale : 1.0F;
  const auto center = static_cast<float>(scale * (static_cast<double>(i) + 0.5));
  const auto first = std::max<int64_t>(static_cast<int64_t>(center - support + 0.5), 0);
  const auto last = std::min<int64_t>(static_cast<int64_t>(center + support + 0.5), in);
  const int64_t longest = 2 * static_cast<int64_t>(std::ceil(support)) + 1;
  Window window{first, {}};
  float total = 0;
  for (int64_t j = 0; j < std::min(last - first, longest); ++j) {
    const float distance = static_cast<float>(j + first) - center;
    window.weights.push_back(triangle(static_cast<float>((distance + 0.5) * inverse)));
    total += window.weights.back();
  }
  for (float& weight : window.weights) {
    if (total != 0) weight /= total;
  }
  return window;
}

std::vector<Window> make_windows(int64_t in, int64_t out) {
  std::vector<Window> windows;
  const float scale = static_cast<float>(in) / static_cast<float>(out);
  for (int64_t i = 0; i < out; ++i) windows.push_back(make_window(i, in, scale));
  return windows;
}

// [rows, in] to [rows, out].
void resize_width(const float* in, int64_t rows, int64_t width, float* out,
                  std::span<const Window> windows) {
  for (int64_t r = 0; r < rows; ++r, in += width) {
    for (const Window& window : windows) {
      float sum = 0;
      for (size_t j = 0; j < window.weights.size(); ++j) {
        sum += window.weights[j] * in[window.first + static_cast<int64_t>(j)];
      }
      *out++ = sum;
    }
  }
}

// [planes, in, width] to [planes, out, width].
void resize_height(const float* in, int64_t planes, int64_t height, int64_t width, float* out,
                   std::span<const Window> windows) {
  for (int64_t p = 0; p < planes; ++p, in += height * width) {
    for (const Window& window : windows) {
      std::fill_n(out, width, 0.0F);
      for (size_t j = 0; j < window.weights.size(); ++j) {
        const float* row = in + (window.first + static_cast<int64_t>(j)) * width;
        for (int64_t x = 0; x < width; ++x) out[x] += window.weights[j] * row[x];
      }
      out += width;
    }
  }
}

}  // namespace

Result<Tensor> resize_antialiased(const Tensor& image, ImageSize size) {
  assert(image.dtype() == DType::f32 && image.sizes().size() == 4);
  assert(size.height >= 1 && size.width >= 1);
  const int64_t planes = image.sizes()[0] * image.sizes()[1];
  const int64_t height = image.sizes()[2];
  const int64_t width = image.sizes()[3];
  BP_ASSIGN_OR_RETURN(
      Tensor wide,
      Tensor::uninitialized(DType::f32, {image.sizes()[0], image.sizes()[1], height, size.width}));
  if (width == size.width) {
    std::memcpy(wide.data_as<float>(), image.data_as<float>(), image.nbytes());
  } else {
    resize_width(image.data_as<float>(), planes * height, width, wide.data_as<float>(),
                 make_windows(width, size.width));
  }
  if (height == size.height) return wide;
  BP_ASSIGN_OR_RETURN(Tensor result,
                      Tensor::uninitialized(DType::f32, {image.sizes()[0], image.sizes()[1],
                                                         size.height, size.width}));
  resize_height(wide.data_as<float>(), planes, height, size.width, result.data_as<float>(),
                make_windows(height, size.height));
  return result;
}

}  // namespace backplane::cli
