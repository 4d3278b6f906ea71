// Owned memory: on a device, and on the host where the device can reach it.
//
// Devices must outlive what is allocated on them. out_of_memory says how much was wanted, by what,
// and how much there is.
#pragma once

#include <backplane/result.hpp>

#include <cstddef>
#include <string_view>
#include <utility>

#include "cuda/runtime/device.hpp"

namespace backplane::cuda {

// The error of a device allocation that was refused. Its context is current.
[[nodiscard]] Error refused(const Device& device, CuResult result, size_t bytes,
                            std::string_view by);

// Device memory; movable only.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  static Result<DeviceBuffer> allocate(const Device& device, size_t bytes, std::string_view by);
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBuffer();

  [[nodiscard]] CuAddress address() const { return address_; }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  void swap(DeviceBuffer& other) {
    std::swap(device_, other.device_);
    std::swap(address_, other.address_);
    std::swap(size_, other.size_);
  }
  const Device* device_ = nullptr;
  CuAddress address_ = 0;
  size_t size_ = 0;
};

// Page-locked host memory, which the device can read and write; movable only.
class PinnedBuffer {
 public:
  PinnedBuffer() = default;
  static Result<PinnedBuffer> allocate(const Device& device, size_t bytes, std::string_view by);
  PinnedBuffer(PinnedBuffer&& other) noexcept { swap(other); }
  PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
    swap(other);
    return *this;
  }
  ~PinnedBuffer();

  [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }
  [[nodiscard]] size_t size() const { return size_; }

 private:
  void swap(PinnedBuffer& other) {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  const Device* device_ = nullptr;
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace backplane::cuda
