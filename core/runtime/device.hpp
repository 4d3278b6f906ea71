// A device's memory as one Method uses it: blocks, copies and the stream that orders them.
#pragma once

#include <backplane/result.hpp>

#include <utility>
#include <vector>

#include "plugin/backend.hpp"
#include "runtime/tensor_state.hpp"

namespace backplane::runtime {

// A device with memory of its own, of one backend. The Program's.
struct DeviceTarget {
  const Backend* backend = nullptr;
  bp_devref_t device{};
};

// Owned device memory; movable only.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  DeviceBlock(const DeviceTarget& target, void* data, uint64_t size_bytes)
      : target_(&target), data_(data), size_(size_bytes) {}
  DeviceBlock(DeviceBlock&& other) noexcept { swap(other); }
  DeviceBlock& operator=(DeviceBlock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceBlock();

  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] uint64_t size() const { return size_; }

 private:
  void swap(DeviceBlock& other) {
    std::swap(target_, other.target_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  const DeviceTarget* target_ = nullptr;
  void* data_ = nullptr;
  uint64_t size_ = 0;
};

class DeviceMemory {
 public:
  // `target` must outlive this. `arena_sizes`: of planned memory, by buffer; `num_tensors` of the
  // method.
  DeviceMemory(const DeviceTarget& target, const std::vector<uint64_t>& arena_sizes,
               size_t num_tensors);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  // Waits for what is queued.
  ~DeviceMemory();

  [[nodiscard]] const DeviceTarget& target() const { return target_; }
  [[nodiscard]] bool owns(bp_devref_t device) const {
    return device.type == target_.device.type && device.index == target_.device.index;
  }

  // Begins an execution on that stream of the caller's, or (null) on one of its own, if the backend
  // has streams.
  Status begin(void* callers_stream);
  [[nodiscard]] void* stream() const { return stream_; }
  // Waits until what is queued is done.
  Status synchronize();

  // Memory on the device for the tensor's present shape (its bounds, if it has any). Planned
  // tensors have the same place in a copy of the arena.
  Status reserve(TensorState& tensor, size_t index);
  // The bytes on this device, copied there if they are elsewhere.
  Status fetch(TensorState& tensor, size_t index, std::vector<Block>& retired);
  // Copies elements between any two places that the backend knows.
  Status copy(const bp_tensor_t& to, const bp_tensor_t& from);

 private:
  Result<DeviceBlock> allocate(uint64_t size_bytes);

  const DeviceTarget& target_;
  const std::vector<uint64_t>& arena_sizes_;
  void* own_stream_ = nullptr;
  void* stream_ = nullptr;
  std::vector<DeviceBlock> arenas_;   // by buffer
  std::vector<DeviceBlock> blocks_;   // by tensor
  std::vector<DeviceBlock> retired_;  // freed when the stream has passed them
};

// The tensor as it lies on its device.
[[nodiscard]] bp_tensor_t on_device(const TensorState& tensor);

// The bytes in host memory, copied there and waited for if they are on a device.
Status fetch_to_host(TensorState& tensor, std::vector<Block>& retired);

}  // namespace backplane::runtime
