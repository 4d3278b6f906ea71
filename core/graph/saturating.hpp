// Integer arithmetic that stops at ±kUnbounded instead of overflowing, and Python's division.
//
// ±kUnbounded stand for infinity: once a sum or product is there, finite operands leave it there.
#pragma once

#include <cstdint>
#include <limits>

namespace backplane::saturating {

inline constexpr int64_t kInfinity = std::numeric_limits<int64_t>::max();

[[nodiscard]] constexpr bool is_infinite(int64_t a) {
  return a >= kInfinity || a <= -kInfinity;
}

[[nodiscard]] constexpr int64_t neg(int64_t a) {
  if (a <= -kInfinity) return kInfinity;
  return -a;
}

// Opposite infinities give the first.
[[nodiscard]] constexpr int64_t add(int64_t a, int64_t b) {
  if (is_infinite(a)) return a > 0 ? kInfinity : -kInfinity;
  if (is_infinite(b)) return b > 0 ? kInfinity : -kInfinity;
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return a > 0 ? kInfinity : -kInfinity;
  return sum == std::numeric_limits<int64_t>::min() ? -kInfinity : sum;
}

[[nodiscard]] constexpr int64_t sub(int64_t a, int64_t b) {
  return add(a, neg(b));
}

[[nodiscard]] constexpr int64_t mul(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  int64_t result = 0;
  const bool negative = (a < 0) != (b < 0);
  if (is_infinite(a) || is_infinite(b) || __builtin_mul_overflow(a, b, &result)) {
    return negative ? -kInfinity : kInfinity;
  }
  return result == std::numeric_limits<int64_t>::min() ? -kInfinity : result;
}

// Rounds to minus infinity. b != 0. An infinite divisor gives 0 or -1.
[[nodiscard]] constexpr int64_t floor_div(int64_t a, int64_t b) {
  if (is_infinite(b)) return a == 0 || (a < 0) == (b < 0) ? 0 : -1;
  if (is_infinite(a)) return (a < 0) == (b < 0) ? kInfinity : -kInfinity;
  const int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

[[nodiscard]] constexpr int64_t ceil_div(int64_t a, int64_t b) {
  return neg(floor_div(neg(a), b));
}

// What is left of floor_div: has the sign of b. b != 0.
[[nodiscard]] constexpr int64_t mod(int64_t a, int64_t b) {
  if (b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// exponent >= 0.
[[nodiscard]] constexpr int64_t pow(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = mul(result, base);
    if (exponent > 1) base = mul(base, base);
  }
  return result;
}

}  // namespace backplane::saturating
