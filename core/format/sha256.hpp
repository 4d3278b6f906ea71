// SHA-256, by libcrypto, which uses the processor's instructions for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace backplane {

using Digest = std::array<uint8_t, 32>;

// Of bytes that come in parts.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::byte> bytes);
  // The digest of all updates since the last finish; ready for other bytes after it.
  [[nodiscard]] Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] Digest sha256(std::span<const std::byte> bytes);

// Lower-case hex digits of any bytes.
[[nodiscard]] std::string to_hex(std::span<const uint8_t> bytes);

}  // namespace backplane
