// The types of CUDA's driver API that this plugin uses, as libcuda.so.1 has them.
//
// Our own declarations: the plugin builds where no CUDA Toolkit is. A test compares each with the
// Toolkit's headers where those are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace backplane::cuda {

using CuDevice = int;
using CuAddress = uint64_t;  // of device memory
using CuContext = struct CuContextObject*;
using CuStream = struct CuStreamObject*;
using CuEvent = struct CuEventObject*;
using CuLibrary = struct CuLibraryObject*;
using CuKernel = struct CuKernelObject*;
using CuFunction = struct CuFunctionObject*;
using CuGraph = struct CuGraphObject*;
using CuGraphNode = struct CuGraphNodeObject*;
using CuGraphExec = struct CuGraphExecObject*;
using CuPhysicalMemory = unsigned long long;  // what can be mapped

enum CuResult : int {
  kCuSuccess = 0,
  kCuInvalidValue = 1,
  kCuOutOfMemory = 2,
  kCuStubLibrary = 34,
  kCuNewerDriver = 36,
  kCuNoDevice = 100,
  kCuInvalidImage = 200,
  kCuNoBinary = 209,
  kCuEccUncorrectable = 214,
  kCuInvalidPtx = 218,
  kCuNvlinkUncorrectable = 220,
  kCuNoJitCompiler = 221,
  kCuUnsupportedPtx = 222,
  kCuNotFound = 500,
  kCuNotReady = 600,
  kCuIllegalAddress = 700,
  kCuLaunchOutOfResources = 701,
  kCuLaunchTimeout = 702,
  kCuHostMemoryAlreadyRegistered = 712,
  kCuHardwareStackError = 714,
  kCuLaunchFailed = 719,
  kCuNotSupported = 801,
  kCuDriverMismatch = 803,
  kCuCaptureUnsupported = 900,
  kCuCaptureInvalidated = 901,
  kCuGraphUpdateFailed = 910
};

enum CuDeviceAttribute : int {
  kCuMultiprocessors = 16,
  kCuComputeMajor = 75,
  kCuComputeMinor = 76,
  kCuSharedMemoryPerBlock = 97,  // at most, if asked for
  kCuVirtualMemory = 102,
  kCuMemoryPools = 115
};

enum CuFunctionAttribute : int { kCuDynamicSharedMemory = 8 };

enum CuStreamFlags : unsigned { kCuStreamNonBlocking = 1 };
enum CuEventFlags : unsigned { kCuEventDefault = 0, kCuEventNoTiming = 2 };
enum CuHostAllocFlags : unsigned { kCuHostPortable = 1 };
enum CuHostRegisterFlags : unsigned { kCuRegisterPortable = 1, kCuRegisterReadOnly = 8 };
enum CuManagedFlags : unsigned { kCuManagedGlobal = 1 };
enum CuCaptureMode : int { kCuCaptureThreadLocal = 1, kCuCaptureRelaxed = 2 };
enum CuCaptureStatus : int { kCuNotCapturing = 0, kCuCapturing = 1, kCuCaptureBroken = 2 };

struct CuUuid {
  uint8_t bytes[16];
};

// ---- launching ----------------------------------------------------------------------------------

enum CuLaunchAttributeId : int {
  kCuLaunchCooperative = 2,
  kCuLaunchCluster = 4,
  kCuLaunchProgrammatic = 6  // may begin before the kernel before it has ended
};
struct CuLaunchAttribute {
  CuLaunchAttributeId id;
  int unused;
  union {
    uint64_t bytes[8];
    int flag;
    unsigned cluster[3];
  } value;
};
struct CuLaunchConfig {
  unsigned grid[3], block[3];
  unsigned dynamic_shared_bytes;
  CuStream stream;
  CuLaunchAttribute* attributes;
  unsigned num_attributes;
};
struct CuKernelNodeParams {
  CuFunction function;
  unsigned grid[3], block[3];
  unsigned dynamic_shared_bytes;
  void** params;
  void** extra;
  CuKernel kernel;
  CuContext context;
};
struct CuGraphEdge {
  unsigned char from_port, to_port, type, reserved[5];
};
struct CuGraphUpdateResult {
  int result;
  CuGraphNode node, from;
};

// ---- memory -------------------------------------------------------------------------------------

enum CuMemoryKind : int { kCuMemoryHost = 1, kCuMemoryDevice = 2, kCuMemoryUnified = 4 };
enum CuPointerAttribute : int { kCuPointerMemoryKind = 2 };
struct CuCopy2D {
  size_t from_x, from_y;
  CuMemoryKind from_kind;
  const void* from_host;
  CuAddress from_device;
  void* from_array;
  size_t from_pitch;
  size_t to_x, to_y;
  CuMemoryKind to_kind;
  void* to_host;
  CuAddress to_device;
  void* to_array;
  size_t to_pitch;
  size_t width_bytes, height;
};

enum CuLocationKind : int { kCuLocationDevice = 1 };
struct CuLocation {
  CuLocationKind kind;
  int index;
};
struct CuPhysicalProperties {
  int kind;  // 1: pinned, the only one
  int handle_types;
  CuLocation location;
  void* win32;
  unsigned char flags[8];
};
struct CuAccess {
  CuLocation location;
  int rights;  // 3: read and write
};

}  // namespace backplane::cuda
