#include "runtime/device.hpp"

#include <algorithm>

namespace backplane::runtime {
namespace {

uint64_t bytes_now(const TensorState& tensor) {
  return static_cast<uint64_t>(dense_nbytes(tensor.plan->dtype(), tensor.sizes()).value_or(0));
}

}  // namespace

DeviceBlock::~DeviceBlock() {
  if (data_ != nullptr) target_->backend->free(target_->device, data_, nullptr);
}

DeviceMemory::DeviceMemory(const DeviceTarget& target, const std::vector<uint64_t>& arena_sizes,
                           size_t num_tensors)
    : target_(target),
      arena_sizes_(arena_sizes),
      arenas_(arena_sizes.size()),
      blocks_(num_tensors) {}

DeviceMemory::~DeviceMemory() {
  // A failure here was, or will be, reported by what is executed.
  (void)synchronize();
  if (own_stream_ != nullptr) target_.backend->stream_destroy(own_stream_);
}

Status DeviceMemory::begin(void* callers_stream) {
  if (callers_stream == nullptr && own_stream_ == nullptr &&
      BP_HAS(&target_.backend->table(), stream_create)) {
    BP_ASSIGN_OR_RETURN(own_stream_, target_.backend->stream_create(target_.device));
  }
  void* stream = callers_stream != nullptr ? callers_stream : own_stream_;
  // What an earlier stream still does must not meet what this one will do.
  if (stream_ != nullptr && stream_ != stream) BP_TRY(synchronize());
  stream_ = stream;
  return Ok{};
}

Status DeviceMemory::synchronize() {
  if (stream_ != nullptr) BP_TRY(target_.backend->stream_sync(stream_));
  retired_.clear();
  return Ok{};
}

Result<DeviceBlock> DeviceMemory::allocate(uint64_t size_bytes) {
  const uint64_t size = std::max<uint64_t>(size_bytes, 1);
  BP_ASSIGN_OR_RETURN(void* data,
                      target_.backend->alloc(target_.device, BP_MEM_DEVICE, size, nullptr));
  return DeviceBlock(target_, data, size);
}

Status DeviceMemory::reserve(TensorState& tensor, size_t index) {
  const uint64_t bytes = bytes_now(tensor);
  DevicePlace& place = tensor.device;
  if (place.memory == this && bytes <= place.capacity && place.data != nullptr) return Ok{};
  const TensorPlan& plan = *tensor.plan;
  const bool planned = plan.home == Home::arena && plan.bound_bytes != UINT64_MAX;
  if (planned) {
    DeviceBlock& arena = arenas_[plan.index];
    if (arena.data() == nullptr) {
      BP_ASSIGN_OR_RETURN(arena, allocate(arena_sizes_[plan.index]));
    }
    place = {this, static_cast<std::byte*>(arena.data()) + plan.offset, plan.bound_bytes, false};
    return Ok{};
  }
  DeviceBlock& block = blocks_[index];
  if (block.data() == nullptr || block.size() < bytes) {
    const bool bounded = plan.bound_bytes != UINT64_MAX && plan.home != Home::caller;
    const uint64_t grown = block.size() + block.size() / 2;
    const uint64_t wanted = bounded ? plan.bound_bytes : std::max(bytes, grown);
    BP_ASSIGN_OR_RETURN(DeviceBlock larger, allocate(wanted));
    if (block.data() != nullptr) retired_.push_back(std::move(block));
    block = std::move(larger);
  }
  place = {this, block.data(), block.size(), false};
  return Ok{};
}

Status DeviceMemory::fetch(TensorState& tensor, size_t index, std::vector<Block>& retired) {
  if (tensor.device.memory == this && tensor.device.is_current) return Ok{};
  BP_TRY(fetch_to_host(tensor, retired));
  BP_TRY(reserve(tensor, index));
  if (bytes_now(tensor) > 0) BP_TRY(copy(on_device(tensor), tensor.view));
  tensor.device.is_current = true;
  return Ok{};
}

Status DeviceMemory::copy(const bp_tensor_t& to, const bp_tensor_t& from) {
  return target_.backend->copy(to, from, stream_);
}

bp_tensor_t on_device(const TensorState& tensor) {
  bp_tensor_t view = tensor.view;
  view.data = tensor.device.data;
  view.device = tensor.device.memory->target().device;
  view.byte_offset = 0;
  return view;
}

Status fetch_to_host(TensorState& tensor, std::vector<Block>& retired) {
  if (tensor.is_host_current) return Ok{};
  DeviceMemory& memory = *tensor.device.memory;
  BP_TRY(ensure_memory(tensor, retired));
  if (bytes_now(tensor) > 0) {
    BP_TRY(memory.copy(tensor.view, on_device(tensor)));
    BP_TRY(memory.synchronize());
  }
  tensor.is_host_current = true;
  return Ok{};
}

}  // namespace backplane::runtime
