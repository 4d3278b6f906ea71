#include "portable/shape.hpp"

namespace backplane::portable {

Result<Dims> broadcast(std::span<const int64_t> a, std::span<const int64_t> b) {
  const auto rank_a = static_cast<int64_t>(a.size()), rank_b = static_cast<int64_t>(b.size());
  const int64_t rank = std::max(rank_a, rank_b);
  Dims shape(rank, 1);
  for (int64_t d = rank - 1; d >= 0; --d) {
    const int64_t ia = d - (rank - rank_a), ib = d - (rank - rank_b);
    const int64_t size_a = ia < 0 ? 1 : a[static_cast<size_t>(ia)];
    const int64_t size_b = ib < 0 ? 1 : b[static_cast<size_t>(ib)];
    if (size_a != size_b && size_a != 1 && size_b != 1) {
      return invalid({"the size of tensor a (", size_a, ") must match the size of tensor b (",
                      size_b, ") at non-singleton dimension ", d});
    }
    shape[d] = size_a == 1 ? size_b : size_a;
  }
  return shape;
}

Result<int64_t> wrap_dim(int64_t dim, int64_t rank) {
  const int64_t range = rank == 0 ? 1 : rank;
  if (dim < -range || dim >= range) {
    return invalid({"dimension out of range (expected to be in range of [", -range, ", ", range - 1,
                    "], but got ", dim, ")"});
  }
  return dim < 0 ? dim + range : dim;
}

Result<std::array<bool, kMaxRank>> wrap_dims(std::span<const int64_t> dims, int64_t rank) {
  std::array<bool, kMaxRank> named{};
  for (const int64_t dim : dims) {
    BP_ASSIGN_OR_RETURN(const int64_t d, wrap_dim(dim, rank));
    if (named[static_cast<size_t>(d)]) {
      return invalid({"dim ", d, " appears multiple times in the list of dims"});
    }
    named[static_cast<size_t>(d)] = true;
  }
  if (dims.empty()) {
    named.fill(true);
  }
  return named;
}

Result<int64_t> count(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (const int64_t size : shape) {
    if (size < 0) {
      return invalid({"negative dimension ", size, " in shape ", shape});
    }
    if (__builtin_mul_overflow(n, size, &n)) {
      return invalid({"shape ", shape, " has too many elements"});
    }
  }
  return n;
}

Dims row_major(std::span<const int64_t> shape) {
  Dims strides(static_cast<int64_t>(shape.size()), 1);
  for (int64_t d = strides.size() - 2; d >= 0; --d) {
    strides[d] = strides[d + 1] * shape[static_cast<size_t>(d) + 1];
  }
  return strides;
}

Split split_at(std::span<const int64_t> shape, int64_t dim) {
  Split split;
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d) {
    const int64_t size = shape[static_cast<size_t>(d)];
    (d < dim ? split.outer : (d == dim ? split.size : split.inner)) *= size;
  }
  return split;
}

}  // namespace backplane::portable
