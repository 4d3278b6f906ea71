// Checks of strided views, all before anything is read or allocated.
#include "reader/tensor_view.hpp"

#include <algorithm>
#include <backplane/tensor.hpp>
#include <cstdint>
#include <cstring>
#include <string>

namespace backplane {
namespace {

// complex128 is two float64: nothing needs more.
constexpr size_t kAlignment = 8;
constexpr int64_t kMaxRepeatedBytes = int64_t{256} << 20;

Error refuse(std::string what) {
  return {Code::invalid_argument, std::move(what)};
}

// Bytes from the start of the storage to the end of the view's last element; -1: too many.
int64_t extent_bytes(const Constant& constant) {
  int64_t last = constant.storage_offset;
  for (size_t i = 0; i < constant.sizes.size(); ++i) {
    int64_t step = 0;
    if (__builtin_mul_overflow(constant.sizes[i] - 1, constant.strides[i], &step) ||
        __builtin_add_overflow(last, step, &last)) {
      return -1;
    }
  }
  int64_t bytes = 0;
  const auto item = static_cast<int64_t>(size_of(constant.dtype));
  if (__builtin_add_overflow(last, 1, &last) || __builtin_mul_overflow(last, item, &bytes)) {
    return -1;
  }
  return bytes;
}

}  // namespace

Status check_view(const Constant& constant) {
  if (constant.strides.size() != constant.sizes.size()) {
    return refuse("it has " + std::to_string(constant.sizes.size()) + " sizes but " +
                  std::to_string(constant.strides.size()) + " strides");
  }
  BP_ASSIGN_OR_RETURN(const int64_t dense_bytes, checked_nbytes(constant.dtype, constant.sizes));
  if (constant.storage_offset < 0 || std::any_of(constant.strides.begin(), constant.strides.end(),
                                                 [](int64_t s) { return s < 0; })) {
    return refuse("its storage offset or a stride is negative");
  }
  if (constant.numel() == 0) return Ok{};
  const auto storage_bytes = static_cast<int64_t>(constant.storage.size());
  const int64_t extent = extent_bytes(constant);
  if (extent < 0 || extent > storage_bytes) {
    return refuse("it needs " + (extent < 0 ? "too many" : std::to_string(extent)) +
                  " bytes, but its data has " + std::to_string(storage_bytes));
  }
  if (dense_bytes > std::max(storage_bytes, kMaxRepeatedBytes)) {
    return refuse("its " + std::to_string(storage_bytes) + " bytes of data are repeated to " +
                  std::to_string(dense_bytes) + " bytes");
  }
  return Ok{};
}

std::span<const std::byte> aligned(std::span<const std::byte> storage, Buffers& buffers) {
  if (reinterpret_cast<uintptr_t>(storage.data()) % kAlignment == 0) return storage;
  const std::span<std::byte> copy = buffers.allocate(storage.size());
  if (!storage.empty()) std::memcpy(copy.data(), storage.data(), storage.size());
  return copy;
}

}  // namespace backplane
