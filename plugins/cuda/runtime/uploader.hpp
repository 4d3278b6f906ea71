// Brings bytes of mapped files to a device through page-locked memory: while one piece travels, the
// next is read.
#pragma once

#include <backplane/result.hpp>

#include <array>
#include <cstddef>
#include <span>

#include "cuda/runtime/memory.hpp"

namespace backplane::cuda {

class Uploader {
 public:
  // `total_bytes`: of all that will be brought; small amounts take little page-locked memory.
  static Result<Uploader> create(const Device& device, size_t total_bytes);
  Uploader(Uploader&& other) noexcept;
  Uploader& operator=(Uploader&&) = delete;
  // Waits for what is under way.
  ~Uploader();

  // Queues; the bytes have been read when it returns.
  Status copy(CuAddress to, std::span<const std::byte> bytes);
  // Waits until all has arrived.
  Status finish();

 private:
  struct Half {
    PinnedBuffer memory;
    CuEvent passed = nullptr;  // the device has read it
    bool is_used = false;
  };
  explicit Uploader(const Device& device) : device_(&device) {}

  const Device* device_;
  std::array<Half, 2> halves_;
  size_t next_ = 0;
};

}  // namespace backplane::cuda
