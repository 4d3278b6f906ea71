// Walking several tensors of one (broadcast) shape together, row by row.
//
// Dimensions are reordered by the first operand's strides and merged where all operands allow it,
// so contiguous tensors are one long row whatever their rank.
#pragma once

#include <algorithm>

#include "portable/convert.hpp"
#include "portable/tensor.hpp"

namespace backplane::portable {

class Walk {
 public:
  static constexpr int kMaxOperands = 6;

  // Strides count elements, one for each dimension of `shape`, 0 where an operand is broadcast.
  Walk(std::span<const int64_t> shape, std::span<const Dims> strides);

  [[nodiscard]] int64_t numel() const { return numel_; }
  // Distance between neighbours in a row.
  [[nodiscard]] int64_t stride(int operand) const { return strides_[op(operand)][0]; }

  // A position: where each operand's element lies, in elements.
  struct Cursor {
    std::array<int64_t, kMaxOperands> offset{};
    Dims index;
  };
  // The position of the linear-th element, in walking order.
  [[nodiscard]] Cursor at(int64_t linear) const;
  // Elements from the cursor to the end of its row.
  [[nodiscard]] int64_t row_left(const Cursor& cursor) const { return sizes_[0] - cursor.index[0]; }
  // Moves on by n <= row_left elements.
  void advance(Cursor& cursor, int64_t n) const;

 private:
  static size_t op(int operand) { return static_cast<size_t>(operand); }
  void add_dimension(int64_t size, const std::array<int64_t, kMaxOperands>& strides);

  Dims sizes_;  // innermost first
  std::array<Dims, kMaxOperands> strides_;
  int operands_;
  int64_t numel_ = 1;
};

// A tensor's strides against a broadcast shape of higher or equal rank: 0 where it has size 1.
[[nodiscard]] Dims broadcast_strides(const Tensor& tensor, std::span<const int64_t> shape);

// Calls f(T* strip, int64_t n) for all elements, each once, in no particular order.
template <class T, class F>
void for_strips(const Tensor& tensor, F&& f) {
  const Dims strides(tensor.strides());
  const Walk walk(tensor.shape(), {&strides, 1});
  if (walk.numel() == 0) {
    return;
  }
  std::array<T, kStrip> strip;  // NOLINT: filled by load
  Walk::Cursor cursor = walk.at(0);
  for (int64_t done = 0; done < walk.numel();) {
    const int64_t n = std::min(walk.row_left(cursor), kStrip);
    load(strip.data(), tensor.dtype(), tensor.bytes() + cursor.offset[0] * size_of(tensor.dtype()),
         walk.stride(0), n);
    f(strip.data(), n);
    walk.advance(cursor, n);
    done += n;
  }
}

}  // namespace backplane::portable
