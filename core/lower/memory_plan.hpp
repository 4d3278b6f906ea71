// Memory planning: where in one arena each tensor lies, from when it is first written to its last
// use.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace backplane::lower {

// Bytes that are needed from instruction `first` to `last`, both included.
struct Lifetime {
  uint64_t bytes = 0;
  int32_t first = 0;
  int32_t last = 0;
};

struct MemoryPlan {
  std::vector<uint64_t> offsets;  // by lifetime, multiples of 64
  uint64_t arena_bytes = 0;
  uint64_t naive_bytes = 0;  // each in memory of its own
};

// Lifetimes that overlap get memory that does not. The largest is placed first, each at the lowest
// offset that is free for its whole life. O(n log n + conflicts).
[[nodiscard]] MemoryPlan plan_memory(std::span<const Lifetime> lifetimes);

}  // namespace backplane::lower
