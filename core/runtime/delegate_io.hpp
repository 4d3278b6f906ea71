// The compile spec `bp.io` of a delegate, which the `.pte` format itself does not say: how many of
// a call's arguments are inputs and how many are outputs, and where each wants to lie.
//
// Bytes: two little-endian uint32, inputs first; then one byte an argument, inputs first: 0 in host
// memory, 1 on the backend's device. Without these: tensors on the device, if it has memory of its
// own. Numbers are always on the host.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace backplane::runtime {

inline constexpr std::string_view kDelegateIoKey = "bp.io";
// The compile spec with what the plugin's `check` judges before a payload is loaded.
inline constexpr std::string_view kFingerprintKey = "bp.fingerprint";

struct DelegateIo {
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  std::vector<uint8_t> on_device;  // one an argument, or none at all
  friend bool operator==(const DelegateIo&, const DelegateIo&) = default;
};

[[nodiscard]] inline std::vector<uint8_t> encode(const DelegateIo& io) {
  std::vector<uint8_t> bytes;
  for (const uint32_t count : {io.inputs, io.outputs}) {
    for (uint32_t shift = 0; shift < 32; shift += 8) {
      bytes.push_back(static_cast<uint8_t>(count >> shift));
    }
  }
  bytes.insert(bytes.end(), io.on_device.begin(), io.on_device.end());
  return bytes;
}

// Nothing if `bytes` are not as above.
[[nodiscard]] inline std::optional<DelegateIo> decode_delegate_io(std::span<const uint8_t> bytes) {
  if (bytes.size() < 8) return std::nullopt;
  uint32_t counts[2] = {0, 0};
  for (uint32_t i = 0; i < 8; ++i) counts[i / 4] |= uint32_t{bytes[i]} << (i % 4 * 8);
  DelegateIo io{counts[0], counts[1], {bytes.begin() + 8, bytes.end()}};
  if (!io.on_device.empty() && io.on_device.size() != uint64_t{io.inputs} + io.outputs) {
    return std::nullopt;
  }
  return io;
}

}  // namespace backplane::runtime
