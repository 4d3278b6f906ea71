// Element types of tensors, with the numbers that `.pte` files and c10 use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace backplane {

enum class DType : uint8_t {
  u8 = 0, i8 = 1, i16 = 2, i32 = 3, i64 = 4,
  f16 = 5, f32 = 6, f64 = 7,
  c32 = 8, c64 = 9, c128 = 10,
  boolean = 11,
  bf16 = 15,
  f8e5m2 = 23, f8e4m3fn = 24, f8e5m2fnuz = 25, f8e4m3fnuz = 26,
  u16 = 27, u32 = 28, u64 = 29,
  f8e8m0fnu = 44,
};

// Bytes of one element.
[[nodiscard]] size_t size_of(DType dtype);

// "float32", "int64", "bool", …: the names that NumPy and PyTorch print.
[[nodiscard]] std::string_view name_of(DType dtype);

// The type of a c10 number, if it is one that is known here.
[[nodiscard]] std::optional<DType> dtype_from_number(int64_t number);

[[nodiscard]] bool is_floating(DType dtype);  // any width, complex not included
[[nodiscard]] bool is_complex(DType dtype);
[[nodiscard]] bool is_integral(DType dtype);  // boolean not included

}  // namespace backplane
