// Kernels are found in a shared object that was compiled from the same text for the CPU. Which one
// belongs to an image: the image says "twins:PATH", or $BACKPLANE_TWINS holds HASH.so, HASH being
// the FNV-1a of the image's bytes.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "state.hpp"

using namespace backplane::cuda;  // NOLINT(google-build-using-namespace)
using standin::state;

namespace {

constexpr std::string_view kMark = "twins:";

// An ELF file's size is where its section headers end; other images are text.
size_t size_of(const void* image) {
  const auto* bytes = static_cast<const unsigned char*>(image);
  if (std::memcmp(bytes, "\177ELF", 4) != 0) return std::strlen(static_cast<const char*>(image));
  uint64_t sections = 0;
  uint16_t entry = 0;
  uint16_t count = 0;
  std::memcpy(&sections, bytes + 40, sizeof sections);
  std::memcpy(&entry, bytes + 58, sizeof entry);
  std::memcpy(&count, bytes + 60, sizeof count);
  return sections + size_t{entry} * count;
}

std::string twins_of(const void* image) {
  const std::string_view bytes(static_cast<const char*>(image), size_of(image));
  if (bytes.starts_with(kMark)) return std::string(bytes.substr(kMark.size()));
  uint64_t hash = 14695981039346656037ULL;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  const char* folder = std::getenv("BACKPLANE_TWINS");
  char name[32];
  std::snprintf(name, sizeof name, "/%016llx.so", static_cast<unsigned long long>(hash));
  return std::string(folder == nullptr ? "." : folder) + name;
}

}  // namespace

extern "C" {

CuResult cuLibraryLoadData(CuLibrary* library, const void* image, void*, void**, unsigned, void*,
                           void**, unsigned) {
  STANDIN_ENTER("cuLibraryLoadData");
  void* handle = dlopen(twins_of(image).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    std::fprintf(stderr, "stand-in: %s\n", dlerror());
    return kCuInvalidImage;
  }
  *library = new CuLibraryObject{handle, {}};
  ++state().counts.libraries;
  return kCuSuccess;
}
CuResult cuLibraryUnload(CuLibrary library) {
  STANDIN_ENTER("cuLibraryUnload");
  dlclose(library->handle);
  delete library;
  --state().counts.libraries;
  return kCuSuccess;
}
CuResult cuLibraryGetKernel(CuKernel* kernel, CuLibrary library, const char* name) {
  STANDIN_ENTER("cuLibraryGetKernel");
  const auto* twin =
      static_cast<const Twin*>(dlsym(library->handle, (std::string(name) + "__twin").c_str()));
  if (twin == nullptr) return kCuNotFound;
  auto& slot = library->kernels[name];
  if (slot == nullptr) slot = std::make_unique<CuKernelObject>(CuKernelObject{twin});
  *kernel = slot.get();
  return kCuSuccess;
}
CuResult cuKernelGetFunction(CuFunction* function, CuKernel kernel) {
  STANDIN_ENTER("cuKernelGetFunction");
  *function = reinterpret_cast<CuFunction>(kernel);
  return kCuSuccess;
}
CuResult cuFuncSetAttribute(CuFunction function, CuFunctionAttribute which, int value) {
  STANDIN_ENTER("cuFuncSetAttribute");
  if (which == kCuDynamicSharedMemory) reinterpret_cast<CuKernel>(function)->dynamic_shared = value;
  return kCuSuccess;
}
CuResult cuLaunchKernelEx(const CuLaunchConfig* config, CuFunction function, void** params,
                          void**) {
  STANDIN_ENTER("cuLaunchKernelEx");
  const auto* kernel = reinterpret_cast<const CuKernelObject*>(function);
  uint64_t threads = 1;
  for (int d = 0; d < 3; ++d) {
    if (config->grid[d] == 0 || config->block[d] == 0) return kCuInvalidValue;
    threads *= config->block[d];
  }
  if (config->grid[1] > 65535 || config->grid[2] > 65535 || threads > 1024) return kCuInvalidValue;
  if (config->dynamic_shared_bytes > static_cast<unsigned>(kernel->dynamic_shared))
    return kCuInvalidValue;
  standin::Work work;
  work.kind = standin::Work::Kind::kernel;
  work.twin = kernel->twin;
  for (int d = 0; d < 3; ++d) {
    work.launch.grid[d] = config->grid[d];
    work.launch.block[d] = config->block[d];
  }
  work.launch.dynamic_shared_bytes = config->dynamic_shared_bytes;
  work.set_params(params);
  ++state().counts.launches;
  return standin::submit(config->stream, std::move(work));
}
}
