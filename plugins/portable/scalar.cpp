#include "portable/scalar.hpp"

#include <cmath>
#include <limits>

namespace backplane::portable {

int64_t to_int64(double value) {
  // -2^63 is exact in double, 2^63 - 1 is not.
  return value >= -0x1p63 && value < 0x1p63 ? static_cast<int64_t>(value)
                                            : std::numeric_limits<int64_t>::min();
}

namespace {

struct Range {
  double low, high;  // inclusive
};

Range range_of(DType dtype) {
  using enum DType;
  switch (dtype) {
    case u8:
      return {-255, 255};  // c10 lets negative numbers wrap in unsigned types
    case u16:
      return {-65535, 65535};
    case u32:
      return {-4294967295.0, 4294967295.0};
    case u64:
      return {-0x1.fffffffffffffp63, 0x1.fffffffffffffp63};
    case i8:
      return {-128, 127};
    case i16:
      return {-32768, 32767};
    case i32:
      return {-0x1p31, 0x1p31 - 1};
    case i64:
      return {-0x1p63, 0x1p63 - 1024};
    case f16:
    case c32:
      return {-65504, 65504};
    case bf16:
      return {-0x1.fep127, 0x1.fep127};
    case f8e5m2:
    case f8e5m2fnuz:
      return {-57344, 57344};
    case f8e4m3fn:
      return {-448, 448};
    case f8e4m3fnuz:
      return {-240, 240};
    case f8e8m0fnu:
      return {0x1p-127, 0x1p127};
    case f64:
    case c128:
      return {std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
    default:
      return {-0x1.fffffep127, 0x1.fffffep127};
  }
}

using Type = std::optional<DType>;

// The type of a stronger class, unless a weaker one has a higher category.
Result<Type> combine(Type strong, Type weak) {
  if (!strong || !weak || is_complex(*strong)) {
    return strong ? strong : weak;
  }
  if (is_complex(*weak)) {
    if (kUnsigned.has(*strong)) {
      return weak;  // where promote() refuses
    }
    if (kFloat8s.has(*strong)) {
      BP_TRY(promote(*strong, *weak));
    }
  }
  if (is_floating(*strong)) {
    return Type(is_complex(*weak) ? complex_of(*strong) : *strong);
  }
  if (*strong == DType::boolean || is_floating(*weak) || is_complex(*weak)) {
    BP_ASSIGN_OR_RETURN(const DType both, promote(*strong, *weak));
    return Type(both);
  }
  return strong;
}

}  // namespace

Scalar Scalar::as(DType dtype) const {
  return dtype == DType::boolean ? Scalar(holds_integer() ? i_ != 0 : z_ != 0.0) : *this;
}

bool Scalar::fits(DType dtype) const {
  if (dtype == DType::boolean) {
    return true;
  }
  if (holds_integer()) {
    const Range range = range_of(dtype);
    const auto value = static_cast<double>(i_);
    return dtype == DType::i64 || (value >= range.low && value <= range.high);
  }
  if (is_complex() && !portable::is_complex(dtype) && z_.imag() != 0) {
    return false;
  }
  const Range range = range_of(dtype);
  const double low = kUnsigned.has(dtype) || dtype == DType::u8 ? 0 : range.low;
  const bool infinite = !kFloat8s.has(dtype) || dtype == DType::f8e5m2;
  const bool float_target = portable::is_floating(dtype) || portable::is_complex(dtype);
  for (const double part : {z_.real(), z_.imag()}) {
    const bool special = std::isinf(part) || std::isnan(part);
    if (special ? !float_target || (std::isinf(part) && !infinite)
                : !(part >= low && part <= range.high)) {
      return false;
    }
  }
  return true;
}

Status ResultType::join(std::optional<DType>& state, DType dtype) {
  if (state) {
    BP_ASSIGN_OR_RETURN(dtype, promote(*state, dtype));
  }
  state = dtype;
  return Ok{};
}

Status ResultType::add(const Tensor& tensor) {
  return join(tensor.dim() > 0 ? dims_ : zero_dim_, tensor.dtype());
}

Status ResultType::add(DType dtype) {
  return join(dims_, dtype);
}

Status ResultType::add_zero_dim(DType dtype) {
  return join(zero_dim_, dtype);
}

Status ResultType::add(const Scalar& scalar) {
  DType dtype = scalar.dtype();
  if (scalar.is_floating() || scalar.is_complex()) {
    dtype = scalar.is_floating() ? DType::f32 : DType::c64;
  }
  return join(number_, dtype);
}

Result<DType> ResultType::get() const {
  BP_ASSIGN_OR_RETURN(const Type weaker, combine(zero_dim_, number_));
  BP_ASSIGN_OR_RETURN(const Type all, combine(dims_, weaker));
  return all.value_or(DType::f32);
}

}  // namespace backplane::portable
