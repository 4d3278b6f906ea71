// Loading: code for the device, weights once, and nothing left behind.
#include <doctest/doctest.h>

#include <fstream>
#include <memory>
#include <vector>

#include "cuda/runtime/devices.hpp"
#include "cuda/runtime/instance.hpp"
#include "cuda/standin_fixture.hpp"
#include "made_plan.hpp"
#include "test_host.hpp"

namespace backplane::cuda {
namespace {

struct Backend {
  standin::Fixture fixture;
  TestHost host;
  Devices devices{fixture.libraries};

  Backend() { host.data["w"] = {0.5F}; }
  Result<std::unique_ptr<Program>> load(const std::vector<std::byte>& payload) {
    return Program::load(host.host(), fixture.libraries, devices, host.request(payload));
  }
};

// Memory of this process in pages.
long resident() {
  long size = 0;
  long pages = 0;
  std::ifstream("/proc/self/statm") >> size >> pages;
  return pages;
}

TEST_SUITE_BEGIN("cuda/program");

TEST_CASE("equal weights are there once, and go with their last program") {
  Backend backend;
  backend.host.data["v"] = {0.5F};
  backend.host.ids = {{"w", 7}, {"v", 7}};
  const auto payload = made_payload();
  const auto other = made_payload({.weight = "v"});
  auto first = backend.load(payload);
  auto second = backend.load(other);
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(backend.fixture.control.counts().device_bytes == 4);
  CHECK(backend.host.held == 0);
  first->reset();
  CHECK(backend.fixture.control.counts().device_bytes == 4);
  second->reset();
  CHECK(backend.fixture.control.counts().device_bytes == 0);
}

TEST_CASE("weights of one name and another content are two") {
  Backend backend;
  backend.host.ids = {{"w", 7}};
  const auto payload = made_payload();
  auto first = backend.load(payload);
  REQUIRE(first.ok());
  backend.host.data["w"] = {9};
  backend.host.ids = {{"w", 8}};
  auto second = backend.load(payload);
  REQUIRE(second.ok());
  CHECK(backend.fixture.control.counts().device_bytes == 8);
}

TEST_CASE("a weight of another size is refused") {
  Backend backend;
  backend.host.data["w"] = {1, 2, 3};
  const auto payload = made_payload();
  const auto program = backend.load(payload);
  REQUIRE(!program.ok());
  CHECK(program.error().code == Code::incompatible);
  CHECK(program.error().message == "'w' has 12 bytes, and the program was made for 4");
}

TEST_CASE("code for another architecture is refused by name, PTX is taken and said") {
  Backend backend;
  const auto old = made_payload({.target = "sm_80"});
  const auto refused = backend.load(old);
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == Code::incompatible);
  CHECK(refused.error().message ==
        "the program has code for sm_80, and none that runs on Stand-in (sm_90); lower it again "
        "with gpu_arch=sm_90");
  const auto exact = made_payload({.target = "sm_90a"});
  CHECK(backend.load(exact).ok());
  CHECK(backend.host.logs.empty());
  const auto ptx = made_payload();
  CHECK(backend.load(ptx).ok());
  REQUIRE(backend.host.logs.size() == 1);
  CHECK(backend.host.logs[0].find("compiles its compute_80 code now") != std::string::npos);
}

TEST_CASE("code that the driver does not take says which driver and which compiler") {
  Backend backend;
  backend.fixture.control.fail("cuLibraryLoadData", 0, 1, kCuUnsupportedPtx);
  const auto payload = made_payload();
  const auto program = backend.load(payload);
  REQUIRE(!program.ok());
  CHECK(program.error().code == Code::incompatible);
  CHECK(program.error().message.starts_with(
      "the driver (for CUDA 13.0) does not take the compute_80 code made by nvrtc 13.0: "));
}

TEST_CASE("whatever fails while loading, nothing is left behind") {
  const auto payload = made_payload();
  for (const char* function :
       {"cuDevicePrimaryCtxRetain", "cuStreamCreate", "cuLibraryLoadData", "cuLibraryGetKernel",
        "cuMemAlloc", "cuMemHostAlloc", "cuEventCreate", "cuMemcpyAsync", "cuStreamSynchronize"}) {
    CAPTURE(function);
    StandinCounts before{};
    {
      Backend backend;
      before = backend.fixture.control.counts();
      backend.fixture.control.fail(function, 0, 1, kCuInvalidValue);
      CHECK(!backend.load(payload).ok());
    }
    Backend after;
    const StandinCounts now = after.fixture.control.counts();
    CHECK(now.allocations == before.allocations);
    CHECK(now.libraries == before.libraries);
    CHECK(now.streams == before.streams);
    CHECK(now.events == before.events);
    CHECK(now.contexts == before.contexts);
  }
}

TEST_CASE("ten thousand programs that were loaded, run and unloaded leave memory as it was") {
  const auto payload = made_payload();
  Backend backend;
  std::vector<float> x(12, 1);
  std::vector<float> y(12);
  const auto cycle = [&] {
    auto program = backend.load(payload);
    REQUIRE(program.ok());
    auto instance = (*program)->instance({});
    REQUIRE(instance.ok());
    for (int i = 0; i < 2; ++i) {
      TestRun run;
      run.inputs = {{{3, 4}, {4, 1}, x.data(), {BP_DEV_CPU, 0}}};
      run.outputs = {{{1}, {1}, y.data(), {BP_DEV_CPU, 0}}};
      REQUIRE((*instance)->execute(run.run(backend.host)).ok());
    }
    backend.host.logs.clear();
  };
  for (int i = 0; i < 500; ++i) cycle();
  const StandinCounts before = backend.fixture.control.counts();
  const long pages = resident();
  for (int i = 0; i < 10000; ++i) cycle();
  const StandinCounts after = backend.fixture.control.counts();
  CHECK(after.allocations == before.allocations);
  CHECK(after.reservations == before.reservations);
  CHECK(after.mapped_bytes == before.mapped_bytes);
  CHECK(after.execs == before.execs);
  CHECK(after.graphs == before.graphs);
  CHECK(after.libraries == before.libraries);
  CHECK(after.streams == before.streams);
  CHECK(after.events == before.events);
  CHECK(resident() - pages < 256);  // a megabyte: what the allocator may keep
}

TEST_SUITE_END();

}  // namespace
}  // namespace backplane::cuda
