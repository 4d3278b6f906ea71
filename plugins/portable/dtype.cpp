#include "portable/dtype.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace backplane::portable {
namespace {

// DLPack's type codes.
enum : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kComplexCode = 5, kBoolCode = 6 };

struct Entry {
  DType dtype;
  bp_dtype_t dlpack;
  std::string_view name;
  Compute compute;
};

using enum DType;
constexpr std::array kTable = {
    Entry{u8, {kUInt, 8, 1}, "Byte", Compute::i64},
    Entry{i8, {kInt, 8, 1}, "Char", Compute::i64},
    Entry{i16, {kInt, 16, 1}, "Short", Compute::i64},
    Entry{i32, {kInt, 32, 1}, "Int", Compute::i64},
    Entry{i64, {kInt, 64, 1}, "Long", Compute::i64},
    Entry{f16, {kFloat, 16, 1}, "Half", Compute::f32},
    Entry{f32, {kFloat, 32, 1}, "Float", Compute::f32},
    Entry{f64, {kFloat, 64, 1}, "Double", Compute::f64},
    Entry{c32, {kComplexCode, 32, 1}, "ComplexHalf", Compute::c64},
    Entry{c64, {kComplexCode, 64, 1}, "ComplexFloat", Compute::c64},
    Entry{c128, {kComplexCode, 128, 1}, "ComplexDouble", Compute::c128},
    Entry{boolean, {kBoolCode, 8, 1}, "Bool", Compute::i64},
    Entry{bf16, {kBFloat, 16, 1}, "BFloat16", Compute::f32},
    Entry{f8e5m2, {12, 8, 1}, "Float8_e5m2", Compute::f32},
    Entry{f8e4m3fn, {10, 8, 1}, "Float8_e4m3fn", Compute::f32},
    Entry{f8e5m2fnuz, {13, 8, 1}, "Float8_e5m2fnuz", Compute::f32},
    Entry{f8e4m3fnuz, {11, 8, 1}, "Float8_e4m3fnuz", Compute::f32},
    Entry{u16, {kUInt, 16, 1}, "UInt16", Compute::i64},
    Entry{u32, {kUInt, 32, 1}, "UInt32", Compute::i64},
    Entry{u64, {kUInt, 64, 1}, "UInt64", Compute::u64},
    Entry{f8e8m0fnu, {14, 8, 1}, "Float8_e8m0fnu", Compute::f32},
};

const Entry& entry_of(DType dtype) {
  return *std::find_if(kTable.begin(), kTable.end(),
                       [dtype](const Entry& e) { return e.dtype == dtype; });
}

// The width of a float or complex type among its kind: half types 1, single 2, double 3.
int width_of(DType dtype) {
  switch (dtype) {
    case f32:
    case c64:
      return 2;
    case f64:
    case c128:
      return 3;
    default:
      return 1;
  }
}

DType promote_floats(DType a, DType b) {
  if (width_of(a) != width_of(b)) {
    return width_of(a) > width_of(b) ? a : b;
  }
  return f32;  // float16 with bfloat16
}

DType promote_integers(DType a, DType b) {
  if (a == boolean || b == boolean) {
    return a == boolean ? b : a;
  }
  if (a == u8 || b == u8) {
    const DType other = a == u8 ? b : a;
    return other == i8 ? i16 : other;
  }
  return std::max(a, b);  // c10 numbers the signed types by width
}

}  // namespace

int64_t size_of(DType dtype) {
  return entry_of(dtype).dlpack.bits / 8;
}
std::string_view name_of(DType dtype) {
  return entry_of(dtype).name;
}
Compute compute_of(DType dtype) {
  return entry_of(dtype).compute;
}
bp_dtype_t to_dlpack(DType dtype) {
  return entry_of(dtype).dlpack;
}

std::optional<DType> from_number(int64_t c10_number) {
  for (const Entry& e : kTable) {
    if (static_cast<int64_t>(e.dtype) == c10_number) {
      return e.dtype;
    }
  }
  return std::nullopt;
}

std::optional<DType> from_dlpack(bp_dtype_t dtype) {
  for (const Entry& e : kTable) {
    if (e.dlpack.code == dtype.code && e.dlpack.bits == dtype.bits && dtype.lanes == 1) {
      return e.dtype;
    }
  }
  return std::nullopt;
}

DType native_of(DType dtype) {
  switch (compute_of(dtype)) {
    case Compute::f32:
      return f32;
    case Compute::f64:
      return f64;
    case Compute::i64:
      return i64;
    case Compute::u64:
      return u64;
    case Compute::c64:
      return c64;
    case Compute::c128:
      return c128;
  }
  return f32;
}

DType complex_of(DType dtype) {
  switch (dtype) {
    case f16:
      return c32;
    case f64:
      return c128;
    default:
      return is_complex(dtype) ? dtype : c64;
  }
}

DType real_of(DType dtype) {
  switch (dtype) {
    case c32:
      return f16;
    case c64:
      return f32;
    case c128:
      return f64;
    default:
      return dtype;
  }
}

Result<DType> promote(DType a, DType b) {
  if (a == b) {
    return a;
  }
  const auto refuse = [&](std::string_view which) -> Error {
    return {Code::invalid_argument, "promotion for " + std::string(which) +
                                        " types is not supported, attempted to promote " +
                                        std::string(name_of(a)) + " and " +
                                        std::string(name_of(b))};
  };
  if (kFloat8s.has(a) || kFloat8s.has(b)) {
    return refuse("Float8");
  }
  if (kUnsigned.has(a) || kUnsigned.has(b)) {
    const DType other = kUnsigned.has(a) ? b : a;
    return is_floating(other) ? Result<DType>(other) : refuse("uint16, uint32, uint64");
  }
  if (is_complex(a) || is_complex(b)) {
    const auto as_complex = [](DType d) {
      if (is_complex(d)) {
        return d;
      }
      return is_floating(d) ? complex_of(d) : c32;  // integers adapt to the other's width
    };
    const DType ca = as_complex(a), cb = as_complex(b);
    return width_of(ca) > width_of(cb) ? ca : cb;
  }
  if (is_floating(a) && is_floating(b)) {
    return promote_floats(a, b);
  }
  if (is_floating(a) || is_floating(b)) {
    return is_floating(a) ? a : b;
  }
  return promote_integers(a, b);
}

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) {
    return false;
  }
  if (is_floating(from) && (is_integral(to) || to == boolean)) {
    return false;
  }
  return from == boolean || to != boolean;
}

}  // namespace backplane::portable
