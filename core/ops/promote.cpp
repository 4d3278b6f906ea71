#include <algorithm>
#include <array>

#include "ops/meta.hpp"

namespace backplane::ops {
namespace {

enum Category : uint8_t { boolean, integer, floating, complex };

Category category(DType dtype) {
  if (is_complex(dtype)) return complex;
  if (is_floating(dtype)) return floating;
  return dtype == DType::boolean ? boolean : integer;
}

// Where a type stands among those that promote by order alone; -1 if not there.
int rank(DType dtype) {
  using enum DType;
  constexpr std::array kOrder = {DType::boolean, u8,  i8,  i16, i32, i64, f16,
                                 bf16,           f32, f64, c32, c64, c128};
  const auto* found = std::find(kOrder.begin(), kOrder.end(), dtype);
  return found == kOrder.end() ? -1 : static_cast<int>(found - kOrder.begin());
}

DType to_complex(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return DType::c32;
    case DType::f64:
      return DType::c128;
    default:
      return DType::c64;
  }
}

using Maybe = std::optional<DType>;

// Nothing is the neutral element here.
Maybe combined(Maybe higher, Maybe lower, bool& failed) {
  if (!higher || !lower) return higher ? higher : lower;
  if (category(*higher) == complex) return higher;
  if (category(*higher) == floating) {
    return category(*lower) == complex ? to_complex(*higher) : *higher;
  }
  if (*higher != DType::boolean && category(*lower) <= integer) return higher;
  const Maybe both = promote(*higher, *lower);
  failed |= !both;
  return both;
}

}  // namespace

std::optional<DType> promote(DType a, DType b) {
  if (a == b) return a;
  if (rank(a) > rank(b)) std::swap(a, b);
  const bool is_wide_unsigned = a == DType::u16 || a == DType::u32 || a == DType::u64;
  if (rank(b) < 0 || (rank(a) < 0 && !is_wide_unsigned)) return std::nullopt;
  if (is_wide_unsigned) return category(b) == floating ? Maybe(b) : std::nullopt;
  if (a == DType::u8 && b == DType::i8) return DType::i16;
  if (a == DType::f16 && b == DType::bf16) return DType::f32;
  if (category(b) == complex && category(a) == floating) {
    return rank(to_complex(a)) > rank(b) ? to_complex(a) : b;
  }
  return b;
}

std::optional<DType> result_type(std::span<const PromotedOperand> operands) {
  Maybe by_dims;
  Maybe by_zero_dim;
  Maybe by_scalar;
  bool failed = false;
  for (const PromotedOperand& operand : operands) {
    DType dtype = operand.dtype;
    Maybe& kind = operand.is_scalar ? by_scalar : operand.is_zero_dim ? by_zero_dim : by_dims;
    if (operand.is_scalar && dtype == DType::f64) dtype = DType::f32;  // torch's default dtype
    if (operand.is_scalar && dtype == DType::c128) dtype = DType::c64;
    const Maybe both = kind ? promote(*kind, dtype) : Maybe(dtype);
    if (!both) return std::nullopt;
    kind = both;
  }
  const Maybe result = combined(by_dims, combined(by_zero_dim, by_scalar, failed), failed);
  return failed ? std::nullopt : result;
}

}  // namespace backplane::ops
