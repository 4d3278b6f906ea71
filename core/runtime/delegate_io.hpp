// The compile spec `bp.io` of a delegate: how many of a call's arguments are inputs and how many
// are outputs, which the `.pte` format itself does not say. Two little-endian uint32, inputs first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace backplane::runtime {

inline constexpr std::string_view kDelegateIoKey = "bp.io";

struct DelegateIo {
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  friend bool operator==(const DelegateIo&, const DelegateIo&) = default;
};

[[nodiscard]] inline std::vector<uint8_t> encode(DelegateIo io) {
  std::vector<uint8_t> bytes;
  for (const uint32_t count : {io.inputs, io.outputs}) {
    for (uint32_t shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<uint8_t>(count >> shift));
    }
  }
  return bytes;
}

// Nothing if `bytes` are not 8.
[[nodiscard]] inline std::optional<DelegateIo> decode_delegate_io(std::span<const uint8_t> bytes) {
  if (bytes.size() != 8) return std::nullopt;
  uint32_t counts[2] = {0, 0};
  for (uint32_t i = 0; i < 8; ++i) counts[i / 4] |= uint32_t{bytes[i]} << (i % 4 * 8);
  return DelegateIo{counts[0], counts[1]};
}

}  // namespace backplane::runtime
