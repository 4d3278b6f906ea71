// What every generated kernel may use. No header is needed; what only a GPU has is in this first
// part, which has a twin for the CPU in tests/cuda/shim/host_prelude.hpp.

struct half_t { unsigned short bits; };
struct bfloat16_t { unsigned short bits; };

__device__ inline float to_float(half_t h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h.bits));
  return f;
}
__device__ inline float to_float(bfloat16_t b) { return __uint_as_float((unsigned)b.bits << 16); }
__device__ inline void store(half_t* p, float f) {
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(p->bits) : "f"(f));
}
__device__ inline void store(bfloat16_t* p, float f) {
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(p->bits) : "f"(f));
}
__device__ inline unsigned shuffle_word(unsigned word, int lane_mask) {
  return __shfl_xor_sync(0xffffffffu, word, lane_mask);
}

#define kInfinity __int_as_float(0x7f800000)
#define kInfinityDouble __longlong_as_double(0x7ff0000000000000LL)
#define kNan __int_as_float(0x7fffffff)
#define kNanDouble __longlong_as_double(0x7fffffffffffffffLL)
