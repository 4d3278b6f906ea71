// Device memory is host memory, filled with a pattern so that what was never written shows. Virtual
// memory is what mmap gives: touching what is not mapped is a fault of the process.
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "state.hpp"

using namespace backplane::cuda;  // NOLINT(google-build-using-namespace)
using standin::state;

namespace {

constexpr size_t kGranule = size_t{2} << 20U;
constexpr int kPattern = 0xcd;

CuResult allocate(std::map<uint64_t, size_t>& places, uint64_t& bytes_in_use, size_t bytes,
                  uint64_t& address) {
  if (bytes == 0) return kCuInvalidValue;
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (memory == nullptr) return kCuOutOfMemory;
  std::memset(memory, kPattern, bytes);
  address = reinterpret_cast<uint64_t>(memory);
  places[address] = bytes;
  bytes_in_use += bytes;
  ++state().counts.allocations;
  return kCuSuccess;
}

CuResult release(std::map<uint64_t, size_t>& places, uint64_t& bytes_in_use, uint64_t address) {
  const auto at = places.find(address);
  if (at == places.end()) return kCuInvalidValue;
  bytes_in_use -= at->second;
  --state().counts.allocations;
  std::free(reinterpret_cast<void*>(address));
  places.erase(at);
  return kCuSuccess;
}

uint64_t used() {
  return state().counts.device_bytes + state().counts.mapped_bytes;
}

template <class T>
CuResult fill(CuAddress to, T value, size_t count, CuStream stream) {
  if (!standin::is_device(to, count * sizeof(T)) || to % sizeof(T) != 0) return kCuInvalidValue;
  standin::Work work;
  work.run = [=] { std::fill_n(reinterpret_cast<T*>(to), count, value); };
  return standin::submit(stream, std::move(work));
}

}  // namespace

extern "C" {

CuResult cuMemGetInfo_v2(size_t* free, size_t* total) {
  STANDIN_ENTER("cuMemGetInfo");
  *total = state().memory_bytes;
  *free = *total - std::min<uint64_t>(*total, used());
  return kCuSuccess;
}
CuResult cuMemAlloc_v2(CuAddress* address, size_t bytes) {
  STANDIN_ENTER("cuMemAlloc");
  if (used() + bytes > state().memory_bytes) return kCuOutOfMemory;
  return allocate(state().device, state().counts.device_bytes, bytes, *address);
}
CuResult cuMemFree_v2(CuAddress address) {
  STANDIN_ENTER("cuMemFree");
  return release(state().device, state().counts.device_bytes, address);
}
CuResult cuMemAllocAsync(CuAddress* address, size_t bytes, CuStream) {
  STANDIN_ENTER("cuMemAllocAsync");
  return cuMemAlloc_v2(address, bytes);
}
CuResult cuMemFreeAsync(CuAddress address, CuStream) {
  STANDIN_ENTER("cuMemFreeAsync");
  return cuMemFree_v2(address);
}
CuResult cuMemAllocManaged(CuAddress* address, size_t bytes, unsigned) {
  return cuMemAlloc_v2(address, bytes);
}
CuResult cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  STANDIN_ENTER("cuMemHostAlloc");
  uint64_t address = 0;
  const CuResult result = allocate(state().host, state().counts.host_bytes, bytes, address);
  *memory = reinterpret_cast<void*>(address);
  return result;
}
CuResult cuMemFreeHost(void* memory) {
  STANDIN_ENTER("cuMemFreeHost");
  return release(state().host, state().counts.host_bytes, reinterpret_cast<uint64_t>(memory));
}
CuResult cuMemHostRegister_v2(void*, size_t, unsigned) {
  STANDIN_ENTER("cuMemHostRegister");
  return kCuSuccess;
}
CuResult cuMemHostUnregister(void*) {
  STANDIN_ENTER("cuMemHostUnregister");
  return kCuSuccess;
}

CuResult cuMemGetAllocationGranularity(size_t* bytes, const CuPhysicalProperties*, int) {
  STANDIN_ENTER("cuMemGetAllocationGranularity");
  *bytes = kGranule;
  return kCuSuccess;
}
CuResult cuMemAddressReserve(CuAddress* address, size_t bytes, size_t, CuAddress, uint64_t) {
  STANDIN_ENTER("cuMemAddressReserve");
  if (bytes == 0 || bytes % kGranule != 0) return kCuInvalidValue;
  void* place = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return kCuOutOfMemory;
  *address = reinterpret_cast<CuAddress>(place);
  state().reserved[*address] = bytes;
  ++state().counts.reservations;
  return kCuSuccess;
}
CuResult cuMemAddressFree(CuAddress address, size_t bytes) {
  STANDIN_ENTER("cuMemAddressFree");
  if (state().reserved.erase(address) == 0) return kCuInvalidValue;
  --state().counts.reservations;
  munmap(reinterpret_cast<void*>(address), bytes);
  return kCuSuccess;
}
CuResult cuMemCreate(CuPhysicalMemory* memory, size_t bytes, const CuPhysicalProperties*,
                     uint64_t) {
  STANDIN_ENTER("cuMemCreate");
  if (used() + bytes > state().memory_bytes) return kCuOutOfMemory;
  *memory = state().next_physical++;
  state().physical[*memory] = bytes;
  state().counts.mapped_bytes += bytes;
  return kCuSuccess;
}
CuResult cuMemRelease(CuPhysicalMemory memory) {
  STANDIN_ENTER("cuMemRelease");
  const auto at = state().physical.find(memory);
  if (at == state().physical.end()) return kCuInvalidValue;
  state().counts.mapped_bytes -= at->second;
  state().physical.erase(at);
  return kCuSuccess;
}
CuResult cuMemMap(CuAddress address, size_t bytes, size_t, CuPhysicalMemory memory, uint64_t) {
  STANDIN_ENTER("cuMemMap");
  if (state().physical[memory] != bytes) return kCuInvalidValue;
  state().mapped[address] = bytes;
  return kCuSuccess;
}
CuResult cuMemUnmap(CuAddress address, size_t bytes) {
  STANDIN_ENTER("cuMemUnmap");
  mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE,
       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  state().mapped.erase(state().mapped.lower_bound(address),
                       state().mapped.lower_bound(address + bytes));
  return kCuSuccess;
}
CuResult cuMemSetAccess(CuAddress address, size_t bytes, const CuAccess*, size_t) {
  STANDIN_ENTER("cuMemSetAccess");
  auto* place = reinterpret_cast<void*>(address);
  if (mprotect(place, bytes, PROT_READ | PROT_WRITE) != 0) return kCuInvalidValue;
  std::memset(place, kPattern, bytes);
  return kCuSuccess;
}

CuResult cuPointerGetAttribute(void* value, CuPointerAttribute, CuAddress address) {
  STANDIN_ENTER("cuPointerGetAttribute");
  const bool on_device = standin::is_device(address, 1);
  if (!on_device && state().host.count(address) == 0) return kCuInvalidValue;
  *static_cast<int*>(value) = on_device ? kCuMemoryDevice : kCuMemoryHost;
  return kCuSuccess;
}
CuResult cuMemcpyAsync(CuAddress to, CuAddress from, size_t bytes, CuStream stream) {
  STANDIN_ENTER("cuMemcpyAsync");
  standin::Work work;
  work.run = [=] {
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  };
  return standin::submit(stream, std::move(work));
}
CuResult cuMemcpy2DAsync_v2(const CuCopy2D* given, CuStream stream) {
  STANDIN_ENTER("cuMemcpy2DAsync");
  if (given->to_pitch < given->width_bytes || given->from_pitch < given->width_bytes)
    return kCuInvalidValue;
  standin::Work work;
  work.run = [copy = *given] {
    for (size_t y = 0; y < copy.height; ++y) {
      std::memcpy(reinterpret_cast<void*>(copy.to_device + y * copy.to_pitch),
                  reinterpret_cast<const void*>(copy.from_device + y * copy.from_pitch),
                  copy.width_bytes);
    }
  };
  return standin::submit(stream, std::move(work));
}
CuResult cuMemsetD8Async(CuAddress to, unsigned char value, size_t count, CuStream stream) {
  STANDIN_ENTER("cuMemsetD8Async");
  return fill(to, value, count, stream);
}
CuResult cuMemsetD16Async(CuAddress to, unsigned short value, size_t count, CuStream stream) {
  STANDIN_ENTER("cuMemsetD16Async");
  return fill(to, value, count, stream);
}
CuResult cuMemsetD32Async(CuAddress to, unsigned value, size_t count, CuStream stream) {
  STANDIN_ENTER("cuMemsetD32Async");
  return fill(to, value, count, stream);
}
}
