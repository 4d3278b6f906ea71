// The part that is the same for a GPU and for the CPU.

template <class T> __device__ inline T load(const T* p) { return *p; }
__device__ inline float load(const half_t* p) { return to_float(*p); }
__device__ inline float load(const bfloat16_t* p) { return to_float(*p); }
template <class T, class V> __device__ inline void store(T* p, V v) { *p = (T)v; }
template <class T> __device__ inline float round_to(float f) {
  T rounded;
  store(&rounded, f);
  return to_float(rounded);
}

template <class T> struct Same { using type = T; };
template <class T> using same = typename Same<T>::type;  // takes no part in deduction

// ---- numbers ----

template <class T> __device__ inline T math_abs(T x) { return x < 0 ? -x : x; }
__device__ inline float math_abs(float x) { return fabsf(x); }
__device__ inline double math_abs(double x) { return fabs(x); }
// NaN where one of them is.
template <class T> __device__ inline T math_max(T a, same<T> b) { return a != a || a > b ? a : b; }
template <class T> __device__ inline T math_min(T a, same<T> b) { return a != a || a < b ? a : b; }
template <class T> __device__ inline T math_fmax(T a, same<T> b) { return a != a || a < b ? b : a; }
template <class T> __device__ inline T math_fmin(T a, same<T> b) { return a != a || a > b ? b : a; }
template <class T> __device__ inline T math_sign(T x) { return (T)((x > 0) - (x < 0)); }
template <class T> __device__ inline bool is_finite(T x) { return x - x == 0; }
template <class T> __device__ inline bool is_infinite(T x) { return x == x && x - x != 0; }
template <class T> __device__ inline bool sign_bit(T x) { return x < 0; }
__device__ inline bool sign_bit(float x) { return copysignf(1.0f, x) < 0; }
__device__ inline bool sign_bit(double x) { return copysign(1.0, x) < 0; }
template <class T> __device__ inline T bit_not(T x) { return (T)~x; }
__device__ inline bool bit_not(bool x) { return !x; }

#define BP_FUNCTION(name, single, plain)                                 \
  __device__ inline float math_##name(float x) { return single(x); }     \
  __device__ inline double math_##name(double x) { return plain(x); }
BP_FUNCTION(acos, acosf, acos)
BP_FUNCTION(acosh, acoshf, acosh)
BP_FUNCTION(asin, asinf, asin)
BP_FUNCTION(asinh, asinhf, asinh)
BP_FUNCTION(atan, atanf, atan)
BP_FUNCTION(atanh, atanhf, atanh)
BP_FUNCTION(ceil, ceilf, ceil)
BP_FUNCTION(cos, cosf, cos)
BP_FUNCTION(cosh, coshf, cosh)
BP_FUNCTION(erf, erff, erf)
BP_FUNCTION(erfc, erfcf, erfc)
BP_FUNCTION(exp, expf, exp)
BP_FUNCTION(exp2, exp2f, exp2)
BP_FUNCTION(expm1, expm1f, expm1)
BP_FUNCTION(floor, floorf, floor)
BP_FUNCTION(lgamma, lgammaf, lgamma)
BP_FUNCTION(log, logf, log)
BP_FUNCTION(log10, log10f, log10)
BP_FUNCTION(log1p, log1pf, log1p)
BP_FUNCTION(log2, log2f, log2)
BP_FUNCTION(round, rintf, rint)
BP_FUNCTION(sin, sinf, sin)
BP_FUNCTION(sinh, sinhf, sinh)
BP_FUNCTION(sqrt, sqrtf, sqrt)
BP_FUNCTION(tan, tanf, tan)
BP_FUNCTION(tanh, tanhf, tanh)
BP_FUNCTION(trunc, truncf, trunc)
#undef BP_FUNCTION
__device__ inline float math_rsqrt(float x) { return 1.0f / sqrtf(x); }
__device__ inline double math_rsqrt(double x) { return 1.0 / sqrt(x); }
__device__ inline float math_atan2(float a, float b) { return atan2f(a, b); }
__device__ inline double math_atan2(double a, double b) { return atan2(a, b); }
__device__ inline float math_hypot(float a, float b) { return hypotf(a, b); }
__device__ inline double math_hypot(double a, double b) { return hypot(a, b); }
__device__ inline float math_copysign(float a, float b) { return copysignf(a, b); }
__device__ inline double math_copysign(double a, double b) { return copysign(a, b); }
__device__ inline float math_pow(float a, float b) { return powf(a, b); }
__device__ inline double math_pow(double a, double b) { return pow(a, b); }
template <class T> __device__ inline T math_pow(T a, same<T> b) {
  if (b < 0) return a == 1 ? (T)1 : a == (T)-1 ? (b % 2 == 0 ? (T)1 : (T)-1) : (T)0;
  T out = 1;
  for (; b > 0; b >>= 1, a *= a) out = (b & 1) != 0 ? (T)(out * a) : out;
  return out;
}

// ---- division ----

__device__ inline float math_fmod(float a, float b) { return fmodf(a, b); }
__device__ inline double math_fmod(double a, double b) { return fmod(a, b); }
template <class T> __device__ inline T math_fmod(T a, same<T> b) { return b == 0 ? 0 : (T)(a % b); }
template <class T> __device__ inline T trunc_divide(T a, same<T> b) { return b == 0 ? 0 : (T)(a / b); }
template <class T> __device__ inline T floor_divide(T a, same<T> b) {
  if (b == 0) return 0;
  return (T)(a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0));
}
template <class T> __device__ inline T floor_divide_real(T a, T b) {
  if (b == 0) return a / b;
  T rest = math_fmod(a, b);
  T quotient = (a - rest) / b;
  if (rest != 0 && (b < 0) != (rest < 0)) quotient -= 1;
  if (quotient == 0) return math_copysign((T)0, a / b);
  T floored = math_floor(quotient);
  return quotient - floored > (T)0.5 ? floored + 1 : floored;
}
__device__ inline float floor_divide(float a, float b) { return floor_divide_real(a, b); }
__device__ inline double floor_divide(double a, double b) { return floor_divide_real(a, b); }
// The rest with the divisor's sign.
template <class T> __device__ inline T remainder_of(T a, same<T> b) {
  T rest = math_fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? (T)(rest + b) : rest;
}

// ---- conversions ----

template <class T, class F> __device__ inline T to_integer(F x) { return (T)(long long)x; }
template <class T> struct Lowest;
template <> struct Lowest<float> { __device__ static float value() { return -kInfinity; } };
template <> struct Lowest<double> { __device__ static double value() { return -kInfinityDouble; } };
template <> struct Lowest<long long> { __device__ static long long value() { return -9223372036854775807LL - 1; } };
template <> struct Lowest<int> { __device__ static int value() { return -2147483647 - 1; } };
template <> struct Lowest<short> { __device__ static short value() { return -32768; } };
template <> struct Lowest<signed char> { __device__ static signed char value() { return -128; } };
template <> struct Lowest<unsigned char> { __device__ static unsigned char value() { return 0; } };
template <> struct Lowest<bool> { __device__ static bool value() { return false; } };
template <class T> __device__ inline T lowest_value() { return Lowest<T>::value(); }
__device__ inline float highest_value(float) { return kInfinity; }
__device__ inline double highest_value(double) { return kInfinityDouble; }
__device__ inline bool highest_value(bool) { return true; }
__device__ inline unsigned char highest_value(unsigned char) { return 255; }
template <class T> __device__ inline T highest_value(T) { return (T)~Lowest<T>::value(); }
// Negative indices count from the end; what is out of range is brought to its border.
__device__ inline long long clamped_index(long long i, long long n) {
  if (i < 0) i += n;
  return i < 0 ? 0 : i >= n ? n - 1 : i;
}

// ---- reductions ----

template <class T> struct Sum {
  T value = 0;
  __device__ void take(T x) { value += x; }
  __device__ void join(const Sum& other) { value += other.value; }
  __device__ T result() const { return value; }
};
template <class T> struct Product {
  T value = 1;
  __device__ void take(T x) { value *= x; }
  __device__ void join(const Product& other) { value *= other.value; }
  __device__ T result() const { return value; }
};
template <class T> struct Max {
  T value = lowest_value<T>();
  __device__ void take(T x) { value = math_max(x, value); }
  __device__ void join(const Max& other) { value = math_max(other.value, value); }
  __device__ T result() const { return value; }
};
template <class T> struct Min {
  T value = highest_value(T());
  __device__ void take(T x) { value = math_min(x, value); }
  __device__ void join(const Min& other) { value = math_min(other.value, value); }
  __device__ T result() const { return value; }
};
struct Any {
  int value = 0;
  __device__ void take(bool x) { value |= x; }
  __device__ void join(const Any& other) { value |= other.value; }
  __device__ bool result() const { return value != 0; }
};
struct All {
  int value = 1;
  __device__ void take(bool x) { value &= x; }
  __device__ void join(const All& other) { value &= other.value; }
  __device__ bool result() const { return value != 0; }
};
// The first place of the largest (smallest); NaN is larger (smaller) than all.
template <class T, bool kMax> struct Place {
  T value = kMax ? lowest_value<T>() : highest_value(T());
  long long place = 9223372036854775807LL;
  __device__ void take(T x, long long at) {
    const bool is_nan = x != x;
    const bool was_nan = value != value;
    const bool is_better = is_nan ? !was_nan : !was_nan && (kMax ? x > value : x < value);
    const bool is_same = is_nan ? was_nan : x == value;
    if (is_better || (is_same && at < place)) {
      value = x;
      place = at;
    }
  }
  __device__ void join(const Place& other) { take(other.value, other.place); }
  __device__ long long result() const { return place; }
};
template <class T> using ArgMax = Place<T, true>;
template <class T> using ArgMin = Place<T, false>;

template <class R> __device__ inline R shuffled(const R& mine, int lane_mask) {
  union Words {
    R value;
    unsigned words[(sizeof(R) + 3) / 4];
    __device__ Words() {}
  } w;
  w.words[sizeof(w.words) / 4 - 1] = 0;
  w.value = mine;
  for (unsigned i = 0; i < sizeof(w.words) / 4; ++i) w.words[i] = shuffle_word(w.words[i], lane_mask);
  return w.value;
}
// Joins what the threads of a row have: 32 of a warp, or all of a block.
template <int kWidth, class R> __device__ inline void reduce_row(R& mine) {
  for (int mask = 16; mask > 0; mask /= 2) mine.join(shuffled(mine, mask));
  if (kWidth == 32) return;
  __shared__ unsigned long long parts[2 * kWidth / 32];
  R* of_warps = (R*)parts;
  __syncthreads();
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = mine;
  __syncthreads();
  mine = of_warps[0];
  for (int i = 1; i < kWidth / 32; ++i) mine.join(of_warps[i]);
}
