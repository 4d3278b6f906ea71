// Images as tensors: PNG and JPEG to [1, channels, height, width], float32 in 0…1.
//
// Samples are the stored numbers divided by the largest (255 or 65535). Gray keeps its one channel;
// alpha is dropped, not blended with a background; gamma and the orientation tag are left alone.
#pragma once

#include <backplane/result.hpp>
#include <backplane/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace backplane::cli {

struct ImageSize {
  int64_t height = 0;
  int64_t width = 0;
};

// Decodes a whole file, told apart by its first bytes, and resizes it if `size` says so (both at
// least 1). unsupported: neither PNG nor JPEG. invalid_argument: damaged, cut short, CMYK.
[[nodiscard]] Result<Tensor> parse_image(std::span<const std::byte> file,
                                         std::optional<ImageSize> size = {});

// Bilinear resize of float32 [b, c, h, w], both sizes at least 1. When an axis shrinks, the
// triangle widens with it, so that every pixel counts (PyTorch's `antialias=True`,
// `align_corners=False`).
[[nodiscard]] Result<Tensor> resize_antialiased(const Tensor& image, ImageSize size);

}  // namespace backplane::cli
