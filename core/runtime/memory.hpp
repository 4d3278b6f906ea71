// Host memory of the runtime: blocks aligned to 64 bytes, and the scratch memory of kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace backplane::runtime {

inline constexpr uint64_t kAlignment = 64;

// Owned bytes; movable only.
class Block {
 public:
  Block() = default;
  Block(Block&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Block& operator=(Block&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Block();

  // Zeros, which the system gives page by page when they are touched. False: there is not as much.
  [[nodiscard]] bool allocate(uint64_t size_bytes);
  // At least `size_bytes`, grown by half when it is less; contents are lost then. What was there is
  // put into `retired`, since somebody may still look at it.
  [[nodiscard]] bool grow(uint64_t size_bytes, std::vector<Block>& retired);

  [[nodiscard]] std::byte* data() const;
  [[nodiscard]] uint64_t size() const { return size_; }

 private:
  void* memory_ = nullptr;  // from calloc; data() is inside
  uint64_t size_ = 0;
};

// Memory that is given out piece by piece and taken back all at once. After the first round of a
// kind there is one block, and nothing is allocated any more.
class Scratch {
 public:
  // Aligned to 64; null if there is none. Valid until reset().
  [[nodiscard]] void* allocate(uint64_t size_bytes);
  void reset();

 private:
  std::vector<Block> blocks_;
  uint64_t used_ = 0;  // of the last block
};

}  // namespace backplane::runtime
