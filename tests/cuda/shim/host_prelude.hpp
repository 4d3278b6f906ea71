// The twin of kernels/prelude.cuh: what runs the same kernels' text on the CPU. A block's threads
// are fibres that take turns; all of them do the same steps, so one turn of each is a barrier.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "twin.hpp"

#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(threads)
#define kInfinity __builtin_huge_valf()
#define kInfinityDouble __builtin_huge_val()
#define kNan __builtin_nanf("")
#define kNanDouble __builtin_nan("")

struct half_t {
  unsigned short bits;
};
struct bfloat16_t {
  unsigned short bits;
};

inline float to_float(half_t h) {
  _Float16 f;
  std::memcpy(&f, &h, sizeof f);
  return static_cast<float>(f);
}
inline float to_float(bfloat16_t b) {
  const unsigned word = static_cast<unsigned>(b.bits) << 16;
  float f;
  std::memcpy(&f, &word, sizeof f);
  return f;
}
inline void store(half_t* p, float f) {
  const auto h = static_cast<_Float16>(f);
  std::memcpy(p, &h, sizeof h);
}
inline void store(bfloat16_t* p, float f) {
  unsigned word;
  std::memcpy(&word, &f, sizeof word);
  p->bits =
      f != f ? 0x7fc0 : static_cast<unsigned short>((word + 0x7fff + ((word >> 16) & 1)) >> 16);
}

struct Place3 {
  unsigned x, y, z;
};
static Place3 threadIdx, blockIdx;

namespace fibres {
constexpr size_t kStack = 128 << 10;
struct Fibre {
  ucontext_t context;
  std::vector<char> stack;
  bool is_done;
};
static std::vector<Fibre> all;
static ucontext_t scheduler;
static unsigned words[1024];

inline void yield() {
  const unsigned self = threadIdx.x;
  swapcontext(&all[self].context, &scheduler);
  threadIdx.x = self;
}
template <class F>
void run_block(unsigned threads, const F& body) {
  static const F* now;
  now = &body;
  if (all.size() < threads) all.resize(threads);
  for (unsigned t = 0; t < threads; ++t) {
    all[t].stack.resize(kStack);
    getcontext(&all[t].context);
    all[t].context.uc_stack.ss_sp = all[t].stack.data();
    all[t].context.uc_stack.ss_size = kStack;
    all[t].context.uc_link = &scheduler;
    all[t].is_done = false;
    makecontext(
        &all[t].context,
        +[] {
          const unsigned self = threadIdx.x;
          (*now)();
          all[self].is_done = true;
        },
        0);
  }
  for (bool is_left = true; is_left;) {
    is_left = false;
    for (unsigned t = 0; t < threads; ++t) {
      if (all[t].is_done) continue;
      is_left = true;
      threadIdx.x = t;
      swapcontext(&scheduler, &all[t].context);
    }
  }
}
}  // namespace fibres

inline void __syncthreads() {
  fibres::yield();
}
inline unsigned shuffle_word(unsigned word, int lane_mask) {
  const unsigned self = threadIdx.x;
  fibres::words[self] = word;
  fibres::yield();
  const unsigned other = fibres::words[self ^ static_cast<unsigned>(lane_mask)];
  fibres::yield();
  return other;
}

// Runs a kernel over its grid. `has_rows`: its threads work together.
template <bool has_rows, class... A, size_t... I>
void run_twin(void (*kernel)(A...), const TwinLaunch& launch, void* const* params,
              std::index_sequence<I...>) {
  const auto body = [&] { kernel(*static_cast<A*>(params[I])...); };
  for (blockIdx.x = 0; blockIdx.x < launch.grid[0]; ++blockIdx.x) {
    if constexpr (has_rows) {
      fibres::run_block(launch.block[0], body);
    } else {
      for (threadIdx.x = 0; threadIdx.x < launch.block[0]; ++threadIdx.x) body();
    }
  }
}
template <bool has_rows, class... A>
void run_twin(void (*kernel)(A...), const TwinLaunch& launch, void* const* params) {
  run_twin<has_rows>(kernel, launch, params, std::index_sequence_for<A...>());
}
// After a kernel's text: its twin.
#define BP_TWIN(kernel, has_rows)                                                \
  extern "C" void kernel##__run(const TwinLaunch& launch, void* const* params) { \
    run_twin<has_rows>(kernel, launch, params);                                  \
  }
