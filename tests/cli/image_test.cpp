#include "tensors/image.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "damage.hpp"
#include "tensors/safetensors.hpp"

namespace backplane::cli {
namespace {

const std::string kData = "tensors/";

// The largest difference; the shapes must be equal.
float largest_difference(const Tensor& a, const Tensor& b) {
  REQUIRE(a.sizes() == b.sizes());
  float largest = 0;
  for (int64_t i = 0; i < a.numel(); ++i) {
    largest = std::max(largest, std::fabs(a.data_as<float>()[i] - b.data_as<float>()[i]));
  }
  return largest;
}

TEST_SUITE("cli/image") {
  TEST_CASE("images are what Pillow and PyTorch make of them") {
    const auto truth = parse_safetensors(load(kData + "images.safetensors").span());
    REQUIRE(truth.ok());
    CHECK(truth->tensors.size() == 17);
    for (const NamedTensor& expected : truth->tensors) {
      CAPTURE(expected.name);
      const size_t space = expected.name.find(' ');
      std::optional<ImageSize> size;
      if (space != std::string::npos) {
        size = ImageSize{expected.tensor.sizes()[2], expected.tensor.sizes()[3]};
      }
      const auto image = parse_image(load(kData + expected.name.substr(0, space)).span(), size);
      REQUIRE_MESSAGE(image.ok(), image.error().message);
      // Pixels are exact but for a decoder of another version (one step of 255); resizing may
      // differ in the last bits, as sums are contracted differently.
      const float allowed = size ? 2e-7F : expected.name.ends_with(".png") ? 0.0F : 1.01F / 255;
      CHECK(largest_difference(*image, expected.tensor) <= allowed);
    }
  }

  TEST_CASE("what is no image that is read is refused with the reason") {
    const std::pair<const char*, const char*> cases[] = {
        {"bad_cmyk.jpg", "CMYK"},
        {"bad_huge.png", "cannot come from 69 bytes"},
        {"int16.npy", "does not begin like"},
    };
    for (const auto& [name, text] : cases) {
      const auto result = parse_image(load(kData + name).span());
      REQUIRE_FALSE(result.ok());
      CAPTURE(result.error().message);
      CHECK(result.error().message.find(text) != std::string::npos);
    }
  }

  TEST_CASE("an image that is cut short anywhere is refused, a wrong byte does not crash") {
    for (const char* name : {"bits.png", "palette.png", "rgb16.png", "interlaced.png", "gray.jpg",
                             "rgb.jpg", "progressive.jpg"}) {
      check_damage(kData + name, [](std::span<const std::byte> file) { return parse_image(file); });
    }
  }
}

}  // namespace
}  // namespace backplane::cli
