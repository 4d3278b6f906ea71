#include "runtime/memory.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace backplane::runtime {
namespace {

constexpr uint64_t kMostBytes = std::numeric_limits<int64_t>::max() / 2;
constexpr uint64_t kFirstScratch = uint64_t{64} << 10U;

uint64_t aligned(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

Block::~Block() {
  std::free(memory_);
}  // NOLINT: calloc gives zeros without touching them

bool Block::allocate(uint64_t size_bytes) {
  if (size_bytes > kMostBytes) return false;
  void* memory = std::calloc(1, aligned(size_bytes) + kAlignment);  // NOLINT
  if (memory == nullptr) return false;
  std::free(memory_);  // NOLINT
  memory_ = memory;
  size_ = size_bytes;
  return true;
}

bool Block::grow(uint64_t size_bytes, std::vector<Block>& retired) {
  if (memory_ != nullptr && size_bytes <= size_) return true;
  Block larger;
  const bool fits =
      larger.allocate(std::max(size_bytes, std::min(kMostBytes, size_ + size_ / 2))) ||
      larger.allocate(size_bytes);
  if (!fits) return false;
  if (memory_ != nullptr) retired.push_back(std::move(*this));
  *this = std::move(larger);
  return true;
}

std::byte* Block::data() const {
  if (memory_ == nullptr) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(memory_);
  return static_cast<std::byte*>(memory_) + (aligned(address) - address);
}

void* Scratch::allocate(uint64_t size_bytes) {
  if (size_bytes > kMostBytes) return nullptr;
  const uint64_t size = aligned(std::max<uint64_t>(size_bytes, 1));
  if (blocks_.empty() || blocks_.back().size() - used_ < size) {
    Block block;
    const uint64_t doubled = blocks_.empty() ? kFirstScratch : 2 * blocks_.back().size();
    if (!block.allocate(std::max(size, doubled)) && !block.allocate(size)) return nullptr;
    blocks_.push_back(std::move(block));
    used_ = 0;
  }
  std::byte* piece = blocks_.back().data() + used_;
  used_ += size;
  return piece;
}

void Scratch::reset() {
  // Blocks double: the last is larger than all before it together.
  if (blocks_.size() > 1) {
    uint64_t total = 0;
    for (const Block& block : blocks_) total += block.size();
    blocks_.clear();
    Block block;
    if (block.allocate(total)) blocks_.push_back(std::move(block));
  }
  used_ = 0;
}

}  // namespace backplane::runtime
