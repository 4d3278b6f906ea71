#include "tensors/image.hpp"

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "tensors/image_codecs.h"

namespace backplane::cli {
namespace {

struct Free {
  void operator()(unsigned char* pixels) const { std::free(pixels); }  // NOLINT
};

template <class Sample>
void to_planes(const Sample* pixels, const bp_image_t& image, float* out) {
  constexpr auto kLargest = static_cast<float>(static_cast<Sample>(~Sample{0}));
  const size_t plane = size_t{image.width} * image.height;
  for (size_t i = 0; i < plane; ++i) {
    for (size_t c = 0; c < image.channels; ++c) {
      out[c * plane + i] = static_cast<float>(pixels[i * image.channels + c]) / kLargest;
    }
  }
}

}  // namespace

Result<Tensor> parse_image(std::span<const std::byte> file, std::optional<ImageSize> size) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
  bp_image_t image;
  int failed = 0;
  if (text.starts_with("\x89PNG")) {
    failed = bp_decode_png(bytes, file.size(), &image);
  } else if (text.starts_with("\xFF\xD8")) {
    failed = bp_decode_jpeg(bytes, file.size(), &image);
  } else {
    return Error{Code::unsupported, "it does not begin like a PNG or JPEG image"};
  }
  if (failed != 0) return Error{Code::invalid_argument, image.message};
  const std::unique_ptr<unsigned char, Free> pixels(image.pixels);
  BP_ASSIGN_OR_RETURN(
      Tensor tensor,
      Tensor::uninitialized(DType::f32, {1, image.channels, image.height, image.width}));
  if (image.bytes_per_sample == 1) {
    to_planes(image.pixels, image, tensor.data_as<float>());
  } else {
    to_planes(reinterpret_cast<const uint16_t*>(image.pixels), image, tensor.data_as<float>());
  }
  if (!size) return tensor;
  return resize_antialiased(tensor, *size);
}

}  // namespace backplane::cli
