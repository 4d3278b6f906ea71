// Device memory: owned once, given back, and refused with the numbers that matter.
#include <doctest/doctest.h>

#include "cuda/runtime/memory.hpp"
#include "cuda/standin_fixture.hpp"

namespace backplane::cuda {
namespace {

TEST_SUITE_BEGIN("cuda/memory");

TEST_CASE("memory is given back when its owner goes, the context with its device") {
  standin::Fixture fixture;
  {
    const auto driver = fixture.libraries.driver();
    REQUIRE(driver.ok());
    const auto device = Device::open(**driver, 0);
    REQUIRE(device.ok());
    auto first = DeviceBuffer::allocate(**device, 1000, "a test");
    REQUIRE(first.ok());
    DeviceBuffer moved = std::move(*first);
    auto pinned = PinnedBuffer::allocate(**device, 500, "a test");
    REQUIRE(pinned.ok());
    CHECK(fixture.control.counts().device_bytes == 1000);
    CHECK(fixture.control.counts().host_bytes == 500);
    CHECK(fixture.control.counts().contexts == 1);
  }
  const StandinCounts counts = fixture.control.counts();
  CHECK(counts.allocations == 0);
  CHECK(counts.contexts == 0);
}

TEST_CASE("out of memory says how much was wanted, by what, and how much there is") {
  standin::Fixture fixture;
  fixture.control.device(uint64_t{1} << 20U, 90);
  const auto driver = fixture.libraries.driver();
  REQUIRE(driver.ok());
  const auto device = Device::open(**driver, 0);
  REQUIRE(device.ok());
  const auto buffer =
      DeviceBuffer::allocate(**device, size_t{3} << 20U, "the weights of 'forward'");
  REQUIRE(!buffer.ok());
  CHECK(buffer.error().code == Code::out_of_memory);
  CHECK(buffer.error().message ==
        "cuda:0 (Stand-in) is out of memory: 3.0 MiB wanted for the weights of 'forward', "
        "1.0 MiB of 1.0 MiB are free");
}

TEST_SUITE_END();

}  // namespace
}  // namespace backplane::cuda
