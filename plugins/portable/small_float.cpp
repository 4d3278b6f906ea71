#include "portable/small_float.hpp"

#include <cmath>
#include <limits>

namespace backplane::portable {

float decode_float(uint32_t bits, const FloatFormat& f) {
  const int width = 1 + f.exponent_bits + f.mantissa_bits;
  const uint32_t sign = bits >> (width - 1) & 1U;
  const uint32_t rest = bits & ((1U << (width - 1)) - 1);
  const uint32_t mantissa = rest & ((1U << f.mantissa_bits) - 1);
  const uint32_t exponent = rest >> f.mantissa_bits;
  const uint32_t top = (1U << f.exponent_bits) - 1;
  const bool is_nan = f.fnuz ? sign != 0 && rest == 0
                             : (f.has_infinity ? exponent == top && mantissa != 0
                                               : rest == (1U << (width - 1)) - 1);
  if (is_nan) {
    return std::bit_cast<float>(f.fnuz ? 0xffc00000U : 0x7fc00000U | sign << 31);
  }
  float value = 0;
  if (f.has_infinity && exponent == top) {
    value = std::numeric_limits<float>::infinity();
  } else if (exponent == 0) {
    value = std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissa_bits);
  } else {
    value = std::ldexp(static_cast<float>(mantissa | 1U << f.mantissa_bits),
                       static_cast<int>(exponent) - f.bias - f.mantissa_bits);
  }
  return sign != 0 ? -value : value;
}

uint32_t encode_float(float value, const FloatFormat& f) {
  const uint32_t sign_bit = 1U << (f.exponent_bits + f.mantissa_bits);
  const uint32_t sign = std::signbit(value) ? sign_bit : 0;
  const uint32_t top = (1U << f.exponent_bits) - 1;
  const uint32_t infinity = top << f.mantissa_bits;
  const uint32_t nan = f.fnuz ? sign_bit : sign | (sign_bit - 1);
  if (std::isnan(value)) {
    return nan;
  }
  const uint32_t overflow = f.has_infinity ? sign | infinity : (f.fnuz ? nan : nan - 1);
  if (std::isinf(value)) {
    return overflow;
  }
  if (value == 0) {
    return f.fnuz ? 0 : sign;
  }
  // The magnitude in units of the last bit of its binade, rounded half to even.
  int exponent = 0;
  std::frexp(value, &exponent);
  const int unit = std::max(exponent - 1, 1 - f.bias) - f.mantissa_bits;
  const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(std::fabs(value), -unit)));
  // A carry out of the mantissa moves into the exponent by itself.
  const int64_t biased = int64_t{unit} + f.mantissa_bits + f.bias - 1;
  const int64_t rest = (biased << f.mantissa_bits) + units;
  const int64_t largest = f.has_infinity ? infinity - 1 : (f.fnuz ? sign_bit - 1 : sign_bit - 2);
  if (rest > largest) {
    return overflow;
  }
  return rest == 0 && f.fnuz ? 0 : sign | static_cast<uint32_t>(rest);
}

Float8E8M0::Float8E8M0(float value) {
  const auto u = std::bit_cast<uint32_t>(value);
  const uint32_t exponent = u >> 23 & 0xffU;
  if (exponent == 0xff) {
    bits = 0xff;
    return;
  }
  // Half to even: up when past the middle, or in it with an odd exponent; c10 drops the sign.
  const bool guard = (u & 0x400000U) != 0;
  const bool sticky = (u & 0x3fffffU) != 0;
  const bool odd = exponent > 0;
  bits = static_cast<uint8_t>(exponent + (guard && (odd || sticky) ? 1 : 0));
}

Float8E8M0::operator float() const {
  if (bits == 0xff) {
    return std::numeric_limits<float>::quiet_NaN();
  }
  return std::ldexp(1.0F, static_cast<int>(bits) - 127);
}

}  // namespace backplane::portable
