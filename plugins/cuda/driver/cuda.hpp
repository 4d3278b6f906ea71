// CUDA's driver, libcuda.so.1: its functions, and its errors as ours.
#pragma once

#include <backplane/result.hpp>

#include <span>
#include <string>
#include <string_view>

#include "cuda/driver/cuda_types.hpp"

namespace backplane::cuda {

// The driver's functions, bound and initialised. Names are the driver's without their prefix.
struct Driver {
  // Opens the library and initialises it. unavailable: no driver, too old a driver, no device.
  static Result<Driver> open(std::span<const std::string> folders);

  int version = 0;  // 13000 for CUDA 13.0

  CuResult (*init)(unsigned flags);
  CuResult (*driver_get_version)(int*);
  CuResult (*get_error_name)(CuResult, const char**);
  CuResult (*get_error_string)(CuResult, const char**);

  CuResult (*device_get_count)(int*);
  CuResult (*device_get)(CuDevice*, int ordinal);
  CuResult (*device_get_name)(char*, int length, CuDevice);
  CuResult (*device_get_uuid)(CuUuid*, CuDevice);
  CuResult (*device_get_pci_bus_id)(char*, int length, CuDevice);
  CuResult (*device_total_mem)(size_t*, CuDevice);
  CuResult (*device_get_attribute)(int*, CuDeviceAttribute, CuDevice);
  CuResult (*device_primary_ctx_retain)(CuContext*, CuDevice);
  CuResult (*device_primary_ctx_release)(CuDevice);
  CuResult (*ctx_push_current)(CuContext);
  CuResult (*ctx_pop_current)(CuContext*);

  CuResult (*mem_get_info)(size_t* free, size_t* total);
  CuResult (*mem_alloc)(CuAddress*, size_t);
  CuResult (*mem_free)(CuAddress);
  CuResult (*mem_alloc_async)(CuAddress*, size_t, CuStream);
  CuResult (*mem_free_async)(CuAddress, CuStream);
  CuResult (*mem_alloc_managed)(CuAddress*, size_t, unsigned flags);
  CuResult (*mem_host_alloc)(void**, size_t, unsigned flags);
  CuResult (*mem_free_host)(void*);
  CuResult (*mem_host_register)(void*, size_t, unsigned flags);
  CuResult (*mem_host_unregister)(void*);
  CuResult (*mem_get_allocation_granularity)(size_t*, const CuPhysicalProperties*, int option);
  CuResult (*mem_address_reserve)(CuAddress*, size_t, size_t align, CuAddress near, uint64_t flags);
  CuResult (*mem_address_free)(CuAddress, size_t);
  CuResult (*mem_create)(CuPhysicalMemory*, size_t, const CuPhysicalProperties*, uint64_t flags);
  CuResult (*mem_release)(CuPhysicalMemory);
  CuResult (*mem_map)(CuAddress, size_t, size_t offset, CuPhysicalMemory, uint64_t flags);
  CuResult (*mem_unmap)(CuAddress, size_t);
  CuResult (*mem_set_access)(CuAddress, size_t, const CuAccess*, size_t count);
  CuResult (*pointer_get_attribute)(void* value, CuPointerAttribute, CuAddress);
  CuResult (*memcpy_async)(CuAddress to, CuAddress from, size_t, CuStream);
  CuResult (*memcpy_2d_async)(const CuCopy2D*, CuStream);
  CuResult (*memset_d8_async)(CuAddress, unsigned char, size_t count, CuStream);
  CuResult (*memset_d16_async)(CuAddress, unsigned short, size_t count, CuStream);
  CuResult (*memset_d32_async)(CuAddress, unsigned, size_t count, CuStream);

  CuResult (*stream_create)(CuStream*, unsigned flags);
  CuResult (*stream_destroy)(CuStream);
  CuResult (*stream_synchronize)(CuStream);
  CuResult (*stream_wait_event)(CuStream, CuEvent, unsigned flags);
  CuResult (*stream_begin_capture)(CuStream, CuCaptureMode);
  CuResult (*stream_end_capture)(CuStream, CuGraph*);
  CuResult (*thread_exchange_stream_capture_mode)(CuCaptureMode*);
  CuResult (*stream_is_capturing)(CuStream, CuCaptureStatus*);
  CuResult (*stream_get_ctx)(CuStream, CuContext*);
  CuResult (*stream_get_capture_info)(CuStream, CuCaptureStatus*, uint64_t* id, CuGraph*,
                                      const CuGraphNode**, const CuGraphEdge**, size_t* count);
  CuResult (*event_create)(CuEvent*, unsigned flags);
  CuResult (*event_destroy)(CuEvent);
  CuResult (*event_record)(CuEvent, CuStream);
  CuResult (*event_synchronize)(CuEvent);
  CuResult (*event_elapsed_time)(float* ms, CuEvent from, CuEvent to);

  CuResult (*library_load_data)(CuLibrary*, const void* image, void* options, void** option_values,
                                unsigned num_options, void* library_options,
                                void** library_option_values, unsigned num_library_options);
  CuResult (*library_unload)(CuLibrary);
  CuResult (*library_get_kernel)(CuKernel*, CuLibrary, const char* name);
  CuResult (*kernel_get_function)(CuFunction*, CuKernel);
  CuResult (*func_set_attribute)(CuFunction, CuFunctionAttribute, int);
  CuResult (*launch_kernel)(const CuLaunchConfig*, CuFunction, void** params, void** extra);

  CuResult (*graph_destroy)(CuGraph);
  CuResult (*graph_instantiate)(CuGraphExec*, CuGraph, unsigned long long flags);
  CuResult (*graph_exec_update)(CuGraphExec, CuGraph, CuGraphUpdateResult*);
  CuResult (*graph_exec_kernel_node_set_params)(CuGraphExec, CuGraphNode,
                                                const CuKernelNodeParams*);
  CuResult (*graph_exec_destroy)(CuGraphExec);
  CuResult (*graph_launch)(CuGraphExec, CuStream);

  // Ok, or an Error: "WHAT: out of memory (CUDA_ERROR_OUT_OF_MEMORY)", with the fitting code.
  [[nodiscard]] Status check(CuResult result, std::string_view what) const;
};

}  // namespace backplane::cuda
