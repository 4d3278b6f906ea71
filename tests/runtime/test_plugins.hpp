// Plugins of the tests: a small kernel library, and a backend whose functions a test installs.
#pragma once

#include <backplane/ext/kernels.h>

#include <functional>
#include <string>
#include <vector>

#include "plugin/backend.hpp"

namespace backplane::test {

// Kernels of the library "test", all for float32: aten::add.out (equal sizes),
// aten::mul.Scalar_out, aten::copy.out, aten::clone.out, test::head.out (the first n rows),
// test::random.out (n numbers), test::scratch.out (through scratch memory), test::wide.out (fills
// in parallel), test::fail.out.
const bp_kernels_t& test_kernels();

// How often any of them ran.
int kernel_runs();

// What the stub backend does. Unset functions succeed and do nothing. `memory`: has device memory.
struct Stub {
  std::function<int32_t(const bp_load_t&)> load;
  std::function<int32_t(const bp_run_t&)> execute;
  std::function<int32_t(const bp_run_t&)> finish;
  std::function<int32_t(const bp_tensor_t& to, const bp_tensor_t& from, void* stream)> copy;
  int loads = 0, unloads = 0, instances = 0, sessions = 0;
  int allocations = 0, frees = 0, copies = 0, syncs = 0, streams = 0;
  bp_session_t* last_session = nullptr;
  const bp_host_t* host = nullptr;
};

// Device kind of the stub's memory.
inline constexpr int32_t kStubDevice = 77;

// The plugin source of the tests: kernels of "test", delegates "backplane.stub" (works in host
// memory), "backplane.stubdev" (memory and streams) and "backplane.stubstate" (bp.state/1), which
// all are this stub. One at a time.
class TestPlugins final : public PluginSource {
 public:
  TestPlugins();
  ~TestPlugins() override;

  Stub stub;
  bool has_kernels = true;
  std::vector<KernelLibrary> more_libraries;  // before the test's own

  Result<const Plugin*> find(std::string_view name) override;
  Result<const Plugin*> find_delegate(std::string_view id) override;
  std::vector<KernelLibrary> kernel_libraries(const std::vector<std::string>& preferred,
                                              std::vector<std::string>& problems) override;
  std::vector<std::string> names() override;

 private:
  std::vector<Plugin> plugins_;
};

}  // namespace backplane::test
