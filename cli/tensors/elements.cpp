#include "tensors/elements.hpp"

#include <bit>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace backplane::cli {
namespace {

// How a float of 8 or 16 bits is laid out. `finite`: no infinities, NaN is all bits set;
// `one_zero`: no infinities nor minus zero, whose pattern is NaN.
enum class Special : uint8_t { ieee, finite, one_zero };
struct FloatLayout {
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Special special;
};

constexpr FloatLayout layout_of(DType dtype) {
  switch (dtype) {
    using enum DType;
    case f16:
    case c32:
      return {5, 10, 15, Special::ieee};
    case bf16:
      return {8, 7, 127, Special::ieee};
    case f8e5m2:
      return {5, 2, 15, Special::ieee};
    case f8e4m3fn:
      return {4, 3, 7, Special::finite};
    case f8e5m2fnuz:
      return {5, 2, 16, Special::one_zero};
    default:
      assert(dtype == f8e4m3fnuz);
      return {4, 3, 8, Special::one_zero};
  }
}

double decode(uint32_t bits, const FloatLayout& layout) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const uint32_t sign_bit = 1U << (layout.exponent_bits + layout.mantissa_bits);
  const uint32_t mantissa = bits & ((1U << layout.mantissa_bits) - 1);
  const uint32_t all_ones = (1U << layout.exponent_bits) - 1;
  const uint32_t exponent = (bits >> layout.mantissa_bits) & all_ones;
  const double sign = (bits & sign_bit) != 0 ? -1.0 : 1.0;
  if (layout.special == Special::one_zero && bits == sign_bit) return kNan;
  if (layout.special == Special::finite && (bits & ~sign_bit) == sign_bit - 1) return kNan;
  if (layout.special == Special::ieee && exponent == all_ones) {
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : kNan;
  }
  const int scale = -layout.bias - layout.mantissa_bits;
  if (exponent == 0) return sign * std::ldexp(static_cast<double>(mantissa), scale + 1);
  // The same fields, at double's places.
  const uint64_t wide_exponent = exponent + 1023U - static_cast<uint32_t>(layout.bias);
  return sign * std::bit_cast<double>(wide_exponent << 52 | uint64_t{mantissa}
                                                                << (52 - layout.mantissa_bits));
}

template <class T>
T load(const std::byte* data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void read(const std::byte* data, int64_t first, std::span<std::complex<double>> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<double>(load<T>(data, first + static_cast<int64_t>(i)));
  }
}

template <class T>
void read_complex(const std::byte* data, int64_t first, std::span<std::complex<double>> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t at = 2 * (first + static_cast<int64_t>(i));
    out[i] = {load<T>(data, at), load<T>(data, at + 1)};
  }
}

template <class Bits>
void read_small(DType dtype, const std::byte* data, int64_t first,
                std::span<std::complex<double>> out) {
  const FloatLayout layout = layout_of(dtype);
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t at = first + static_cast<int64_t>(i);
    if (dtype == DType::c32) {
      out[i] = {decode(load<Bits>(data, 2 * at), layout),
                decode(load<Bits>(data, 2 * at + 1), layout)};
    } else {
      out[i] = decode(load<Bits>(data, at), layout);
    }
  }
}

// Powers of two without sign: 2^(bits - 127).
void read_exponents(const std::byte* data, int64_t first, std::span<std::complex<double>> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    const auto bits = load<uint8_t>(data, first + static_cast<int64_t>(i));
    out[i] = bits == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, bits - 127);
  }
}

std::string format_double(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

}  // namespace

void read_elements(DType dtype, const std::byte* data, int64_t first,
                   std::span<std::complex<double>> out) {
  switch (dtype) {
    using enum DType;
    case u8:
    case boolean:
      return read<uint8_t>(data, first, out);
    case u16:
      return read<uint16_t>(data, first, out);
    case u32:
      return read<uint32_t>(data, first, out);
    case u64:
      return read<uint64_t>(data, first, out);
    case i8:
      return read<int8_t>(data, first, out);
    case i16:
      return read<int16_t>(data, first, out);
    case i32:
      return read<int32_t>(data, first, out);
    case i64:
      return read<int64_t>(data, first, out);
    case f32:
      return read<float>(data, first, out);
    case f64:
      return read<double>(data, first, out);
    case c64:
      return read_complex<float>(data, first, out);
    case c128:
      return read_complex<double>(data, first, out);
    case f16:
    case bf16:
    case c32:
      return read_small<uint16_t>(dtype, data, first, out);
    case f8e5m2:
    case f8e4m3fn:
    case f8e5m2fnuz:
    case f8e4m3fnuz:
      return read_small<uint8_t>(dtype, data, first, out);
    case f8e8m0fnu:
      return read_exponents(data, first, out);
  }
}

std::string format_element(DType dtype, const std::byte* data, int64_t index) {
  if (dtype == DType::i64) return std::to_string(load<int64_t>(data, index));
  if (dtype == DType::u64) return std::to_string(load<uint64_t>(data, index));
  std::complex<double> value;
  read_elements(dtype, data, index, {&value, 1});
  if (dtype == DType::boolean) return value.real() != 0 ? "true" : "false";
  // As many digits as tell two neighbours apart.
  const size_t width = size_of(dtype) / (is_complex(dtype) ? 2 : 1);
  const int digits = is_integral(dtype) ? 10 : width == 8 ? 17 : width == 4 ? 9 : 5;
  std::string text = format_double(value.real(), digits);
  if (is_complex(dtype)) {
    if (!std::signbit(value.imag())) text += '+';
    text += format_double(value.imag(), digits) + "i";
  }
  return text;
}

}  // namespace backplane::cli
