// What slides over space: convolution, pooling, patches; and what resizes it.
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/meta/call.hpp"

namespace backplane::ops::meta {
namespace {

struct Window {
  SymInt kernel, stride, padding, dilation;
};

// (in + 2 padding - dilation (kernel - 1) - 1) / stride + 1
SymInt windows(Call& call, SymInt in, const Window& w, bool ceil_mode) {
  SymbolTable& symbols = call.symbols();
  if (w.stride == SymInt(0)) call.fail(Code::invalid_argument, "stride is 0");
  if (!call.ok()) return 1;
  const SymInt covered = call.plus(call.times(w.dilation, call.minus(w.kernel, 1)), 1);
  const SymInt room = call.minus(call.plus(in, call.times(2, w.padding)), covered);
  if (!ceil_mode) return call.plus(symbols.floor_div(room, w.stride), 1);
  const SymInt count = call.plus(symbols.ceil_div(room, w.stride), 1);
  // The last window starts inside the input or its left padding.
  return symbols.min(count, symbols.ceil_div(call.plus(in, w.padding), w.stride));
}

// detail: 0 for aten::convolution and _convolution; else the number of dimensions, negative if
// transposed, of a convolution that says so in its name.
void convolution(Call& call, const Family& family) {
  const TensorType& input = call.tensor("input");
  const TensorType& weight = call.tensor("weight");
  const size_t spatial = weight.sizes.size() > 2 ? weight.sizes.size() - 2 : 1;
  const bool transposed = family.detail == 0 ? call.flag("transposed") : family.detail < 0;
  const auto stated = static_cast<size_t>(std::abs(family.detail));
  call.expect_rank(weight, 3, 5, "weight");
  if (stated != 0) call.expect_rank(weight, stated + 2, stated + 2, "weight");
  call.expect_rank(input, spatial + 1, spatial + 2, "input");
  if (!call.ok()) return;
  const bool batched = input.sizes.size() == spatial + 2;
  const SymInt groups = call.integer("groups");
  const SymInt channels = input.sizes[batched ? 1 : 0];
  const SymInt expected = transposed ? weight.sizes[0] : call.times(weight.sizes[1], groups);
  (void)call.same(channels, expected, "the input's and the weight's channels");
  const Sizes stride = call.integers("stride", spatial, 1);
  const Sizes dilation = call.integers("dilation", spatial, 1);
  const auto* mode = std::get_if<std::string>(&call.raw("padding"));
  const Sizes padding = mode != nullptr ? Sizes(spatial, 0) : call.integers("padding", spatial, 0);
  const Sizes more = transposed ? call.integers("output_padding", spatial, 0) : Sizes(spatial, 0);
  Sizes sizes;
  if (batched) sizes.push_back(input.sizes[0]);
  sizes.push_back(transposed ? call.times(weight.sizes[1], groups) : weight.sizes[0]);
  for (size_t i = 0; i < spatial; ++i) {
    const SymInt in = input.sizes[sizes.size()];
    const SymInt kernel = weight.sizes[i + 2];
    if (mode != nullptr && *mode == "same") {
      sizes.push_back(in);
    } else if (transposed) {
      const SymInt kept =
          call.minus(call.times(call.minus(in, 1), stride[i]), call.times(2, padding[i]));
      const SymInt covered = call.times(dilation[i], call.minus(kernel, 1));
      sizes.push_back(call.plus(call.plus(kept, covered), call.plus(more[i], 1)));
    } else {
      sizes.push_back(windows(call, in, {kernel, stride[i], padding[i], dilation[i]}, false));
    }
  }
  call.add(input.dtype, std::move(sizes));
}

// Family::detail of pooling: spatial dimensions, and whether indices come too.
constexpr int kWithIndices = 16;

void pool(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  const auto spatial = static_cast<size_t>(family.detail & 3);
  call.expect_rank(self, spatial + 1, spatial + 2, "self");
  if (!call.ok()) return;
  const Sizes kernel = call.integers("kernel_size", spatial, 1);
  const bool has_stride = call.has("stride") && !call.integers("stride").empty();
  const Sizes stride = has_stride ? call.integers("stride", spatial, 1) : kernel;
  const Sizes padding = call.integers("padding", spatial, 0);
  const Sizes dilation = call.integers("dilation", spatial, 1);
  Sizes sizes = self.sizes;
  for (size_t i = 0; i < spatial; ++i) {
    SymInt& size = sizes[sizes.size() - spatial + i];
    size = windows(call, size, {kernel[i], stride[i], padding[i], dilation[i]},
                   call.flag("ceil_mode"));
  }
  call.add(self.dtype, sizes);
  if ((family.detail & kWithIndices) != 0) call.add(DType::i64, std::move(sizes));
}

void pool_to_size(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  const auto spatial = static_cast<size_t>(family.detail & 3);
  call.expect_rank(self, spatial + 1, spatial + 2, "self");
  if (!call.ok()) return;
  const Sizes target = call.integers("output_size", spatial, 1);
  Sizes sizes = self.sizes;
  std::copy(target.begin(), target.end(), sizes.end() - static_cast<std::ptrdiff_t>(spatial));
  call.add(self.dtype, sizes);
  if ((family.detail & kWithIndices) != 0) call.add(DType::i64, std::move(sizes));
}

// output_size as given, or the input's times the factors, rounded down. Symbolic sizes take factors
// that are a multiple of 1 / kScale.
constexpr int64_t kScale = 1 << 10;

void upsample(Call& call, const Family& family) {
  const std::string_view name = call.has("input") ? "input" : "self";
  const TensorType& input = call.tensor(name);
  const auto spatial = static_cast<size_t>(family.detail);
  call.expect_rank(input, spatial + 2, spatial + 2, "the input");
  if (!call.ok()) return;
  Sizes sizes = input.sizes;
  if (call.has("output_size")) {
    const Sizes target = call.integers("output_size", spatial, 1);
    std::copy(target.begin(), target.end(), sizes.begin() + 2);
    return call.add(input.dtype, std::move(sizes));
  }
  const auto* factors = std::get_if<std::vector<double>>(&call.raw("scale_factors"));
  if (factors == nullptr || factors->size() != spatial) {
    return call.fail(Code::invalid_argument, "neither output_size nor scale_factors is given");
  }
  for (size_t i = 0; i < spatial; ++i) {
    const double factor = (*factors)[i];
    const double scaled = factor * kScale;
    SymInt& size = sizes[i + 2];
    if (!(factor >= 0 && factor < 1e9))
      return call.fail(Code::invalid_argument, "a scale factor is out of range");
    if (size.is_constant()) {
      size = static_cast<int64_t>(static_cast<double>(size.constant()) * factor);
    } else if (scaled == std::floor(scaled)) {
      size = call.symbols().floor_div(call.times(size, static_cast<int64_t>(scaled)), kScale);
    } else {
      return call.fail(Code::unsupported,
                       "a symbolic size times a factor that is no binary fraction");
    }
  }
  call.add(input.dtype, std::move(sizes));
}

// detail 1: from channels to space; -1: back.
void pixel_shuffle(Call& call, const Family& family) {
  const TensorType& self = call.tensor("self");
  call.expect_rank(self, 3, SIZE_MAX, "self");
  if (!call.ok()) return;
  const bool forward = family.detail > 0;
  const SymInt factor = call.integer(forward ? "upscale_factor" : "downscale_factor");
  if (factor == SymInt(0)) return call.fail(Code::invalid_argument, "the factor is 0");
  const SymInt square = call.times(factor, factor);
  Sizes sizes = self.sizes;
  SymInt* last = &sizes[sizes.size() - 3];
  SymbolTable& symbols = call.symbols();
  last[0] = forward ? symbols.floor_div(last[0], square) : call.times(last[0], square);
  for (int i = 1; i < 3; ++i) {
    last[i] = forward ? call.times(last[i], factor) : symbols.floor_div(last[i], factor);
  }
  call.add(self.dtype, std::move(sizes));
}

// Patches of two dimensions as columns, and back.
void im2col(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  call.expect_rank(self, 3, 4, "self");
  if (!call.ok()) return;
  const Sizes kernel = call.integers("kernel_size", 2, 1);
  const Sizes stride = call.integers("stride", 2, 1);
  const Sizes padding = call.integers("padding", 2, 0);
  const Sizes dilation = call.integers("dilation", 2, 1);
  Sizes sizes(self.sizes.begin(), self.sizes.end() - 2);
  sizes.back() = call.times(sizes.back(), call.product(kernel));
  SymInt count = 1;
  for (size_t i = 0; i < 2; ++i) {
    const SymInt in = self.sizes[self.sizes.size() - 2 + i];
    count = call.times(count,
                       windows(call, in, {kernel[i], stride[i], padding[i], dilation[i]}, false));
  }
  sizes.push_back(count);
  call.add(self.dtype, std::move(sizes));
}

void col2im(Call& call, const Family&) {
  const TensorType& self = call.tensor("self");
  const Sizes output = call.integers("output_size", 2, 1);
  const SymInt kernel = call.product(call.integers("kernel_size", 2, 1));
  call.expect_rank(self, 2, 3, "self");
  if (kernel == SymInt(0)) call.fail(Code::invalid_argument, "kernel_size is 0");
  if (!call.ok()) return;
  Sizes sizes(self.sizes.begin(), self.sizes.end() - 1);
  sizes.back() = call.symbols().floor_div(sizes.back(), kernel);
  sizes.insert(sizes.end(), output.begin(), output.end());
  call.add(self.dtype, std::move(sizes));
}

void grid_sampler(Call& call, const Family&) {
  const TensorType& input = call.tensor("input");
  const TensorType& grid = call.tensor("grid");
  call.expect_rank(input, 4, 5, "input");
  call.expect_rank(grid, input.sizes.size(), input.sizes.size(), "grid");
  if (!call.ok()) return;
  Sizes sizes = {input.sizes[0], input.sizes[1]};
  sizes.insert(sizes.end(), grid.sizes.begin() + 1, grid.sizes.end() - 1);
  call.add(input.dtype, std::move(sizes));
}

// clang-format off
constexpr std::array kRules = {
    Family{"convolution _convolution", convolution, {}, 0},
    Family{"conv1d", convolution, {}, 1},
    Family{"conv2d", convolution, {}, 2},
    Family{"conv3d", convolution, {}, 3},
    Family{"conv_transpose1d", convolution, {}, -1},
    Family{"conv_transpose2d", convolution, {}, -2},
    Family{"conv_transpose3d", convolution, {}, -3},
    Family{"max_pool1d avg_pool1d", pool, {}, 1},
    Family{"max_pool2d avg_pool2d", pool, {}, 2},
    Family{"max_pool3d avg_pool3d", pool, {}, 3},
    Family{"max_pool1d_with_indices", pool, {}, 1 | kWithIndices},
    Family{"max_pool2d_with_indices", pool, {}, 2 | kWithIndices},
    Family{"max_pool3d_with_indices", pool, {}, 3 | kWithIndices},
    Family{"adaptive_avg_pool1d", pool_to_size, {}, 1},
    Family{"adaptive_avg_pool2d _adaptive_avg_pool2d", pool_to_size, {}, 2},
    Family{"adaptive_avg_pool3d _adaptive_avg_pool3d", pool_to_size, {}, 3},
    Family{"adaptive_max_pool1d", pool_to_size, {}, 1 | kWithIndices},
    Family{"adaptive_max_pool2d", pool_to_size, {}, 2 | kWithIndices},
    Family{"adaptive_max_pool3d", pool_to_size, {}, 3 | kWithIndices},
    Family{"upsample_nearest1d _upsample_nearest_exact1d upsample_linear1d", upsample, {}, 1},
    Family{"upsample_nearest2d _upsample_nearest_exact2d upsample_bilinear2d upsample_bicubic2d "
           "_upsample_bilinear2d_aa _upsample_bicubic2d_aa", upsample, {}, 2},
    Family{"upsample_nearest3d _upsample_nearest_exact3d upsample_trilinear3d", upsample, {}, 3},
    Family{"pixel_shuffle", pixel_shuffle, {}, 1},
    Family{"pixel_unshuffle", pixel_shuffle, {}, -1},
    Family{"im2col", im2col},
    Family{"col2im", col2im},
    Family{"grid_sampler grid_sampler_2d grid_sampler_3d", grid_sampler},
};
// clang-format on

}  // namespace

std::span<const Family> window_rules() {
  return kRules;
}

}  // namespace backplane::ops::meta
