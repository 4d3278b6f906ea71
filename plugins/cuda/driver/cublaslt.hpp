// cuBLASLt: matrix products with bias, activation and addition. Our own declarations of the part
// that is used; a test compares them with the Toolkit's headers where those are.
#pragma once

#include <backplane/result.hpp>

#include <span>
#include <string>
#include <string_view>

#include "cuda/driver/cuda_types.hpp"

namespace backplane::cuda {

using LtHandle = struct LtContext*;
using LtMatmul = struct LtMatmulObject*;
using LtLayout = struct LtLayoutObject*;
using LtPreference = struct LtPreferenceObject*;

enum LtStatus : int {
  kLtSuccess = 0,
  kLtNotInitialized = 1,
  kLtAllocFailed = 3,
  kLtInvalidValue = 7,
  kLtArchMismatch = 8,
  kLtExecutionFailed = 13,
  kLtInternalError = 14,
  kLtNotSupported = 15
};

enum LtCompute : int {
  kLtCompute32F = 68,
  kLtCompute32FPedantic = 69,
  kLtComputeTf32 = 77,
  kLtCompute64F = 70
};
enum LtType : int { kLtF32 = 0, kLtF64 = 1, kLtF16 = 2, kLtBf16 = 14 };
enum LtOperation : int { kLtAsIs = 0, kLtTransposed = 1 };
enum LtOrder : int { kLtColumnMajor = 0, kLtRowMajor = 1 };

enum LtMatmulAttribute : int {
  kLtTransposeA = 3,
  kLtTransposeB = 4,
  kLtEpilogueKind = 7,
  kLtBiasPointer = 8,
  kLtBiasType = 26
};
enum LtEpilogue : unsigned {
  kLtPlain = 1,
  kLtRelu = 2,
  kLtBias = 4,
  kLtGeluTanh = 32
};  // to be or-ed
enum LtLayoutAttribute : int { kLtLayoutOrder = 1, kLtBatchCount = 5, kLtBatchStride = 6 };
enum LtPreferenceAttribute : int {
  kLtMaxWorkspace = 1,
  kLtAlignmentA = 5,
  kLtAlignmentB = 6,
  kLtAlignmentC = 7,
  kLtAlignmentD = 8
};

struct LtAlgorithm {
  uint64_t data[8];
};
struct LtChoice {
  LtAlgorithm algorithm;
  size_t workspace_bytes;
  LtStatus status;
  float waves;
  int reserved[4];
};

struct CublasLt {
  // unavailable: the library is not here.
  static Result<CublasLt> open(std::span<const std::string> folders);

  size_t version = 0;  // 130100 for 13.1

  size_t (*get_version)();
  const char* (*get_status_name)(LtStatus);
  LtStatus (*create)(LtHandle*);
  LtStatus (*destroy)(LtHandle);
  LtStatus (*matmul_create)(LtMatmul*, LtCompute, LtType scale);
  LtStatus (*matmul_destroy)(LtMatmul);
  LtStatus (*matmul_set)(LtMatmul, LtMatmulAttribute, const void*, size_t);
  LtStatus (*layout_create)(LtLayout*, LtType, uint64_t rows, uint64_t columns, int64_t leading);
  LtStatus (*layout_destroy)(LtLayout);
  LtStatus (*layout_set)(LtLayout, LtLayoutAttribute, const void*, size_t);
  LtStatus (*preference_create)(LtPreference*);
  LtStatus (*preference_destroy)(LtPreference);
  LtStatus (*preference_set)(LtPreference, LtPreferenceAttribute, const void*, size_t);
  LtStatus (*choose)(LtHandle, LtMatmul, LtLayout a, LtLayout b, LtLayout c, LtLayout d,
                     LtPreference, int wanted, LtChoice*, int* found);
  LtStatus (*matmul)(LtHandle, LtMatmul, const void* alpha, const void* a, LtLayout, const void* b,
                     LtLayout, const void* beta, const void* c, LtLayout, void* d, LtLayout,
                     const LtAlgorithm*, void* workspace, size_t workspace_bytes, CuStream);

  [[nodiscard]] Status check(LtStatus status, std::string_view what) const;
};

}  // namespace backplane::cuda
