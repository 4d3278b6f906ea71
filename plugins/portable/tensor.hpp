// A kernel's view of one tensor: bp_tensor_t with its dtype decoded. Strides count elements.
//
// A view reads through to the host's struct, so after Context::resize it shows the new shape.
// Views that reach a kernel have passed Args: known dtype, rank <= kMaxRank, sizes >= 0 whose
// product fits in 63 bits, data that is there unless the tensor is empty.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "portable/dtype.hpp"

namespace backplane::portable {

inline constexpr int64_t kMaxRank = 16;  // as in .pte files

// A shape or strides, in place.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> values) : Dims(std::span(values.begin(), values.size())) {}
  explicit Dims(std::span<const int64_t> values) {
    for (const int64_t value : values) {
      push_back(value);
    }
  }
  Dims(int64_t count, int64_t value) {
    while (size_ < count) {
      push_back(value);
    }
  }
  void push_back(int64_t value) {
    assert(size_ < kMaxRank);
    values_[static_cast<size_t>(size_++)] = value;
  }
  void erase(int64_t i) {
    for (--size_; i < size_; ++i) {
      (*this)[i] = (*this)[i + 1];
    }
  }
  [[nodiscard]] int64_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] int64_t& operator[](int64_t i) { return values_[static_cast<size_t>(i)]; }
  [[nodiscard]] int64_t operator[](int64_t i) const { return values_[static_cast<size_t>(i)]; }
  [[nodiscard]] const int64_t* begin() const { return values_.data(); }
  [[nodiscard]] const int64_t* end() const { return values_.data() + size_; }
  operator std::span<const int64_t>() const { return {begin(), end()}; }  // NOLINT
  friend bool operator==(const Dims& a, const Dims& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::array<int64_t, kMaxRank> values_{};
  int64_t size_ = 0;
};

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(bp_tensor_t* raw) : raw_(raw), dtype_(*from_dlpack(raw->dtype)) {}

  // False for an optional argument that is absent.
  [[nodiscard]] explicit operator bool() const { return raw_ != nullptr; }
  [[nodiscard]] bp_tensor_t* raw() const { return raw_; }
  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] int64_t dim() const { return raw_->ndim; }
  // Negative dimensions count from the end.
  [[nodiscard]] int64_t size(int64_t i) const { return raw_->shape[i < 0 ? i + dim() : i]; }
  [[nodiscard]] int64_t stride(int64_t i) const { return raw_->strides[i < 0 ? i + dim() : i]; }
  [[nodiscard]] std::span<const int64_t> shape() const { return {raw_->shape, rank()}; }
  [[nodiscard]] std::span<const int64_t> strides() const { return {raw_->strides, rank()}; }
  [[nodiscard]] int64_t numel() const {
    int64_t n = 1;
    for (const int64_t size : shape()) {
      n *= size;
    }
    return n;
  }
  [[nodiscard]] std::byte* bytes() const {
    return static_cast<std::byte*>(raw_->data) + raw_->byte_offset;
  }
  template <class T>
  [[nodiscard]] T* data() const {
    return reinterpret_cast<T*>(bytes());
  }
  // Row-major without gaps; sizes of 1 may have any stride.
  [[nodiscard]] bool is_contiguous() const {
    int64_t expected = 1;
    for (int64_t i = dim() - 1; i >= 0; --i) {
      if (size(i) != 1 && stride(i) != expected) {
        return numel() == 0;
      }
      expected *= size(i);
    }
    return true;
  }

 private:
  [[nodiscard]] size_t rank() const { return static_cast<size_t>(raw_->ndim); }
  bp_tensor_t* raw_ = nullptr;
  DType dtype_ = DType::f32;
};

}  // namespace backplane::portable
