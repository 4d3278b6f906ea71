#include "cuda/runtime/devices.hpp"

#include <cstring>
#include <utility>

#include "cuda/runtime/copy.hpp"
#include "cuda/runtime/memory.hpp"

namespace backplane::cuda {
namespace {

constexpr uint64_t kAlignment = 256;  // that the driver gives

bool is_cuda(bp_devref_t device) {
  return device.type == BP_DEV_CUDA;
}

}  // namespace

bp_str_t Devices::keep(std::string text) {
  for (const auto& known : texts_) {
    if (*known == text) return {known->data(), known->size()};
  }
  const auto& kept = texts_.emplace_back(std::make_unique<std::string>(std::move(text)));
  return {kept->data(), kept->size()};
}

bp_device_t Devices::describe(const Driver& driver, int index) {
  bp_device_t device{};
  device.struct_size = sizeof device;
  device.device = {BP_DEV_CUDA, index};
  const auto facts = DeviceFacts::read(driver, index);
  if (!facts.ok()) {
    device.name = keep("not usable: " + facts.error().message);
    return device;
  }
  device.arch = keep("sm_" + std::to_string(facts->arch));
  device.pci = keep(facts->pci);
  std::memcpy(device.uuid, facts->uuid.bytes, sizeof device.uuid);
  device.mem_total = facts->memory_bytes;
  if (facts->arch < kOldestArch) {
    device.name = keep(facts->name + ", not usable: sm_" + std::to_string(facts->arch) +
                       " is older than sm_" + std::to_string(kOldestArch));
    return device;
  }
  device.name = keep(facts->name);
  device.score = facts->multiprocessors;
  return device;
}

std::vector<bp_device_t> Devices::list() {
  const auto driver = libraries_.driver();
  const std::scoped_lock lock(mutex_);
  int count = 0;
  if (driver.ok() && (*driver)->device_get_count(&count) == kCuSuccess && count > 0) {
    std::vector<bp_device_t> devices;
    for (int i = 0; i < count; ++i) devices.push_back(describe(**driver, i));
    return devices;
  }
  bp_device_t none{};
  none.struct_size = sizeof none;
  none.device = {BP_DEV_CUDA, 0};
  none.name = keep(driver.ok() ? "the NVIDIA driver sees no GPU" : driver.error().message);
  return {none};
}

Result<const Devices::InUse*> Devices::use(int index) {
  BP_ASSIGN_OR_RETURN(const Driver* driver, libraries_.driver());
  if (index < 0) return Error{Code::invalid_argument, "there is no device cuda:-1"};
  const std::scoped_lock lock(mutex_);
  const auto place = static_cast<size_t>(index);
  if (open_.size() <= place) open_.resize(place + 1);
  if (open_[place] == nullptr) {
    BP_ASSIGN_OR_RETURN(std::unique_ptr<Device> device, Device::open(*driver, index));
    auto weights = std::make_unique<Weights>(*device);
    open_[place] = std::make_unique<InUse>(InUse{std::move(device), std::move(weights)});
  }
  return open_[place].get();
}

Result<Device*> Devices::open(int index) {
  BP_ASSIGN_OR_RETURN(const InUse* in_use, use(index));
  return in_use->device.get();
}

Result<void*> Devices::alloc(const bp_alloc_t& request) {
  BP_ASSIGN_OR_RETURN(Device * device, open(request.device.index));
  const Driver& driver = device->driver();
  const Current current(*device);
  if (request.align > kAlignment) {
    return Error{Code::unsupported, "device memory is aligned to " + std::to_string(kAlignment) +
                                        " bytes, not to " + std::to_string(request.align)};
  }
  CuAddress address = 0;
  void* host = nullptr;
  CuResult result = kCuSuccess;
  if (request.kind == BP_MEM_PINNED) {
    result = driver.mem_host_alloc(&host, request.size, kCuHostPortable);
    address = reinterpret_cast<CuAddress>(host);
  } else if (request.kind == BP_MEM_MANAGED) {
    result = driver.mem_alloc_managed(&address, request.size, kCuManagedGlobal);
  } else if (request.stream != nullptr) {
    result = driver.mem_alloc_async(&address, request.size, static_cast<CuStream>(request.stream));
  } else {
    result = driver.mem_alloc(&address, request.size);
  }
  if (result != kCuSuccess) return refused(*device, result, request.size, "a value of the program");
  return reinterpret_cast<void*>(address);
}

void Devices::free(bp_devref_t device, void* memory, void* stream) {
  const auto opened = open(device.index);
  if (!opened.ok() || memory == nullptr) return;
  const Driver& driver = (*opened)->driver();
  const Current current(**opened);
  const auto address = reinterpret_cast<CuAddress>(memory);
  int kind = kCuMemoryDevice;
  driver.pointer_get_attribute(&kind, kCuPointerMemoryKind, address);
  if (kind == kCuMemoryHost) {
    if (stream != nullptr) driver.stream_synchronize(static_cast<CuStream>(stream));
    driver.mem_free_host(memory);
  } else if (stream != nullptr) {
    driver.mem_free_async(address, static_cast<CuStream>(stream));
  } else {
    driver.mem_free(address);
  }
}

Status Devices::copy(const bp_tensor_t& to, const bp_tensor_t& from, void* stream) {
  const int index = is_cuda(to.device)     ? to.device.index
                    : is_cuda(from.device) ? from.device.index
                                           : 0;
  BP_ASSIGN_OR_RETURN(Device * device, open(index));
  const Driver& driver = device->driver();
  const Current current(*device);
  if (stream != nullptr) return copy_tensor(driver, to, from, static_cast<CuStream>(stream));
  BP_TRY(copy_tensor(driver, to, from, device->stream()));
  return driver.check(driver.stream_synchronize(device->stream()), "copying a tensor");
}

Result<void*> Devices::stream_create(bp_devref_t device) {
  BP_ASSIGN_OR_RETURN(Device * opened, open(device.index));
  const Current current(*opened);
  CuStream stream = nullptr;
  BP_TRY(opened->driver().check(opened->driver().stream_create(&stream, kCuStreamNonBlocking),
                                "no stream"));
  return static_cast<void*>(stream);
}

// Makes the stream's context current: applications have streams on devices that nobody opened here.
Result<const Driver*> Devices::enter(void* stream, std::optional<Current>& current) {
  BP_ASSIGN_OR_RETURN(const Driver* driver, libraries_.driver());
  CuContext context = nullptr;
  BP_TRY(driver->check(driver->stream_get_ctx(static_cast<CuStream>(stream), &context),
                       "not a stream"));
  current.emplace(*driver, context);
  return driver;
}

void Devices::stream_destroy(void* stream) {
  std::optional<Current> current;
  const auto driver = enter(stream, current);
  if (driver.ok()) (*driver)->stream_destroy(static_cast<CuStream>(stream));
}

Status Devices::stream_sync(void* stream) {
  std::optional<Current> current;
  BP_ASSIGN_OR_RETURN(const Driver* driver, enter(stream, current));
  return driver->check(driver->stream_synchronize(static_cast<CuStream>(stream)),
                       "waiting for the device");
}

Status Devices::event_record(void* stream, void*& event) {
  std::optional<Current> current;
  BP_ASSIGN_OR_RETURN(const Driver* driver, enter(stream, current));
  if (event == nullptr) {
    CuEvent made = nullptr;
    BP_TRY(driver->check(driver->event_create(&made, kCuEventNoTiming), "no event"));
    event = made;
  }
  return driver->check(
      driver->event_record(static_cast<CuEvent>(event), static_cast<CuStream>(stream)),
      "marking a stream");
}

Status Devices::event_wait(void* stream, void* event) {
  BP_ASSIGN_OR_RETURN(const Driver* driver, libraries_.driver());
  if (stream == nullptr)
    return driver->check(driver->event_synchronize(static_cast<CuEvent>(event)),
                         "waiting for the device");
  std::optional<Current> current;
  BP_TRY(enter(stream, current));
  return driver->check(
      driver->stream_wait_event(static_cast<CuStream>(stream), static_cast<CuEvent>(event), 0),
      "a stream that waits");
}

void Devices::event_destroy(void* event) {
  const auto driver = libraries_.driver();
  if (driver.ok()) (*driver)->event_destroy(static_cast<CuEvent>(event));
}

}  // namespace backplane::cuda
