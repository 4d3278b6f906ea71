#include "cuda/runtime/memory.hpp"

#include <array>
#include <cstdio>
#include <string>

namespace backplane::cuda {
namespace {

std::string amount(size_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {"B", "KiB", "MiB", "GiB"};
  auto number = static_cast<double>(bytes);
  size_t unit = 0;
  for (; number >= 1024 && unit + 1 < kUnits.size(); ++unit) number /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", number, kUnits[unit]);
  return text.data();
}

std::string name_of(const Device& device) {
  return "cuda:" + std::to_string(device.facts().index) + " (" + device.facts().name + ")";
}

}  // namespace

Error refused(const Device& device, CuResult result, size_t bytes, std::string_view by) {
  const Driver& driver = device.driver();
  if (result != kCuOutOfMemory)
    return driver.check(result, name_of(device) + ": no memory for " + std::string(by)).error();
  std::string message =
      name_of(device) + " is out of memory: " + amount(bytes) + " wanted for " + std::string(by);
  size_t free = 0;
  size_t total = 0;
  if (driver.mem_get_info(&free, &total) == kCuSuccess)
    message += ", " + amount(free) + " of " + amount(total) + " are free";
  return Error{Code::out_of_memory, std::move(message)};
}

Result<DeviceBuffer> DeviceBuffer::allocate(const Device& device, size_t bytes,
                                            std::string_view by) {
  const Current current(device);
  DeviceBuffer buffer;
  const CuResult result = device.driver().mem_alloc(&buffer.address_, bytes);
  if (result != kCuSuccess) return refused(device, result, bytes, by);
  buffer.device_ = &device;
  buffer.size_ = bytes;
  return buffer;
}

DeviceBuffer::~DeviceBuffer() {
  if (device_ == nullptr) return;
  const Current current(*device_);
  device_->driver().mem_free(address_);
}

Result<PinnedBuffer> PinnedBuffer::allocate(const Device& device, size_t bytes,
                                            std::string_view by) {
  const Current current(device);
  PinnedBuffer buffer;
  const CuResult result = device.driver().mem_host_alloc(&buffer.data_, bytes, kCuHostPortable);
  if (result != kCuSuccess) {
    return device.driver()
        .check(result, "no " + amount(bytes) + " of page-locked host memory for " + std::string(by))
        .error();
  }
  buffer.device_ = &device;
  buffer.size_ = bytes;
  return buffer;
}

PinnedBuffer::~PinnedBuffer() {
  if (device_ == nullptr) return;
  const Current current(*device_);
  device_->driver().mem_free_host(data_);
}

}  // namespace backplane::cuda
