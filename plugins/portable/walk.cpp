#include "portable/walk.hpp"

namespace backplane::portable {

Walk::Walk(std::span<const int64_t> shape, std::span<const Dims> strides)
    : operands_(static_cast<int>(strides.size())) {
  assert(operands_ > 0 && operands_ <= kMaxOperands);
  const auto rank = static_cast<int64_t>(shape.size());
  Dims order;  // innermost first
  for (int64_t d = rank - 1; d >= 0; --d) {
    order.push_back(d);
    numel_ *= shape[static_cast<size_t>(d)];
  }
  // Insertion sort is stable: dimensions that tie keep the row-major order.
  for (int64_t i = 1; i < rank; ++i) {
    for (int64_t j = i; j > 0 && strides[0][order[j - 1]] > strides[0][order[j]]; --j) {
      std::swap(order[j - 1], order[j]);
    }
  }
  for (const int64_t d : order) {
    std::array<int64_t, kMaxOperands> step{};
    for (int k = 0; k < operands_; ++k) {
      step[op(k)] = strides[op(k)][d];
    }
    if (shape[static_cast<size_t>(d)] != 1) {
      add_dimension(shape[static_cast<size_t>(d)], step);
    }
  }
  if (sizes_.empty()) {
    add_dimension(1, {});
  }
}

void Walk::add_dimension(int64_t size, const std::array<int64_t, kMaxOperands>& strides) {
  const int64_t last = sizes_.size() - 1;
  bool merges = last >= 0;
  for (int k = 0; k < operands_ && merges; ++k) {
    merges = strides[op(k)] == strides_[op(k)][last] * sizes_[last];
  }
  if (merges) {
    sizes_[last] *= size;
    return;
  }
  sizes_.push_back(size);
  for (int k = 0; k < operands_; ++k) {
    strides_[op(k)].push_back(strides[op(k)]);
  }
}

Walk::Cursor Walk::at(int64_t linear) const {
  Cursor cursor;
  for (int64_t d = 0; d < sizes_.size(); ++d) {
    const int64_t i = sizes_[d] == 0 ? 0 : linear % sizes_[d];
    linear = sizes_[d] == 0 ? 0 : linear / sizes_[d];
    cursor.index.push_back(i);
    for (int k = 0; k < operands_; ++k) {
      cursor.offset[op(k)] += i * strides_[op(k)][d];
    }
  }
  return cursor;
}

void Walk::advance(Cursor& cursor, int64_t n) const {
  cursor.index[0] += n;
  for (int k = 0; k < operands_; ++k) {
    cursor.offset[op(k)] += n * strides_[op(k)][0];
  }
  for (int64_t d = 0; d + 1 < sizes_.size() && cursor.index[d] == sizes_[d]; ++d) {
    cursor.index[d] = 0;
    ++cursor.index[d + 1];
    for (int k = 0; k < operands_; ++k) {
      cursor.offset[op(k)] += strides_[op(k)][d + 1] - sizes_[d] * strides_[op(k)][d];
    }
  }
}

Dims broadcast_strides(const Tensor& tensor, std::span<const int64_t> shape) {
  Dims strides(static_cast<int64_t>(shape.size()), 0);
  const int64_t lead = strides.size() - tensor.dim();
  for (int64_t d = 0; d < tensor.dim(); ++d) {
    strides[lead + d] = tensor.size(d) == 1 ? 0 : tensor.stride(d);
  }
  return strides;
}

}  // namespace backplane::portable
