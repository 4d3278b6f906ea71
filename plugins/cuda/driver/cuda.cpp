#include "cuda/driver/cuda.hpp"

#include "cuda/driver/shared_library.hpp"

namespace backplane::cuda {
namespace {

constexpr int kOldestDriver = 12040;  // has all that is bound below, with these signatures

constexpr const char* kFiles[] = {"libcuda.so.1"};
constexpr LibraryName kName = {
    .title = "the NVIDIA driver",
    .files = kFiles,
    .remedy = "install NVIDIA's driver, or run where there is one",
};

std::string number(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

Status bind_devices(Driver& d, const SharedLibrary& lib) {
  BP_TRY(lib.bind(d.init, "cuInit"));
  BP_TRY(lib.bind(d.get_error_name, "cuGetErrorName"));
  BP_TRY(lib.bind(d.get_error_string, "cuGetErrorString"));
  BP_TRY(lib.bind(d.device_get_count, "cuDeviceGetCount"));
  BP_TRY(lib.bind(d.device_get, "cuDeviceGet"));
  BP_TRY(lib.bind(d.device_get_name, "cuDeviceGetName"));
  BP_TRY(lib.bind(d.device_get_uuid, "cuDeviceGetUuid_v2"));
  BP_TRY(lib.bind(d.device_get_pci_bus_id, "cuDeviceGetPCIBusId"));
  BP_TRY(lib.bind(d.device_total_mem, "cuDeviceTotalMem_v2"));
  BP_TRY(lib.bind(d.device_get_attribute, "cuDeviceGetAttribute"));
  BP_TRY(lib.bind(d.device_primary_ctx_retain, "cuDevicePrimaryCtxRetain"));
  BP_TRY(lib.bind(d.device_primary_ctx_release, "cuDevicePrimaryCtxRelease_v2"));
  BP_TRY(lib.bind(d.ctx_push_current, "cuCtxPushCurrent_v2"));
  return lib.bind(d.ctx_pop_current, "cuCtxPopCurrent_v2");
}

Status bind_memory(Driver& d, const SharedLibrary& lib) {
  BP_TRY(lib.bind(d.mem_get_info, "cuMemGetInfo_v2"));
  BP_TRY(lib.bind(d.mem_alloc, "cuMemAlloc_v2"));
  BP_TRY(lib.bind(d.mem_free, "cuMemFree_v2"));
  BP_TRY(lib.bind(d.mem_alloc_async, "cuMemAllocAsync"));
  BP_TRY(lib.bind(d.mem_free_async, "cuMemFreeAsync"));
  BP_TRY(lib.bind(d.mem_alloc_managed, "cuMemAllocManaged"));
  BP_TRY(lib.bind(d.mem_host_alloc, "cuMemHostAlloc"));
  BP_TRY(lib.bind(d.mem_free_host, "cuMemFreeHost"));
  BP_TRY(lib.bind(d.mem_host_register, "cuMemHostRegister_v2"));
  BP_TRY(lib.bind(d.mem_host_unregister, "cuMemHostUnregister"));
  BP_TRY(lib.bind(d.mem_get_allocation_granularity, "cuMemGetAllocationGranularity"));
  BP_TRY(lib.bind(d.mem_address_reserve, "cuMemAddressReserve"));
  BP_TRY(lib.bind(d.mem_address_free, "cuMemAddressFree"));
  BP_TRY(lib.bind(d.mem_create, "cuMemCreate"));
  BP_TRY(lib.bind(d.mem_release, "cuMemRelease"));
  BP_TRY(lib.bind(d.mem_map, "cuMemMap"));
  BP_TRY(lib.bind(d.mem_unmap, "cuMemUnmap"));
  BP_TRY(lib.bind(d.mem_set_access, "cuMemSetAccess"));
  BP_TRY(lib.bind(d.pointer_get_attribute, "cuPointerGetAttribute"));
  BP_TRY(lib.bind(d.memcpy_async, "cuMemcpyAsync"));
  BP_TRY(lib.bind(d.memcpy_2d_async, "cuMemcpy2DAsync_v2"));
  BP_TRY(lib.bind(d.memset_d8_async, "cuMemsetD8Async"));
  BP_TRY(lib.bind(d.memset_d16_async, "cuMemsetD16Async"));
  return lib.bind(d.memset_d32_async, "cuMemsetD32Async");
}

Status bind_streams(Driver& d, const SharedLibrary& lib) {
  BP_TRY(lib.bind(d.stream_create, "cuStreamCreate"));
  BP_TRY(lib.bind(d.stream_destroy, "cuStreamDestroy_v2"));
  BP_TRY(lib.bind(d.stream_synchronize, "cuStreamSynchronize"));
  BP_TRY(lib.bind(d.stream_wait_event, "cuStreamWaitEvent"));
  BP_TRY(lib.bind(d.stream_begin_capture, "cuStreamBeginCapture_v2"));
  BP_TRY(lib.bind(d.stream_end_capture, "cuStreamEndCapture"));
  BP_TRY(lib.bind(d.thread_exchange_stream_capture_mode, "cuThreadExchangeStreamCaptureMode"));
  BP_TRY(lib.bind(d.stream_is_capturing, "cuStreamIsCapturing"));
  BP_TRY(lib.bind(d.stream_get_ctx, "cuStreamGetCtx"));
  BP_TRY(lib.bind(d.stream_get_capture_info, "cuStreamGetCaptureInfo_v3"));
  BP_TRY(lib.bind(d.event_create, "cuEventCreate"));
  BP_TRY(lib.bind(d.event_destroy, "cuEventDestroy_v2"));
  BP_TRY(lib.bind(d.event_record, "cuEventRecord"));
  BP_TRY(lib.bind(d.event_synchronize, "cuEventSynchronize"));
  return lib.bind(d.event_elapsed_time, "cuEventElapsedTime");
}

Status bind_kernels(Driver& d, const SharedLibrary& lib) {
  BP_TRY(lib.bind(d.library_load_data, "cuLibraryLoadData"));
  BP_TRY(lib.bind(d.library_unload, "cuLibraryUnload"));
  BP_TRY(lib.bind(d.library_get_kernel, "cuLibraryGetKernel"));
  BP_TRY(lib.bind(d.kernel_get_function, "cuKernelGetFunction"));
  BP_TRY(lib.bind(d.func_set_attribute, "cuFuncSetAttribute"));
  BP_TRY(lib.bind(d.launch_kernel, "cuLaunchKernelEx"));
  BP_TRY(lib.bind(d.graph_destroy, "cuGraphDestroy"));
  BP_TRY(lib.bind(d.graph_instantiate, "cuGraphInstantiateWithFlags"));
  BP_TRY(lib.bind(d.graph_exec_update, "cuGraphExecUpdate_v2"));
  BP_TRY(lib.bind(d.graph_exec_kernel_node_set_params, "cuGraphExecKernelNodeSetParams_v2"));
  BP_TRY(lib.bind(d.graph_exec_destroy, "cuGraphExecDestroy"));
  return lib.bind(d.graph_launch, "cuGraphLaunch");
}

Code code_of(CuResult result) {
  switch (result) {
    case kCuOutOfMemory:
      return Code::out_of_memory;
    case kCuInvalidImage:
    case kCuNoBinary:
    case kCuInvalidPtx:
    case kCuUnsupportedPtx:
      return Code::incompatible;
    case kCuStubLibrary:
    case kCuNewerDriver:
    case kCuNoDevice:
    case kCuNoJitCompiler:
    case kCuDriverMismatch:
      return Code::unavailable;
    case kCuEccUncorrectable:
    case kCuNvlinkUncorrectable:
    case kCuIllegalAddress:
    case kCuLaunchTimeout:
    case kCuHardwareStackError:
    case kCuLaunchFailed:
      return Code::device_lost;
    default:
      return Code::internal;
  }
}

}  // namespace

Result<Driver> Driver::open(std::span<const std::string> folders) {
  BP_ASSIGN_OR_RETURN(const SharedLibrary lib, SharedLibrary::open(kName, folders));
  Driver driver{};
  // The version first: a driver that is too old lacks functions, and only its version says why.
  BP_TRY(lib.bind(driver.driver_get_version, "cuDriverGetVersion"));
  if (driver.driver_get_version(&driver.version) != kCuSuccess || driver.version < kOldestDriver) {
    return Error{Code::unavailable, "the NVIDIA driver is too old: it is for CUDA " +
                                        number(driver.version) + ", needed is " +
                                        number(kOldestDriver) + " or newer"};
  }
  BP_TRY(bind_devices(driver, lib));
  BP_TRY(bind_memory(driver, lib));
  BP_TRY(bind_streams(driver, lib));
  BP_TRY(bind_kernels(driver, lib));
  BP_TRY(driver.check(driver.init(0), "the NVIDIA driver does not start"));
  return driver;
}

Status Driver::check(CuResult result, std::string_view what) const {
  if (result == kCuSuccess) return Ok{};
  const char* name = nullptr;
  const char* text = nullptr;
  std::string message(what);
  if (get_error_string(result, &text) == kCuSuccess && text != nullptr)
    message += ": " + std::string(text);
  message += get_error_name(result, &name) == kCuSuccess && name != nullptr
                 ? " (" + std::string(name) + ")"
                 : ": CUDA error " + std::to_string(static_cast<int>(result));
  return Error{code_of(result), std::move(message)};
}

}  // namespace backplane::cuda
