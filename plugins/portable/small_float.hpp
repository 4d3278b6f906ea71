// Half-width and 8-bit floats as plain structs, converted to and from float in integer arithmetic.
//
// Rounding is to nearest, ties to even; double goes through float, as c10 does. The 8-bit types
// follow c10 where the formats leave a choice: e5m2 overflows to infinity, e4m3fn to its largest
// value, and the "fnuz" types, which have one zero and one NaN (0x80), to that.
#pragma once

#include <bit>
#include <cstdint>

namespace backplane::portable {

// How an 8- or 16-bit float is laid out.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  bool has_infinity;
  bool fnuz;  // NaN is the negative zero
};

// The value of `bits`.
[[nodiscard]] float decode_float(uint32_t bits, const FloatFormat& format);
// The nearest value's bits.
[[nodiscard]] uint32_t encode_float(float value, const FloatFormat& format);

template <class Bits, int E, int M, int Bias, bool Infinity, bool Fnuz>
struct SmallFloat {
  static constexpr FloatFormat kFormat{E, M, Bias, Infinity, Fnuz};
  Bits bits;
  SmallFloat() = default;
  explicit SmallFloat(float value) : bits(static_cast<Bits>(encode_float(value, kFormat))) {}
  explicit operator float() const { return decode_float(bits, kFormat); }
};

using Float8E5M2 = SmallFloat<uint8_t, 5, 2, 15, true, false>;
using Float8E4M3Fn = SmallFloat<uint8_t, 4, 3, 7, false, false>;
using Float8E5M2Fnuz = SmallFloat<uint8_t, 5, 2, 16, false, true>;
using Float8E4M3Fnuz = SmallFloat<uint8_t, 4, 3, 8, false, true>;

struct Half {
  uint16_t bits;
  Half() = default;
  explicit Half(float value) : bits(encode(value)) {}
  explicit operator float() const;

 private:
  static uint16_t encode(float value);
};

struct BFloat16 {
  uint16_t bits;
  BFloat16() = default;
  explicit BFloat16(float value) {
    const auto u = std::bit_cast<uint32_t>(value);
    const bool is_nan = (u & 0x7fffffffU) > 0x7f800000U;
    bits = is_nan ? uint16_t{0x7fc0} : static_cast<uint16_t>((u + 0x7fffU + (u >> 16 & 1U)) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

// An exponent alone: 2^(bits - 127); 0xff is NaN. Zero and negative values become the smallest.
struct Float8E8M0 {
  uint8_t bits;
  Float8E8M0() = default;
  explicit Float8E8M0(float value);
  explicit operator float() const;
};

inline Half::operator float() const {
  const uint32_t sign = uint32_t{bits} >> 15 << 31;
  const uint32_t rest = bits & 0x7fffU;
  if (rest >= 0x7c00U) {
    return std::bit_cast<float>(sign | 0x7f800000U | (rest & 0x3ffU) << 13);
  }
  // Scaling by 2^112 moves the exponent and renormalizes subnormals in one exact product.
  const float magnitude = std::bit_cast<float>(rest << 13) * 0x1p112F;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

inline uint16_t Half::encode(float value) {
  const auto u = std::bit_cast<uint32_t>(value);
  const uint32_t sign = u >> 31 << 15;
  const uint32_t magnitude = u & 0x7fffffffU;
  if (magnitude > 0x7f800000U) {
    return static_cast<uint16_t>(sign | 0x7e00U);
  }
  if (magnitude >= 0x477ff000U) {  // 65520 and above round to infinity
    return static_cast<uint16_t>(sign | 0x7c00U);
  }
  if (magnitude < 0x38800000U) {
    // Adding 0.5 aligns a subnormal's last bit with float's: the addition rounds.
    const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(aligned) - 0x3f000000U));
  }
  const uint32_t rounded = magnitude + 0xfffU + (magnitude >> 13 & 1U) - (112U << 23);
  return static_cast<uint16_t>(sign | rounded >> 13);
}

}  // namespace backplane::portable
