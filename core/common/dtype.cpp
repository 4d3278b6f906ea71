#include <backplane/dtype.hpp>

#include <algorithm>
#include <array>

namespace backplane {
namespace {

struct Entry {
  DType dtype;
  uint8_t size;
  std::string_view name;
};

constexpr std::array kEntries = {
    Entry{DType::u8, 1, "uint8"},
    Entry{DType::i8, 1, "int8"},
    Entry{DType::i16, 2, "int16"},
    Entry{DType::i32, 4, "int32"},
    Entry{DType::i64, 8, "int64"},
    Entry{DType::f16, 2, "float16"},
    Entry{DType::f32, 4, "float32"},
    Entry{DType::f64, 8, "float64"},
    Entry{DType::c32, 4, "complex32"},
    Entry{DType::c64, 8, "complex64"},
    Entry{DType::c128, 16, "complex128"},
    Entry{DType::boolean, 1, "bool"},
    Entry{DType::bf16, 2, "bfloat16"},
    Entry{DType::f8e5m2, 1, "float8_e5m2"},
    Entry{DType::f8e4m3fn, 1, "float8_e4m3fn"},
    Entry{DType::f8e5m2fnuz, 1, "float8_e5m2fnuz"},
    Entry{DType::f8e4m3fnuz, 1, "float8_e4m3fnuz"},
    Entry{DType::u16, 2, "uint16"},
    Entry{DType::u32, 4, "uint32"},
    Entry{DType::u64, 8, "uint64"},
    Entry{DType::f8e8m0fnu, 1, "float8_e8m0fnu"},
};

const Entry& entry(DType dtype) {
  const auto* found = std::find_if(kEntries.begin(), kEntries.end(),
                                   [&](const Entry& e) { return e.dtype == dtype; });
  return found == kEntries.end() ? kEntries[0] : *found;
}

}  // namespace

size_t size_of(DType dtype) { return entry(dtype).size; }
std::string_view name_of(DType dtype) { return entry(dtype).name; }

std::optional<DType> dtype_from_number(int64_t number) {
  for (const Entry& e : kEntries) {
    if (static_cast<int64_t>(e.dtype) == number) return e.dtype;
  }
  return std::nullopt;
}

bool is_floating(DType dtype) {
  switch (dtype) {
    using enum DType;
    case f16: case f32: case f64: case bf16:
    case f8e5m2: case f8e4m3fn: case f8e5m2fnuz: case f8e4m3fnuz: case f8e8m0fnu:
      return true;
    default:
      return false;
  }
}

bool is_complex(DType dtype) {
  return dtype == DType::c32 || dtype == DType::c64 || dtype == DType::c128;
}

bool is_integral(DType dtype) {
  return !is_floating(dtype) && !is_complex(dtype) && dtype != DType::boolean;
}

}  // namespace backplane
