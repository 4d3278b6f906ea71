// Element types: c10's numbers, sets of them, c10's promotion rules and the types that compute.
//
// A kernel computes in one of six types only (Compute): half-width floats in float, every integer
// and bool in int64_t. Values are converted while they are read and narrowed while they are
// written, so a family is compiled for a handful of types and still serves all of them.
#pragma once

#include <backplane/plugin.h>
#include <backplane/result.hpp>

#include <complex>
#include <cstdint>
#include <optional>
#include <string_view>

namespace backplane::portable {

enum class DType : uint8_t {
  u8 = 0,
  i8 = 1,
  i16 = 2,
  i32 = 3,
  i64 = 4,
  f16 = 5,
  f32 = 6,
  f64 = 7,
  c32 = 8,
  c64 = 9,
  c128 = 10,
  boolean = 11,
  bf16 = 15,
  f8e5m2 = 23,
  f8e4m3fn = 24,
  f8e5m2fnuz = 25,
  f8e4m3fnuz = 26,
  u16 = 27,
  u32 = 28,
  u64 = 29,
  f8e8m0fnu = 44,
};

// A set of element types; `a | b` unites, `a - b` removes.
struct DTypes {
  uint64_t bits = 0;
  [[nodiscard]] constexpr bool has(DType dtype) const {
    return (bits >> static_cast<unsigned>(dtype) & 1) != 0;
  }
};
template <class... D>
constexpr DTypes set_of(D... dtypes) {
  return {((uint64_t{1} << static_cast<unsigned>(dtypes)) | ... | uint64_t{0})};
}
constexpr DTypes operator|(DTypes a, DTypes b) {
  return {a.bits | b.bits};
}
constexpr DTypes operator-(DTypes a, DTypes b) {
  return {a.bits & ~b.bits};
}

constexpr DTypes kBool = set_of(DType::boolean);
constexpr DTypes kInts = set_of(DType::u8, DType::i8, DType::i16, DType::i32, DType::i64);
constexpr DTypes kUnsigned = set_of(DType::u16, DType::u32, DType::u64);  // c10's "barebones"
constexpr DTypes kHalfs = set_of(DType::f16, DType::bf16);
constexpr DTypes kFloats = set_of(DType::f32, DType::f64) | kHalfs;
constexpr DTypes kFloat8s =
    set_of(DType::f8e5m2, DType::f8e4m3fn, DType::f8e5m2fnuz, DType::f8e4m3fnuz, DType::f8e8m0fnu);
constexpr DTypes kComplex = set_of(DType::c64, DType::c128);
constexpr DTypes kReals = kInts | kFloats;  // what most kernels take
constexpr DTypes kNumbers = kReals | kBool | kComplex;
constexpr DTypes kAll = kNumbers | kUnsigned | kFloat8s | set_of(DType::c32);

[[nodiscard]] int64_t size_of(DType dtype);           // bytes of one element
[[nodiscard]] std::string_view name_of(DType dtype);  // as PyTorch's errors say it: "Float", "Long"
[[nodiscard]] std::optional<DType> from_number(int64_t c10_number);
[[nodiscard]] std::optional<DType> from_dlpack(bp_dtype_t dtype);
[[nodiscard]] bp_dtype_t to_dlpack(DType dtype);

[[nodiscard]] constexpr bool is_floating(DType d) {
  return (kFloats | kFloat8s).has(d);
}
[[nodiscard]] constexpr bool is_complex(DType d) {
  return (kComplex | set_of(DType::c32)).has(d);
}
[[nodiscard]] constexpr bool is_integral(DType d) {
  return (kInts | kUnsigned).has(d);
}  // not bool

// float32 -> complex64 and so on; the type itself if it is complex. Its inverse.
[[nodiscard]] DType complex_of(DType dtype);
[[nodiscard]] DType real_of(DType dtype);

// c10's promote_types. invalid_argument: float8 and unsigned types that do not promote.
[[nodiscard]] Result<DType> promote(DType a, DType b);
// c10's can_cast: never from complex to real, floating to integral, anything to bool.
[[nodiscard]] bool can_cast(DType from, DType to);

// The type that computes for a dtype.
enum class Compute : uint8_t { f32, f64, i64, u64, c64, c128 };
[[nodiscard]] Compute compute_of(DType dtype);

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

template <class T>
constexpr Compute kCompute = Compute::f32;
template <>
inline constexpr Compute kCompute<double> = Compute::f64;
template <>
inline constexpr Compute kCompute<int64_t> = Compute::i64;
template <>
inline constexpr Compute kCompute<uint64_t> = Compute::u64;
template <>
inline constexpr Compute kCompute<Complex64> = Compute::c64;
template <>
inline constexpr Compute kCompute<Complex128> = Compute::c128;

// The dtype whose elements are exactly T's.
template <class T>
constexpr DType kNative = DType::f32;
template <>
inline constexpr DType kNative<double> = DType::f64;
template <>
inline constexpr DType kNative<int64_t> = DType::i64;
template <>
inline constexpr DType kNative<uint64_t> = DType::u64;
template <>
inline constexpr DType kNative<Complex64> = DType::c64;
template <>
inline constexpr DType kNative<Complex128> = DType::c128;
template <>
inline constexpr DType kNative<bool> = DType::boolean;

// The native dtype of compute_of(dtype).
[[nodiscard]] DType native_of(DType dtype);

}  // namespace backplane::portable
