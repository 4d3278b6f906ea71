// Tensors at the border: TensorView (borrowed, any device, any strides) and Tensor (owned, host).
//
// A view is trusted: whoever makes one vouches that its memory holds every element. Sizes that come
// from a file go through checked_nbytes first.
#pragma once

#include <backplane/dtype.hpp>
#include <backplane/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace backplane {

// DLPack's numbers. A plugin may bring others of them than those named here.
enum class DeviceKind : int32_t { cpu = 1, cuda = 2, cuda_host = 3, metal = 8, cuda_managed = 13 };

struct Device {
  DeviceKind kind = DeviceKind::cpu;
  int32_t index = 0;
  friend bool operator==(const Device&, const Device&) = default;

  // Whether the host may read and write the memory by its pointer.
  [[nodiscard]] bool is_host() const {
    return kind == DeviceKind::cpu || kind == DeviceKind::cuda_host ||
           kind == DeviceKind::cuda_managed;
  }
};

// Elements in a tensor of these sizes (1 for rank 0). The sizes have passed checked_nbytes.
[[nodiscard]] int64_t numel(std::span<const int64_t> sizes);

// Row-major strides in elements; a size of 0 counts as 1. The sizes have passed checked_nbytes.
[[nodiscard]] std::vector<int64_t> contiguous_strides(std::span<const int64_t> sizes);

// Bytes of a dense tensor. invalid_argument: a size is negative, or the bytes (with each size of 0
// taken for 1) don't fit into int64_t.
[[nodiscard]] Result<int64_t> checked_nbytes(DType dtype, std::span<const int64_t> sizes);

// "[2, 3]", as messages show sizes.
[[nodiscard]] std::string format_sizes(std::span<const int64_t> sizes);

// A tensor in somebody else's memory. `data` is not const since one type serves inputs and outputs;
// what only reads a view never writes through it.
struct TensorView {
  void* data = nullptr;  // the element whose indices are all 0; may be null if there are none
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // in elements, one for each size; 0 and negative are allowed
  Device device;

  // A row-major host tensor. invalid sizes are a bug: see checked_nbytes.
  [[nodiscard]] static TensorView contiguous(void* data, DType dtype, std::vector<int64_t> sizes);

  [[nodiscard]] int64_t numel() const { return backplane::numel(sizes); }
  [[nodiscard]] size_t nbytes() const { return static_cast<size_t>(numel()) * size_of(dtype); }
  // Row-major without gaps. Strides of dimensions of size 1 don't count; nor do any, if it is
  // empty.
  [[nodiscard]] bool is_contiguous() const;
};

// Copies the elements of `from` to `to`; both in host memory, of equal dtype and sizes, any
// strides, not overlapping. invalid_argument: they differ, or one is on a device.
Status copy_elements(const TensorView& from, const TensorView& to);

// A tensor that owns its memory: on the host, row-major, aligned to 64 bytes. Movable only; moving
// keeps the address, and what was moved from may only be assigned to or destroyed.
class Tensor {
 public:
  // An empty float32 tensor of sizes [0].
  Tensor() : sizes_{0} {}

  // Zeros; or, faster, whatever the memory held. invalid_argument as checked_nbytes; out_of_memory.
  [[nodiscard]] static Result<Tensor> zeros(DType dtype, std::vector<int64_t> sizes);
  [[nodiscard]] static Result<Tensor> uninitialized(DType dtype, std::vector<int64_t> sizes);
  // A dense copy of a host tensor with any strides. invalid_argument: `view` is on a device.
  [[nodiscard]] static Result<Tensor> copy_of(const TensorView& view);

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const std::vector<int64_t>& sizes() const { return sizes_; }
  [[nodiscard]] int64_t numel() const { return backplane::numel(sizes_); }
  [[nodiscard]] size_t nbytes() const { return static_cast<size_t>(numel()) * size_of(dtype_); }

  [[nodiscard]] std::span<std::byte> bytes() { return {data_.get(), nbytes()}; }
  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_.get(), nbytes()}; }
  template <class T>
  [[nodiscard]] T* data_as() {
    return reinterpret_cast<T*>(data_.get());
  }
  template <class T>
  [[nodiscard]] const T* data_as() const {
    return reinterpret_cast<const T*>(data_.get());
  }

  // Valid while this tensor, or the one it was moved to, lives.
  [[nodiscard]] TensorView view() const;

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };

  std::unique_ptr<std::byte[], Free> data_;
  DType dtype_ = DType::f32;
  std::vector<int64_t> sizes_;
};

}  // namespace backplane
