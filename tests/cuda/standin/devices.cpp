// One device, "Stand-in", and its primary context.
#include <cstdio>
#include <cstring>

#include "state.hpp"

using namespace backplane::cuda;  // NOLINT(google-build-using-namespace)
using standin::state;

extern "C" {

CuResult cuInit(unsigned) {
  STANDIN_ENTER("cuInit");
  return kCuSuccess;
}
CuResult cuDriverGetVersion(int* version) {
  *version = 13000;
  STANDIN_ENTER("cuDriverGetVersion");
  return kCuSuccess;
}
CuResult cuGetErrorName(CuResult result, const char** name) {
  *name = result == kCuOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_STAND_IN";
  return kCuSuccess;
}
CuResult cuGetErrorString(CuResult result, const char** text) {
  *text = result == kCuOutOfMemory ? "out of memory" : "a fault that the test asked for";
  return kCuSuccess;
}
CuResult cuDeviceGetCount(int* count) {
  STANDIN_ENTER("cuDeviceGetCount");
  *count = 1;
  return kCuSuccess;
}
CuResult cuDeviceGet(CuDevice* device, int ordinal) {
  STANDIN_ENTER("cuDeviceGet");
  if (ordinal != 0) return kCuInvalidValue;
  *device = 0;
  return kCuSuccess;
}
CuResult cuDeviceGetName(char* name, int length, CuDevice) {
  std::snprintf(name, static_cast<size_t>(length), "Stand-in");
  return kCuSuccess;
}
CuResult cuDeviceGetUuid_v2(CuUuid* uuid, CuDevice) {
  std::memset(uuid, 7, sizeof *uuid);
  return kCuSuccess;
}
CuResult cuDeviceGetPCIBusId(char* name, int length, CuDevice) {
  std::snprintf(name, static_cast<size_t>(length), "0000:00:00.0");
  return kCuSuccess;
}
CuResult cuDeviceTotalMem_v2(size_t* bytes, CuDevice) {
  *bytes = state().memory_bytes;
  return kCuSuccess;
}
CuResult cuDeviceGetAttribute(int* value, CuDeviceAttribute which, CuDevice) {
  switch (which) {
    case kCuComputeMajor:
      *value = state().arch / 10;
      break;
    case kCuComputeMinor:
      *value = state().arch % 10;
      break;
    case kCuMultiprocessors:
      *value = 4;
      break;
    case kCuSharedMemoryPerBlock:
      *value = 227 << 10;
      break;
    case kCuVirtualMemory:
    case kCuMemoryPools:
      *value = 1;
      break;
    default:
      return kCuInvalidValue;
  }
  return kCuSuccess;
}
CuResult cuDevicePrimaryCtxRetain(CuContext* context, CuDevice) {
  STANDIN_ENTER("cuDevicePrimaryCtxRetain");
  if (state().context.users++ == 0) ++state().counts.contexts;
  *context = &state().context;
  return kCuSuccess;
}
CuResult cuDevicePrimaryCtxRelease_v2(CuDevice) {
  STANDIN_ENTER("cuDevicePrimaryCtxRelease");
  if (--state().context.users == 0) --state().counts.contexts;
  return kCuSuccess;
}
CuResult cuCtxPushCurrent_v2(CuContext context) {
  return context == &state().context ? kCuSuccess : kCuInvalidValue;
}
CuResult cuCtxPopCurrent_v2(CuContext* context) {
  *context = &state().context;
  return kCuSuccess;
}
}
