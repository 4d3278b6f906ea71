// Memory planning: what overlaps in time must not overlap in memory, and reuse must pay.
#include "lower/memory_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

using namespace backplane::lower;

namespace {

// The most bytes alive at one instruction: no plan can do with less.
uint64_t floor_bytes(const std::vector<Lifetime>& lives, int32_t end) {
  uint64_t most = 0;
  for (int32_t t = 0; t < end; ++t) {
    uint64_t now = 0;
    for (const Lifetime& life : lives)
      now += life.first <= t && t <= life.last ? (life.bytes + 63) / 64 * 64 : 0;
    most = std::max(most, now);
  }
  return most;
}

}  // namespace

TEST_SUITE("core/lower/memory_plan") {
  TEST_CASE("random lifetimes: no two that overlap share a byte, all offsets are multiples of 64") {
    std::mt19937 random(3);
    for (int round = 0; round < 300; ++round) {
      std::vector<Lifetime> lives(1 + random() % 40);
      for (Lifetime& life : lives) {
        life.bytes = random() % 1000;
        life.first = static_cast<int32_t>(random() % 50);
        life.last = life.first + static_cast<int32_t>(random() % 10);
      }
      const MemoryPlan plan = plan_memory(lives);
      for (size_t a = 0; a < lives.size(); ++a) {
        REQUIRE(plan.offsets[a] % 64 == 0);
        REQUIRE(plan.offsets[a] + lives[a].bytes <=
                plan.arena_bytes + (lives[a].bytes == 0 ? 64 : 0));
        for (size_t b = 0; b < a; ++b) {
          const bool in_time = lives[a].first <= lives[b].last && lives[b].first <= lives[a].last;
          const bool in_memory = plan.offsets[a] < plan.offsets[b] + lives[b].bytes &&
                                 plan.offsets[b] < plan.offsets[a] + lives[a].bytes;
          REQUIRE_FALSE((in_time && in_memory));
        }
      }
      REQUIRE(plan.arena_bytes >= floor_bytes(lives, 61));
      REQUIRE(plan.arena_bytes <= plan.naive_bytes);
    }
  }

  TEST_CASE("a chain needs the memory of its two largest neighbours") {
    std::vector<Lifetime> lives;
    for (int32_t i = 0; i < 20; ++i)
      lives.push_back({i % 2 == 0 ? uint64_t{4096} : uint64_t{1024}, i, i + 1});
    CHECK(plan_memory(lives).arena_bytes == 4096 + 1024);
  }

  TEST_CASE("a lifetime without bytes takes no room") {
    const std::vector<Lifetime> lives{{0, 0, 5}, {64, 0, 5}};
    CHECK(plan_memory(lives).arena_bytes == 64);
  }
}
