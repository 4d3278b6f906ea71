#include "cuda/runtime/uploader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace backplane::cuda {
namespace {

constexpr size_t kMostHalf = size_t{8} << 20U;  // large enough to keep the bus busy

}  // namespace

Result<Uploader> Uploader::create(const Device& device, size_t total_bytes) {
  Uploader uploader(device);
  const size_t bytes = std::clamp<size_t>(total_bytes, 1, kMostHalf);
  const Current current(device);
  for (Half& half : uploader.halves_) {
    BP_ASSIGN_OR_RETURN(half.memory, PinnedBuffer::allocate(device, bytes, "uploading weights"));
    BP_TRY(device.driver().check(device.driver().event_create(&half.passed, kCuEventNoTiming),
                                 "no event"));
  }
  return uploader;
}

Uploader::Uploader(Uploader&& other) noexcept
    : device_(std::exchange(other.device_, nullptr)),
      halves_(std::move(other.halves_)),
      next_(other.next_) {
  for (Half& half : other.halves_) half = {};
}

Uploader::~Uploader() {
  if (device_ == nullptr) return;
  (void)finish();  // who needs to know has asked
  const Current current(*device_);
  for (const Half& half : halves_) {
    if (half.passed != nullptr) device_->driver().event_destroy(half.passed);
  }
}

Status Uploader::copy(CuAddress to, std::span<const std::byte> bytes) {
  const Driver& driver = device_->driver();
  const Current current(*device_);
  while (!bytes.empty()) {
    Half& half = halves_[next_];
    next_ = 1 - next_;
    if (half.is_used)
      BP_TRY(driver.check(driver.event_synchronize(half.passed), "uploading weights"));
    const size_t piece = std::min(bytes.size(), half.memory.size());
    std::memcpy(half.memory.data(), bytes.data(), piece);
    BP_TRY(driver.check(driver.memcpy_async(to, reinterpret_cast<CuAddress>(half.memory.data()),
                                            piece, device_->stream()),
                        "uploading weights"));
    BP_TRY(driver.check(driver.event_record(half.passed, device_->stream()), "uploading weights"));
    half.is_used = true;
    to += piece;
    bytes = bytes.subspan(piece);
  }
  return Ok{};
}

Status Uploader::finish() {
  const Current current(*device_);
  return device_->driver().check(device_->driver().stream_synchronize(device_->stream()),
                                 "uploading weights");
}

}  // namespace backplane::cuda
