#include "format/named_data.hpp"

#include <algorithm>
#include <string>

namespace backplane {
namespace {

constexpr size_t kMaxRank = 16;

Error invalid(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

}  // namespace

std::optional<int64_t> checked_numel(std::span<const int32_t> sizes) {
  bool empty = false;
  for (const int32_t size : sizes) {
    if (size < 0) return std::nullopt;
    empty = empty || size == 0;
  }
  if (empty) return 0;
  int64_t product = 1;
  bool fits = true;
  for (const int32_t size : sizes) fits = fits && !__builtin_mul_overflow(product, size, &product);
  return fits ? std::optional(product) : std::nullopt;
}

std::optional<int64_t> checked_nbytes(const TensorLayout& layout) {
  const std::optional<int64_t> numel = checked_numel(layout.sizes);
  int64_t nbytes = 0;
  if (!numel || __builtin_mul_overflow(*numel, int64_t(size_of(layout.dtype)), &nbytes)) {
    return std::nullopt;
  }
  return nbytes;
}

Status check(const TensorLayout& layout) {
  const size_t rank = layout.sizes.size();
  if (rank > kMaxRank) {
    return Error{Code::unsupported,
                 "rank is " + std::to_string(rank) + ", at most 16 is supported"};
  }
  for (size_t i = 0; i < rank; ++i) {
    if (layout.sizes[i] < 0) {
      return invalid("sizes[" + std::to_string(i) + "] is " + std::to_string(layout.sizes[i]) +
                     ", must not be negative");
    }
  }
  if (layout.dim_order.size() != rank) {
    return invalid("dim_order has " + std::to_string(layout.dim_order.size()) +
                   " dimensions, sizes has " + std::to_string(rank));
  }
  uint32_t seen = 0;
  for (const uint8_t dim : layout.dim_order) {
    if (dim >= rank || (seen >> dim & 1) != 0) {
      return invalid("dim_order has " + std::to_string(dim) + (dim >= rank ? "" : " twice") +
                     ", must be a permutation of the " + std::to_string(rank) + " dimensions");
    }
    seen |= uint32_t{1} << dim;
  }
  return Ok{};
}

const NamedData* find(std::span<const NamedData> data, std::string_view key) {
  const auto found =
      std::lower_bound(data.begin(), data.end(), key,
                       [](const NamedData& d, std::string_view k) { return d.key < k; });
  return found != data.end() && found->key == key ? &*found : nullptr;
}

}  // namespace backplane
