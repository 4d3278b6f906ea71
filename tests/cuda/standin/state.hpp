// What the stand-in's functions share.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "shim/twin.hpp"
#include "standin.hpp"

namespace standin {

using namespace backplane::cuda;  // NOLINT(google-build-using-namespace): its types alone

// One piece of work. Of a kernel's, the parameters are kept, so that they can be replaced.
struct Work {
  enum class Kind { kernel, other } kind = Kind::other;
  std::function<void()> run;
  const Twin* twin = nullptr;
  TwinLaunch launch{};
  std::vector<std::vector<std::byte>> params;

  void set_params(void* const* values);
  void execute() const;
};

}  // namespace standin

// The driver's handles.
namespace backplane::cuda {
struct CuContextObject {
  int device = 0;
  int users = 0;
};
struct CuEventObject {
  double when_ms = 0;
};
struct CuGraphNodeObject {
  standin::Work work;
};
struct CuGraphObject {
  std::vector<std::shared_ptr<CuGraphNodeObject>> nodes;
};
struct CuGraphExecObject {
  std::vector<std::shared_ptr<CuGraphNodeObject>> nodes;  // of the graph it came from
  std::vector<standin::Work> works;
};
struct CuStreamObject {
  std::unique_ptr<CuGraphObject> capture;
  CuGraphNode last = nullptr;
  bool is_broken = false;
};
struct CuLibraryObject {
  void* handle = nullptr;  // of the twins' shared object
  std::map<std::string, std::unique_ptr<CuKernelObject>> kernels;
};
struct CuKernelObject {
  const Twin* twin = nullptr;
  int dynamic_shared = 48 << 10;
};
}  // namespace backplane::cuda

namespace standin {

struct State {
  std::recursive_mutex mutex;
  StandinCounts counts{};
  uint64_t memory_bytes = uint64_t{16} << 30U;
  int arch = 90;
  CuContextObject context;
  std::map<uint64_t, size_t> device, host, reserved, mapped, physical;
  uint64_t next_physical = 1;

  struct Fault {
    int after, times;
    CuResult result;
  };
  std::map<std::string, Fault> faults;
};
State& state();

// What `function` is to answer now: success, unless a test wants a fault.
CuResult fault(const char* function);
#define STANDIN_ENTER(function)                        \
  const std::scoped_lock lock(standin::state().mutex); \
  if (const CuResult wanted = standin::fault(function); wanted != kCuSuccess) return wanted

// Runs the work, or adds it to what the stream captures.
CuResult submit(CuStream stream, Work work);
// A device address must lie in memory that was allocated or mapped.
bool is_device(uint64_t address, size_t bytes);

}  // namespace standin
