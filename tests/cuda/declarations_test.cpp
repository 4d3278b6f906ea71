// NVIDIA's interfaces as we declare them, against the headers of the CUDA Toolkit and cuDNN. The
// plugin is built without those; where they are, this says whether a call would go wrong.
#include <doctest/doctest.h>

#ifdef BACKPLANE_HAS_CUDA_HEADERS
#include <cublasLt.h>
#include <cuda.h>
#include <cudnn.h>

#include <cstddef>
#include <type_traits>

#include "cuda/driver/cublaslt.hpp"
#include "cuda/driver/cuda.hpp"
#include "cuda/driver/cudnn.hpp"

namespace backplane::cuda {
namespace {

// Passed in the same way: pointers, or numbers of one size.
template <class A, class B>
constexpr bool alike() {
  return std::is_pointer_v<A> == std::is_pointer_v<B> &&
         std::is_floating_point_v<A> == std::is_floating_point_v<B> && sizeof(A) == sizeof(B);
}
template <class R, class... A, class S, class... B>
constexpr bool same_call(R (*)(A...), S (*)(B...)) {
  if constexpr (sizeof...(A) != sizeof...(B) || std::is_void_v<R> != std::is_void_v<S>) {
    return false;
  } else if constexpr (std::is_void_v<R>) {
    return (alike<A, B>() && ...);
  } else {
    return alike<R, S>() && (alike<A, B>() && ...);
  }
}

#define SAME_CALL(ours, theirs) CHECK(same_call(decltype(ours)(nullptr), &(theirs)))
#define SAME_PLACE(our, member, their, theirs) \
  CHECK(offsetof(our, member) == offsetof(their, theirs))
#define SAME_NUMBER(ours, theirs) CHECK(static_cast<int>(ours) == static_cast<int>(theirs))

TEST_SUITE_BEGIN("cuda/declarations");

TEST_CASE("the driver's functions take what we pass") {
  SAME_CALL(Driver::init, cuInit);
  SAME_CALL(Driver::driver_get_version, cuDriverGetVersion);
  SAME_CALL(Driver::get_error_name, cuGetErrorName);
  SAME_CALL(Driver::get_error_string, cuGetErrorString);
  SAME_CALL(Driver::device_get_count, cuDeviceGetCount);
  SAME_CALL(Driver::device_get, cuDeviceGet);
  SAME_CALL(Driver::device_get_name, cuDeviceGetName);
  SAME_CALL(Driver::device_get_uuid, cuDeviceGetUuid);
  SAME_CALL(Driver::device_get_pci_bus_id, cuDeviceGetPCIBusId);
  SAME_CALL(Driver::device_total_mem, cuDeviceTotalMem);
  SAME_CALL(Driver::device_get_attribute, cuDeviceGetAttribute);
  SAME_CALL(Driver::device_primary_ctx_retain, cuDevicePrimaryCtxRetain);
  SAME_CALL(Driver::device_primary_ctx_release, cuDevicePrimaryCtxRelease);
  SAME_CALL(Driver::ctx_push_current, cuCtxPushCurrent);
  SAME_CALL(Driver::ctx_pop_current, cuCtxPopCurrent);
  SAME_CALL(Driver::mem_get_info, cuMemGetInfo);
  SAME_CALL(Driver::mem_alloc, cuMemAlloc);
  SAME_CALL(Driver::mem_free, cuMemFree);
  SAME_CALL(Driver::mem_alloc_async, cuMemAllocAsync);
  SAME_CALL(Driver::mem_free_async, cuMemFreeAsync);
  SAME_CALL(Driver::mem_alloc_managed, cuMemAllocManaged);
  SAME_CALL(Driver::mem_host_alloc, cuMemHostAlloc);
  SAME_CALL(Driver::mem_free_host, cuMemFreeHost);
  SAME_CALL(Driver::mem_host_register, cuMemHostRegister);
  SAME_CALL(Driver::mem_host_unregister, cuMemHostUnregister);
  SAME_CALL(Driver::mem_get_allocation_granularity, cuMemGetAllocationGranularity);
  SAME_CALL(Driver::mem_address_reserve, cuMemAddressReserve);
  SAME_CALL(Driver::mem_address_free, cuMemAddressFree);
  SAME_CALL(Driver::mem_create, cuMemCreate);
  SAME_CALL(Driver::mem_release, cuMemRelease);
  SAME_CALL(Driver::mem_map, cuMemMap);
  SAME_CALL(Driver::mem_unmap, cuMemUnmap);
  SAME_CALL(Driver::mem_set_access, cuMemSetAccess);
  SAME_CALL(Driver::pointer_get_attribute, cuPointerGetAttribute);
  SAME_CALL(Driver::memcpy_async, cuMemcpyAsync);
  SAME_CALL(Driver::memcpy_2d_async, cuMemcpy2DAsync);
  SAME_CALL(Driver::memset_d8_async, cuMemsetD8Async);
  SAME_CALL(Driver::memset_d16_async, cuMemsetD16Async);
  SAME_CALL(Driver::memset_d32_async, cuMemsetD32Async);
  SAME_CALL(Driver::thread_exchange_stream_capture_mode, cuThreadExchangeStreamCaptureMode);
  SAME_CALL(Driver::stream_create, cuStreamCreate);
  SAME_CALL(Driver::stream_destroy, cuStreamDestroy);
  SAME_CALL(Driver::stream_synchronize, cuStreamSynchronize);
  SAME_CALL(Driver::stream_wait_event, cuStreamWaitEvent);
  SAME_CALL(Driver::stream_begin_capture, cuStreamBeginCapture);
  SAME_CALL(Driver::stream_end_capture, cuStreamEndCapture);
  SAME_CALL(Driver::stream_is_capturing, cuStreamIsCapturing);
  SAME_CALL(Driver::stream_get_ctx, cuStreamGetCtx);
  SAME_CALL(Driver::stream_get_capture_info, cuStreamGetCaptureInfo_v3);
  SAME_CALL(Driver::event_create, cuEventCreate);
  SAME_CALL(Driver::event_destroy, cuEventDestroy);
  SAME_CALL(Driver::event_record, cuEventRecord);
  SAME_CALL(Driver::event_synchronize, cuEventSynchronize);
  SAME_CALL(Driver::event_elapsed_time, cuEventElapsedTime);
  SAME_CALL(Driver::library_load_data, cuLibraryLoadData);
  SAME_CALL(Driver::library_unload, cuLibraryUnload);
  SAME_CALL(Driver::library_get_kernel, cuLibraryGetKernel);
  SAME_CALL(Driver::kernel_get_function, cuKernelGetFunction);
  SAME_CALL(Driver::func_set_attribute, cuFuncSetAttribute);
  SAME_CALL(Driver::launch_kernel, cuLaunchKernelEx);
  SAME_CALL(Driver::graph_destroy, cuGraphDestroy);
  SAME_CALL(Driver::graph_instantiate, cuGraphInstantiateWithFlags);
  SAME_CALL(Driver::graph_exec_update, cuGraphExecUpdate);
  SAME_CALL(Driver::graph_exec_kernel_node_set_params, cuGraphExecKernelNodeSetParams);
  SAME_CALL(Driver::graph_exec_destroy, cuGraphExecDestroy);
  SAME_CALL(Driver::graph_launch, cuGraphLaunch);
}

TEST_CASE("the driver's structs have our layout") {
  CHECK(sizeof(CuUuid) == sizeof(CUuuid));
  CHECK(sizeof(CuLaunchAttribute) == sizeof(CUlaunchAttribute));
  SAME_PLACE(CuLaunchAttribute, value, CUlaunchAttribute, value);
  CHECK(sizeof(CuLaunchConfig) == sizeof(CUlaunchConfig));
  SAME_PLACE(CuLaunchConfig, stream, CUlaunchConfig, hStream);
  SAME_PLACE(CuLaunchConfig, attributes, CUlaunchConfig, attrs);
  CHECK(sizeof(CuKernelNodeParams) == sizeof(CUDA_KERNEL_NODE_PARAMS));
  SAME_PLACE(CuKernelNodeParams, params, CUDA_KERNEL_NODE_PARAMS, kernelParams);
  SAME_PLACE(CuKernelNodeParams, kernel, CUDA_KERNEL_NODE_PARAMS, kern);
  CHECK(sizeof(CuGraphEdge) == sizeof(CUgraphEdgeData));
  CHECK(sizeof(CuGraphUpdateResult) == sizeof(CUgraphExecUpdateResultInfo));
  CHECK(sizeof(CuCopy2D) == sizeof(CUDA_MEMCPY2D));
  SAME_PLACE(CuCopy2D, from_pitch, CUDA_MEMCPY2D, srcPitch);
  SAME_PLACE(CuCopy2D, to_device, CUDA_MEMCPY2D, dstDevice);
  SAME_PLACE(CuCopy2D, height, CUDA_MEMCPY2D, Height);
  CHECK(sizeof(CuPhysicalProperties) == sizeof(CUmemAllocationProp));
  SAME_PLACE(CuPhysicalProperties, location, CUmemAllocationProp, location);
  CHECK(sizeof(CuAccess) == sizeof(CUmemAccessDesc));
}

TEST_CASE("the driver's numbers are ours") {
  SAME_NUMBER(kCuOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  SAME_NUMBER(kCuStubLibrary, CUDA_ERROR_STUB_LIBRARY);
  SAME_NUMBER(kCuNewerDriver, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER);
  SAME_NUMBER(kCuNoBinary, CUDA_ERROR_NO_BINARY_FOR_GPU);
  SAME_NUMBER(kCuUnsupportedPtx, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  SAME_NUMBER(kCuNoJitCompiler, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
  SAME_NUMBER(kCuIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  SAME_NUMBER(kCuCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  SAME_NUMBER(kCuGraphUpdateFailed, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  SAME_NUMBER(kCuMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  SAME_NUMBER(kCuComputeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  SAME_NUMBER(kCuSharedMemoryPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  SAME_NUMBER(kCuVirtualMemory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
  SAME_NUMBER(kCuMemoryPools, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
  SAME_NUMBER(kCuDynamicSharedMemory, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  SAME_NUMBER(kCuLaunchCooperative, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  SAME_NUMBER(kCuLaunchCluster, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  SAME_NUMBER(kCuLaunchProgrammatic, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
  SAME_NUMBER(kCuCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  SAME_NUMBER(kCuRegisterReadOnly, CU_MEMHOSTREGISTER_READ_ONLY);
  SAME_NUMBER(kCuMemoryUnified, CU_MEMORYTYPE_UNIFIED);
  SAME_NUMBER(kCuPointerMemoryKind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
  SAME_NUMBER(kCuEventNoTiming, CU_EVENT_DISABLE_TIMING);
}

TEST_CASE("cuBLASLt is as we declare it") {
  SAME_CALL(CublasLt::get_version, cublasLtGetVersion);
  SAME_CALL(CublasLt::create, cublasLtCreate);
  SAME_CALL(CublasLt::matmul_create, cublasLtMatmulDescCreate);
  SAME_CALL(CublasLt::matmul_set, cublasLtMatmulDescSetAttribute);
  SAME_CALL(CublasLt::layout_create, cublasLtMatrixLayoutCreate);
  SAME_CALL(CublasLt::layout_set, cublasLtMatrixLayoutSetAttribute);
  SAME_CALL(CublasLt::preference_create, cublasLtMatmulPreferenceCreate);
  SAME_CALL(CublasLt::preference_set, cublasLtMatmulPreferenceSetAttribute);
  SAME_CALL(CublasLt::choose, cublasLtMatmulAlgoGetHeuristic);
  SAME_CALL(CublasLt::matmul, cublasLtMatmul);
  CHECK(sizeof(LtAlgorithm) == sizeof(cublasLtMatmulAlgo_t));
  CHECK(sizeof(LtChoice) == sizeof(cublasLtMatmulHeuristicResult_t));
  SAME_PLACE(LtChoice, workspace_bytes, cublasLtMatmulHeuristicResult_t, workspaceSize);
  SAME_PLACE(LtChoice, status, cublasLtMatmulHeuristicResult_t, state);
  SAME_NUMBER(kLtCompute32F, CUBLAS_COMPUTE_32F);
  SAME_NUMBER(kLtCompute32FPedantic, CUBLAS_COMPUTE_32F_PEDANTIC);
  SAME_NUMBER(kLtComputeTf32, CUBLAS_COMPUTE_32F_FAST_TF32);
  SAME_NUMBER(kLtCompute64F, CUBLAS_COMPUTE_64F);
  SAME_NUMBER(kLtBf16, CUDA_R_16BF);
  SAME_NUMBER(kLtF16, CUDA_R_16F);
  SAME_NUMBER(kLtTransposed, CUBLAS_OP_T);
  SAME_NUMBER(kLtRowMajor, CUBLASLT_ORDER_ROW);
  SAME_NUMBER(kLtTransposeA, CUBLASLT_MATMUL_DESC_TRANSA);
  SAME_NUMBER(kLtEpilogueKind, CUBLASLT_MATMUL_DESC_EPILOGUE);
  SAME_NUMBER(kLtBiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
  SAME_NUMBER(kLtBiasType, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
  SAME_NUMBER(kLtRelu | kLtBias, CUBLASLT_EPILOGUE_RELU_BIAS);
  SAME_NUMBER(kLtGeluTanh | kLtBias, CUBLASLT_EPILOGUE_GELU_BIAS);
  SAME_NUMBER(kLtBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
  SAME_NUMBER(kLtMaxWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
  SAME_NUMBER(kLtAlignmentD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
}

TEST_CASE("cuDNN is as we declare it") {
  SAME_CALL(Cudnn::create, cudnnCreate);
  SAME_CALL(Cudnn::set_stream, cudnnSetStream);
  SAME_CALL(Cudnn::descriptor_create, cudnnBackendCreateDescriptor);
  SAME_CALL(Cudnn::descriptor_finalize, cudnnBackendFinalize);
  SAME_CALL(Cudnn::set, cudnnBackendSetAttribute);
  SAME_CALL(Cudnn::get, cudnnBackendGetAttribute);
  SAME_CALL(Cudnn::execute, cudnnBackendExecute);
  SAME_CALL(Cudnn::get_last_error, cudnnGetLastErrorString);
  SAME_NUMBER(kDnnPointwiseOperation, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  SAME_NUMBER(kDnnForwardConvolution, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
  SAME_NUMBER(kDnnBackwardDataConvolution,
              CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
  SAME_NUMBER(kDnnGraph, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  SAME_NUMBER(kDnnPack, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  SAME_NUMBER(kDnnTensor, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  SAME_NUMBER(kDnnHeuristic, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  SAME_NUMBER(kDnnPlan, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  SAME_NUMBER(kDnnConvolutionSpatialDims, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS);
  SAME_NUMBER(kDnnHeuristicResults, CUDNN_ATTR_ENGINEHEUR_RESULTS);
  SAME_NUMBER(kDnnPlanWorkspace, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
  SAME_NUMBER(kDnnForwardY, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y);
  SAME_NUMBER(kDnnBackwardDy, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY);
  SAME_NUMBER(kDnnPointwiseY, CUDNN_ATTR_OPERATION_POINTWISE_YDESC);
  SAME_NUMBER(kDnnGraphOperations, CUDNN_ATTR_OPERATIONGRAPH_OPS);
  SAME_NUMBER(kDnnTensorVirtual, CUDNN_ATTR_TENSOR_IS_VIRTUAL);
  SAME_NUMBER(kDnnPackWorkspace, CUDNN_ATTR_VARIANT_PACK_WORKSPACE);
  SAME_NUMBER(kDnnTypeDescriptor, CUDNN_TYPE_BACKEND_DESCRIPTOR);
  SAME_NUMBER(kDnnTypePointwiseMode, CUDNN_TYPE_POINTWISE_MODE);
  SAME_NUMBER(kDnnConfigEngine, CUDNN_ATTR_ENGINECFG_ENGINE);
  SAME_NUMBER(kDnnEngineNumericalNote, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE);
  SAME_NUMBER(kDnnEngineBehaviorNote, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE);
  SAME_NUMBER(kDnnTypeNumericalNote, CUDNN_TYPE_NUMERICAL_NOTE);
  SAME_NUMBER(kDnnTypeBehaviorNote, CUDNN_TYPE_BEHAVIOR_NOTE);
  SAME_NUMBER(kDnnDownConvertsInputs, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS);
  SAME_NUMBER(kDnnNondeterministic, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
  SAME_NUMBER(kDnnCompilesAtRunTime, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION);
  SAME_NUMBER(kDnnBf16, CUDNN_DATA_BFLOAT16);
  SAME_NUMBER(kDnnFastF32, CUDNN_DATA_FAST_FLOAT_FOR_FP8);
  SAME_NUMBER(kDnnReluForward, CUDNN_POINTWISE_RELU_FWD);
  SAME_NUMBER(kDnnModeA, CUDNN_HEUR_MODE_A);
}

TEST_SUITE_END();

}  // namespace
}  // namespace backplane::cuda
#else
TEST_CASE("NVIDIA's headers are not on this machine") {}
#endif
