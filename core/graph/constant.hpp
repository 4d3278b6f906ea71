// Constants of a module: strided views on bytes that are mapped from a file or owned.
#pragma once

#include <backplane/dtype.hpp>
#include <backplane/result.hpp>

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace backplane {

class MappedFile;

// First 16 bytes of the SHA-256 of a constant's bytes as a dense row-major tensor.
using ContentId = std::array<uint8_t, 16>;

// A tensor constant. `storage` may be shared by several constants (tied weights, views).
struct Constant {
  std::string fqn;  // "encoder.weight"; for folded ones, after what they came from
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;        // in elements
  int64_t storage_offset = 0;          // in elements
  std::span<const std::byte> storage;  // checked to hold every element when made
  bool is_parameter = false;
  bool persistent = true;               // false: a buffer that is not in the state dict
  mutable std::optional<ContentId> id;  // computed when first asked for

  [[nodiscard]] int64_t numel() const;
  [[nodiscard]] size_t nbytes() const { return static_cast<size_t>(numel()) * size_of(dtype); }
  [[nodiscard]] bool is_dense() const;  // row-major without gaps
};

// Keeps bytes alive for a module's life: whole mappings and owned blocks. Addresses stay.
class Buffers {
 public:
  Buffers();
  ~Buffers();
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  Buffers(Buffers&&) noexcept;
  Buffers& operator=(Buffers&&) noexcept;

  void keep(MappedFile file);
  // A block of `size_bytes` zeros, aligned to 64.
  std::span<std::byte> allocate(size_t size_bytes);

 private:
  friend std::span<const std::byte> dense_bytes(const Constant& constant, Buffers& buffers);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The elements in row-major order without gaps: a view if they lie so, else a copy kept in
// `buffers`, made when first asked for.
[[nodiscard]] std::span<const std::byte> dense_bytes(const Constant& constant, Buffers& buffers);

// The constant's content id (hashing at most once).
[[nodiscard]] const ContentId& content_id(const Constant& constant, Buffers& buffers);

// Interned strings; views stay valid for the pool's life.
class StringPool {
 public:
  std::string_view intern(std::string_view text);

 private:
  std::deque<std::string> strings_;
  std::unordered_set<std::string_view> index_;
};

}  // namespace backplane
