#include "portable/convert.hpp"

#include <array>
#include <cstring>
#include <type_traits>

#include "portable/scalar.hpp"
#include "portable/small_float.hpp"

namespace backplane::portable {
namespace {

template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {};

struct ComplexHalf {
  Half real, imag;
};

template <class T>
constexpr bool kIsSmall =
    std::is_same_v<T, Half> || std::is_same_v<T, BFloat16> || std::is_same_v<T, Float8E5M2> ||
    std::is_same_v<T, Float8E4M3Fn> || std::is_same_v<T, Float8E5M2Fnuz> ||
    std::is_same_v<T, Float8E4M3Fnuz> || std::is_same_v<T, Float8E8M0>;

template <class To>
To cut(double value) {
  if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_same_v<To, uint64_t>) {
    return value >= 0x1p63 && value < 0x1p64 ? static_cast<uint64_t>(value)
                                             : static_cast<uint64_t>(to_int64(value));
  } else if constexpr (sizeof(To) == 8 || std::is_same_v<To, uint32_t> ||
                       std::is_same_v<To, uint8_t>) {
    return static_cast<To>(to_int64(value));
  } else {  // through 32 bits, as the processor does
    return static_cast<To>(value > -0x1p31 - 1 && value < 0x1p31 ? static_cast<int32_t>(value)
                                                                 : INT32_MIN);
  }
}

template <class To, class From>
To cast(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (std::is_same_v<From, ComplexHalf>) {
    return cast<To>(Complex64(static_cast<float>(value.real), static_cast<float>(value.imag)));
  } else if constexpr (kIsSmall<From>) {
    return cast<To>(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, ComplexHalf>) {
    const auto z = cast<Complex64>(value);
    return {Half(z.real()), Half(z.imag())};
  } else if constexpr (kIsSmall<To>) {
    return To(cast<float>(value));
  } else if constexpr (IsComplex<To>::value && IsComplex<From>::value) {
    return To(value);
  } else if constexpr (IsComplex<From>::value) {
    if constexpr (std::is_same_v<To, bool>) {
      return value != From(0);
    } else {
      return cast<To>(value.real());
    }
  } else if constexpr (IsComplex<To>::value) {
    return To(cast<typename To::value_type>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return cut<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

// Calls f with a null pointer to the C++ type of a dtype's elements.
template <class F>
auto with_element(DType dtype, F&& f) {
  using enum DType;
  switch (dtype) {
    case u8:
      return f(static_cast<uint8_t*>(nullptr));
    case i8:
      return f(static_cast<int8_t*>(nullptr));
    case i16:
      return f(static_cast<int16_t*>(nullptr));
    case i32:
      return f(static_cast<int32_t*>(nullptr));
    case i64:
      return f(static_cast<int64_t*>(nullptr));
    case f16:
      return f(static_cast<Half*>(nullptr));
    case f64:
      return f(static_cast<double*>(nullptr));
    case c32:
      return f(static_cast<ComplexHalf*>(nullptr));
    case c64:
      return f(static_cast<Complex64*>(nullptr));
    case c128:
      return f(static_cast<Complex128*>(nullptr));
    case boolean:
      return f(static_cast<bool*>(nullptr));
    case bf16:
      return f(static_cast<BFloat16*>(nullptr));
    case f8e5m2:
      return f(static_cast<Float8E5M2*>(nullptr));
    case f8e4m3fn:
      return f(static_cast<Float8E4M3Fn*>(nullptr));
    case f8e5m2fnuz:
      return f(static_cast<Float8E5M2Fnuz*>(nullptr));
    case f8e4m3fnuz:
      return f(static_cast<Float8E4M3Fnuz*>(nullptr));
    case u16:
      return f(static_cast<uint16_t*>(nullptr));
    case u32:
      return f(static_cast<uint32_t*>(nullptr));
    case u64:
      return f(static_cast<uint64_t*>(nullptr));
    case f8e8m0fnu:
      return f(static_cast<Float8E8M0*>(nullptr));
    default:
      return f(static_cast<float*>(nullptr));
  }
}

// One element out of memory of any alignment; a bool is any byte but zero.
template <class T>
T get(const std::byte* memory) {
  if constexpr (std::is_same_v<T, bool>) {
    return *memory != std::byte{0};
  } else {
    T value;
    std::memcpy(static_cast<void*>(&value), memory, sizeof(T));
    return value;
  }
}

template <class To, class From>
void load_run(void* to, const std::byte* memory, int64_t stride, int64_t n) {
  auto* const out = static_cast<To*>(to);
  const int64_t step = stride * static_cast<int64_t>(sizeof(From));
  for (int64_t i = 0; i < n; ++i) {
    out[i] = cast<To>(get<From>(memory + i * step));
  }
}

template <class From, class To>
void store_run(const void* from, std::byte* memory, int64_t stride, int64_t n) {
  const auto* const in = static_cast<const From*>(from);
  const int64_t step = stride * static_cast<int64_t>(sizeof(To));
  for (int64_t i = 0; i < n; ++i) {
    const To value = cast<To>(in[i]);
    std::memcpy(memory + i * step, &value, sizeof(To));
  }
}

using Load = void (*)(void*, const std::byte*, int64_t, int64_t);
using Store = void (*)(const void*, std::byte*, int64_t, int64_t);

template <class To>
Load load_of(DType from) {
  return with_element(
      from, [](auto* p) -> Load { return load_run<To, std::remove_pointer_t<decltype(p)>>; });
}

template <class From>
Store store_of(DType to) {
  return with_element(
      to, [](auto* p) -> Store { return store_run<From, std::remove_pointer_t<decltype(p)>>; });
}

Load find_load(Compute compute, DType from) {
  switch (compute) {
    case Compute::f32:
      return load_of<float>(from);
    case Compute::f64:
      return load_of<double>(from);
    case Compute::i64:
      return load_of<int64_t>(from);
    case Compute::u64:
      return load_of<uint64_t>(from);
    case Compute::c64:
      return load_of<Complex64>(from);
    case Compute::c128:
      return load_of<Complex128>(from);
  }
  return nullptr;
}

Store find_store(DType from, DType to) {
  if (from == DType::boolean) {
    return store_of<bool>(to);
  }
  switch (compute_of(from)) {
    case Compute::f32:
      return store_of<float>(to);
    case Compute::f64:
      return store_of<double>(to);
    case Compute::i64:
      return store_of<int64_t>(to);
    case Compute::u64:
      return store_of<uint64_t>(to);
    case Compute::c64:
      return store_of<Complex64>(to);
    case Compute::c128:
      return store_of<Complex128>(to);
  }
  return nullptr;
}

}  // namespace

void load(Compute compute, void* to, DType from, const std::byte* memory, int64_t stride,
          int64_t n) {
  find_load(compute, from)(to, memory, stride, n);
}

void store(DType from, const void* strip, DType to, std::byte* memory, int64_t stride, int64_t n) {
  find_store(from, to)(strip, memory, stride, n);
}

Scalar item(const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  if (is_complex(dtype)) {
    Complex128 z;
    load(&z, dtype, tensor.bytes(), 1, 1);
    return Scalar(z);
  }
  if (is_floating(dtype)) {
    double x = 0;
    load(&x, dtype, tensor.bytes(), 1, 1);
    return Scalar(x);
  }
  int64_t i = 0;
  load(&i, dtype, tensor.bytes(), 1, 1);
  return dtype == DType::boolean ? Scalar(i != 0) : Scalar(i);
}

void round_to(DType dtype, void* strip, int64_t n) {
  const DType native = native_of(dtype);
  if (dtype == native || dtype == DType::boolean) {
    if (dtype == DType::boolean) {
      auto* const values = static_cast<int64_t*>(strip);
      for (int64_t i = 0; i < n; ++i) {
        values[i] = values[i] != 0 ? 1 : 0;
      }
    }
    return;
  }
  std::array<std::byte, kStrip * 8> narrow;  // NOLINT: filled by store
  const int64_t width = size_of(native);
  for (int64_t i = 0; i < n; i += kStrip) {
    const int64_t count = n - i < kStrip ? n - i : kStrip;
    auto* const part = static_cast<std::byte*>(strip) + i * width;
    store(native, part, dtype, narrow.data(), 1, count);
    load(compute_of(dtype), part, dtype, narrow.data(), 1, count);
  }
}

}  // namespace backplane::portable
