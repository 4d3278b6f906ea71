// Shapes: broadcasting, dimension numbers, and the messages that PyTorch has for them.
#pragma once

#include "portable/kernel.hpp"

namespace backplane::portable {

// The common shape of tensors. invalid_argument, in PyTorch's words: sizes that do not match.
[[nodiscard]] Result<Dims> broadcast(std::span<const int64_t> a, std::span<const int64_t> b);

// A dimension number in [0, rank); rank 0 counts as 1. invalid_argument: out of range.
[[nodiscard]] Result<int64_t> wrap_dim(int64_t dim, int64_t rank);

// Which dimensions a list names: all of them if it is empty. invalid_argument: out of range, twice.
[[nodiscard]] Result<std::array<bool, kMaxRank>> wrap_dims(std::span<const int64_t> dims,
                                                           int64_t rank);

// The product, checked. invalid_argument: negative sizes or more than 2^63 elements.
[[nodiscard]] Result<int64_t> count(std::span<const int64_t> shape);

// The strides of a row-major tensor.
[[nodiscard]] Dims row_major(std::span<const int64_t> shape);

// A row-major tensor seen as [outer, size, inner] around one dimension.
struct Split {
  int64_t outer = 1, size = 1, inner = 1;
};
[[nodiscard]] Split split_at(std::span<const int64_t> shape, int64_t dim);

}  // namespace backplane::portable
