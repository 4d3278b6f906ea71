// Zip archives for tests, wrong ones too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::testing {

struct ZipEntry {
  std::string name;
  std::string data;
  bool deflate = false;
  bool local_sizes = true;      // false: zeros in the local header, as PyTorch writes it
  bool zip64 = false;           // sizes and offset in an extra field
  int64_t claimed_size = -1;    // what the directory states; -1: the truth
  int64_t claimed_offset = -1;  // of the local header
  int64_t claimed_crc = -1;
  uint16_t flags = 0;
  int method = -1;         // -1: by `deflate`
  std::string local_name;  // empty: `name`
  size_t alignment = 1;    // of the data, by an extra field in the local header
};

// `zip64`: with the end record of zip64, whose offset to the directory is what counts.
std::string make_zip(const std::vector<ZipEntry>& entries, bool zip64 = false);

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The whole file, which must be there.
std::string read_whole(const std::string& path);

}  // namespace backplane::testing
