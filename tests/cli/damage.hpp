// What every reader must survive: a file that ends too early or has a wrong byte.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/mapped_file.hpp"

namespace backplane::cli {

// Bytes of exactly their size on the heap, so that a sanitizer sees a read past the end.
struct Bytes {
  std::unique_ptr<std::byte[]> data;
  size_t size;

  explicit Bytes(std::span<const std::byte> from)
      : data(std::make_unique<std::byte[]>(from.size())), size(from.size()) {
    std::copy(from.begin(), from.end(), data.get());
  }
  [[nodiscard]] std::span<const std::byte> span() const { return {data.get(), size}; }
};

inline Bytes load(const std::string& path) {
  auto file = MappedFile::open(path);
  REQUIRE_MESSAGE(file.ok(), path);
  return Bytes(file->bytes());
}

inline Bytes bytes_of(std::string_view text) {
  return Bytes(std::as_bytes(std::span(text.data(), text.size())));
}

// `parse` must refuse every proper prefix of the file, and may not crash on any wrong byte.
template <class Parse>
void check_damage(const std::string& path, Parse parse) {
  CAPTURE(path);
  const Bytes whole = load(path);
  REQUIRE(parse(whole.span()).ok());
  for (size_t n = 0; n < whole.size; ++n) {
    CAPTURE(n);
    const Bytes prefix(whole.span().first(n));
    const auto result = parse(prefix.span());
    REQUIRE_FALSE(result.ok());
    REQUIRE_FALSE(result.error().message.empty());
  }
  Bytes changed(whole.span());
  for (size_t i = 0; i < changed.size; ++i) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      changed.data[i] ^= std::byte(flip);
      (void)parse(changed.span()).ok();
      changed.data[i] ^= std::byte(flip);
    }
  }
}

}  // namespace backplane::cli
