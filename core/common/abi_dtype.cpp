#include "common/abi_dtype.hpp"

namespace backplane {
namespace {

struct Row {
  DType dtype;
  uint8_t code;
};

constexpr Row kRows[] = {
    {DType::u8, BP_DT_UINT},
    {DType::i8, BP_DT_INT},
    {DType::i16, BP_DT_INT},
    {DType::i32, BP_DT_INT},
    {DType::i64, BP_DT_INT},
    {DType::u16, BP_DT_UINT},
    {DType::u32, BP_DT_UINT},
    {DType::u64, BP_DT_UINT},
    {DType::f16, BP_DT_FLOAT},
    {DType::f32, BP_DT_FLOAT},
    {DType::f64, BP_DT_FLOAT},
    {DType::bf16, BP_DT_BFLOAT},
    {DType::c32, BP_DT_COMPLEX},
    {DType::c64, BP_DT_COMPLEX},
    {DType::c128, BP_DT_COMPLEX},
    {DType::boolean, BP_DT_BOOL},
    {DType::f8e5m2, BP_DT_F8E5M2},
    {DType::f8e5m2fnuz, BP_DT_F8E5M2FNUZ},
    {DType::f8e4m3fn, BP_DT_F8E4M3FN},
    {DType::f8e4m3fnuz, BP_DT_F8E4M3FNUZ},
    {DType::f8e8m0fnu, BP_DT_F8E8M0FNU},
};

}  // namespace

bp_dtype_t abi_dtype(DType dtype) {
  for (const Row& row : kRows) {
    if (row.dtype == dtype) return {row.code, static_cast<uint8_t>(size_of(dtype) * 8), 1};
  }
  return {};
}

std::optional<DType> dtype_from_abi(bp_dtype_t dtype) {
  for (const Row& row : kRows) {
    if (row.code == dtype.code && size_of(row.dtype) * 8 == dtype.bits && dtype.lanes == 1) {
      return row.dtype;
    }
  }
  return std::nullopt;
}

}  // namespace backplane
