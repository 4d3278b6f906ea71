// The generator of random operators: SplitMix64, whose state is a counter, so that methods of one
// session may draw at once without a lock. [any thread]
#pragma once

#include <atomic>
#include <cstdint>

namespace backplane::runtime {

class Random {
 public:
  void seed(uint64_t seed) { state_.store(seed, std::memory_order_relaxed); }
  [[nodiscard]] uint64_t state() const { return state_.load(std::memory_order_relaxed); }

  // 64 bits; equal sequences for equal seeds.
  uint64_t next() {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
    uint64_t z = state_.fetch_add(kGolden, std::memory_order_relaxed) + kGolden;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
    return z ^ (z >> 31U);
  }

 private:
  std::atomic<uint64_t> state_{0};
};

}  // namespace backplane::runtime
