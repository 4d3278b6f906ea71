// What `.pte` and `.ptd` files have in common: bytes that are borrowed, never copied, and data with
// a name. One type serves both, so that lowering decides where a datum goes by the list it joins.
#pragma once

#include <backplane/dtype.hpp>
#include <backplane/result.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// A view. Of a file read: into the caller's mapping of it. Of one to be written: into the caller's
// memory, which must live until the write returns. Two data that are equal may be one view.
using Bytes = std::span<const std::byte>;

// The shape of a dense tensor. Strides are not stored: they follow from `dim_order`, the dimensions
// from outermost to innermost, a permutation of 0 … rank - 1. At most 16 dimensions.
struct TensorLayout {
  DType dtype = DType::f32;
  std::vector<int32_t> sizes;  // none negative
  std::vector<uint8_t> dim_order;

  friend bool operator==(const TensorLayout&, const TensorLayout&) = default;
};

// Elements and bytes of a tensor of that shape; nothing if that is over INT64_MAX or a size is
// negative.
[[nodiscard]] std::optional<int64_t> checked_numel(std::span<const int32_t> sizes);
[[nodiscard]] std::optional<int64_t> checked_nbytes(const TensorLayout& layout);

// The rules above. unsupported: the rank. invalid_argument: the others.
[[nodiscard]] Status check(const TensorLayout& layout);

// A blob, or with `layout` a tensor. Where it is written, the file offset of its first byte is a
// multiple of `alignment` (a power of two, 1 … kMaxAlignment); equal blobs are stored once, at the
// largest alignment asked for. Alignment is not stored: 1 when read.
struct NamedData {
  std::string key;  // unique in its file, not empty
  Bytes data;
  uint32_t alignment = 1;
  std::optional<TensorLayout> layout;  // only in a `.ptd`; `data` has at least its bytes
};

inline constexpr uint32_t kMaxAlignment = uint32_t{1} << 20;

// The datum with that key, or null; `data` must be in ascending order of keys, as readers give it.
[[nodiscard]] const NamedData* find(std::span<const NamedData> data, std::string_view key);

}  // namespace backplane
