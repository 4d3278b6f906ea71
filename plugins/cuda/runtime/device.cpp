#include "cuda/runtime/device.hpp"

#include <array>

namespace backplane::cuda {

Result<DeviceFacts> DeviceFacts::read(const Driver& driver, int index) {
  DeviceFacts facts{.index = index};
  const std::string what = "device cuda:" + std::to_string(index);
  BP_TRY(driver.check(driver.device_get(&facts.handle, index), what));
  const auto attribute = [&](CuDeviceAttribute which, int& value) {
    return driver.check(driver.device_get_attribute(&value, which, facts.handle), what);
  };
  std::array<char, 256> text{};
  BP_TRY(driver.check(driver.device_get_name(text.data(), text.size(), facts.handle), what));
  facts.name = text.data();
  if (driver.device_get_pci_bus_id(text.data(), text.size(), facts.handle) == kCuSuccess)
    facts.pci = text.data();
  BP_TRY(driver.check(driver.device_get_uuid(&facts.uuid, facts.handle), what));
  BP_TRY(driver.check(driver.device_total_mem(&facts.memory_bytes, facts.handle), what));
  int minor = 0;
  BP_TRY(attribute(kCuComputeMajor, facts.arch));
  BP_TRY(attribute(kCuComputeMinor, minor));
  facts.arch = facts.arch * 10 + minor;
  BP_TRY(attribute(kCuMultiprocessors, facts.multiprocessors));
  BP_TRY(attribute(kCuSharedMemoryPerBlock, facts.shared_bytes));
  return facts;
}

Result<std::unique_ptr<Device>> Device::open(const Driver& driver, int index) {
  BP_ASSIGN_OR_RETURN(DeviceFacts facts, DeviceFacts::read(driver, index));
  CuContext context = nullptr;
  BP_TRY(driver.check(driver.device_primary_ctx_retain(&context, facts.handle),
                      "no context on cuda:" + std::to_string(index)));
  std::unique_ptr<Device> device(new Device(driver, std::move(facts), context));
  const Current current(*device);
  BP_TRY(driver.check(driver.stream_create(&device->stream_, kCuStreamNonBlocking), "no stream"));
  return device;
}

Device::~Device() {
  if (stream_ != nullptr) {
    const Current current(*this);
    driver_.stream_destroy(stream_);
  }
  driver_.device_primary_ctx_release(facts_.handle);
}

}  // namespace backplane::cuda
