#include "lower/memory_plan.hpp"

#include <algorithm>
#include <numeric>

namespace backplane::lower {
namespace {

constexpr uint64_t kAlignment = 64;

uint64_t aligned(uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

MemoryPlan plan_memory(std::span<const Lifetime> lifetimes) {
  MemoryPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  std::vector<size_t> placed;  // by offset
  for (const size_t i : order) {
    const Lifetime& life = lifetimes[i];
    plan.naive_bytes += aligned(life.bytes);
    if (life.bytes == 0) continue;
    uint64_t offset = 0;
    for (const size_t other : placed) {
      const Lifetime& busy = lifetimes[other];
      if (busy.last < life.first || life.last < busy.first) continue;
      if (offset + life.bytes <= plan.offsets[other]) break;
      offset = std::max(offset, plan.offsets[other] + aligned(busy.bytes));
    }
    plan.offsets[i] = offset;
    plan.arena_bytes = std::max(plan.arena_bytes, offset + aligned(life.bytes));
    const auto place =
        std::upper_bound(placed.begin(), placed.end(), offset,
                         [&](uint64_t at, size_t other) { return at < plan.offsets[other]; });
    placed.insert(place, i);
  }
  return plan;
}

}  // namespace backplane::lower
