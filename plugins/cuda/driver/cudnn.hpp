// cuDNN 9's backend interface: graphs of operations, engines for them, plans. Our own declarations
// of the part that is used; a test compares them with cuDNN's headers where those are.
#pragma once

#include <backplane/result.hpp>

#include <span>
#include <string>
#include <string_view>

#include "cuda/driver/cuda_types.hpp"

namespace backplane::cuda {

using DnnHandle = struct DnnContext*;
using DnnDescriptor = void*;

enum DnnStatus : int {
  kDnnSuccess = 0
};  // thousands: 1 not ready, 2 bad, 3 unsupported, 4, 5 failed

enum DnnKind : int {
  kDnnPointwise = 0,
  kDnnConvolution = 1,
  kDnnEngine = 2,
  kDnnEngineConfig = 3,
  kDnnHeuristic = 4,
  kDnnPlan = 5,
  kDnnForwardConvolution = 10,
  kDnnBackwardDataConvolution = 12,
  kDnnPointwiseOperation = 13,
  kDnnGraph = 15,
  kDnnPack = 16,
  kDnnTensor = 17
};

enum DnnAttribute : int {
  kDnnPointwiseMode = 0,
  kDnnPointwisePrecision = 1,
  kDnnPointwiseLowerClip = 3,
  kDnnConvolutionCompute = 100,
  kDnnConvolutionMode = 101,
  kDnnConvolutionDilations = 102,
  kDnnConvolutionStrides = 103,
  kDnnConvolutionPostPads = 104,
  kDnnConvolutionPrePads = 105,
  kDnnConvolutionSpatialDims = 106,
  kDnnHeuristicMode = 200,
  kDnnHeuristicGraph = 201,
  kDnnHeuristicResults = 202,
  kDnnConfigEngine = 300,
  kDnnPlanHandle = 400,
  kDnnPlanConfig = 401,
  kDnnPlanWorkspace = 402,
  kDnnForwardAlpha = 700,
  kDnnForwardBeta = 701,
  kDnnForwardConvolutionOf = 702,
  kDnnForwardW = 703,
  kDnnForwardX = 704,
  kDnnForwardY = 705,
  kDnnBackwardAlpha = 706,
  kDnnBackwardBeta = 707,
  kDnnBackwardConvolutionOf = 708,
  kDnnBackwardW = 709,
  kDnnBackwardDx = 710,
  kDnnBackwardDy = 711,
  kDnnPointwiseOf = 750,
  kDnnPointwiseX = 751,
  kDnnPointwiseB = 752,
  kDnnPointwiseY = 753,
  kDnnGraphHandle = 800,
  kDnnGraphOperations = 801,
  kDnnTensorAlignment = 900,
  kDnnTensorType = 901,
  kDnnTensorDims = 902,
  kDnnTensorStrides = 903,
  kDnnTensorId = 906,
  kDnnTensorVirtual = 907,
  kDnnPackIds = 1000,
  kDnnPackPointers = 1001,
  kDnnPackWorkspace = 1003,
  kDnnEngineNumericalNote = 1303,
  kDnnEngineBehaviorNote = 1305
};

enum DnnAttributeType : int {
  kDnnTypeHandle = 0,
  kDnnTypeDataType = 1,
  kDnnTypeBool = 2,
  kDnnTypeInt64 = 3,
  kDnnTypeFloat = 4,
  kDnnTypeDouble = 5,
  kDnnTypePointer = 6,
  kDnnTypeConvolutionMode = 7,
  kDnnTypeHeuristicMode = 8,
  kDnnTypeNumericalNote = 11,
  kDnnTypePointwiseMode = 14,
  kDnnTypeDescriptor = 15,
  kDnnTypeBehaviorNote = 19
};

enum DnnData : int { kDnnF32 = 0, kDnnF64 = 1, kDnnF16 = 2, kDnnBf16 = 9, kDnnFastF32 = 14 };
enum DnnPointwise : int { kDnnAdd = 0, kDnnReluForward = 100 };
enum DnnConvolutionKind : int { kDnnCrossCorrelation = 1 };
enum DnnHeuristicKind : int { kDnnInstant = 0, kDnnModeB = 1, kDnnFallback = 2, kDnnModeA = 3 };

enum DnnNumericalNote : int {
  kDnnTensorCore = 0,
  kDnnDownConvertsInputs = 1,
  kDnnReducedPrecision = 2,
  kDnnNondeterministic = 4
};
enum DnnBehaviorNote : int { kDnnCompilesAtRunTime = 0 };

struct Cudnn {
  // unavailable: the library is not here.
  static Result<Cudnn> open(std::span<const std::string> folders);

  size_t version = 0;  // 91900 for 9.19

  size_t (*get_version)();
  const char* (*get_error_string)(DnnStatus);
  void (*get_last_error)(char* text, size_t size);
  DnnStatus (*create)(DnnHandle*);
  DnnStatus (*destroy)(DnnHandle);
  DnnStatus (*set_stream)(DnnHandle, CuStream);
  DnnStatus (*descriptor_create)(DnnKind, DnnDescriptor*);
  DnnStatus (*descriptor_destroy)(DnnDescriptor);
  DnnStatus (*descriptor_finalize)(DnnDescriptor);
  DnnStatus (*set)(DnnDescriptor, DnnAttribute, DnnAttributeType, int64_t count, const void*);
  DnnStatus (*get)(DnnDescriptor, DnnAttribute, DnnAttributeType, int64_t wanted, int64_t* count,
                   void*);
  DnnStatus (*execute)(DnnHandle, DnnDescriptor plan, DnnDescriptor pack);

  // Ok, or an Error with cuDNN's own last words.
  [[nodiscard]] Status check(DnnStatus status, std::string_view what) const;
};

}  // namespace backplane::cuda
