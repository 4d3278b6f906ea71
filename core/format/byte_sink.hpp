// Where writers put a file's bytes, first to last.
#pragma once

#include <backplane/result.hpp>
#include <cstddef>
#include <span>
#include <vector>

namespace backplane {

class ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = default;
  ByteSink(ByteSink&&) = default;
  ByteSink& operator=(const ByteSink&) = default;
  ByteSink& operator=(ByteSink&&) = default;
  virtual ~ByteSink() = default;
  // Adds `bytes` at the end; they are not needed after the call.
  [[nodiscard]] virtual Status append(std::span<const std::byte> bytes) = 0;
};

// A file in memory, for files that are small.
class MemorySink final : public ByteSink {
 public:
  [[nodiscard]] Status append(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return Ok{};
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace backplane
