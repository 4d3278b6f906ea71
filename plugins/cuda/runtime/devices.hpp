// The GPUs of this machine, as the contract's functions for devices, memory and streams see them.
#pragma once

#include <backplane/plugin.h>
#include <backplane/result.hpp>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cuda/driver/libraries.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/weights.hpp"

namespace backplane::cuda {

// Streams and events are the driver's own: an application passes those that it has. [any thread]
class Devices {
 public:
  explicit Devices(Libraries& libraries) : libraries_(libraries) {}

  // Those that there are. One that can't be used has the score 0, and a name that says why; so has
  // the one that stands for a driver that is not here. Makes no context.
  std::vector<bp_device_t> list();
  // The device, opened when it is first asked for, and the constants that lie on it.
  struct InUse {
    std::unique_ptr<Device> device;
    std::unique_ptr<Weights> weights;
  };
  Result<const InUse*> use(int index);

  Result<void*> alloc(const bp_alloc_t& request);
  void free(bp_devref_t device, void* memory, void* stream);
  Status copy(const bp_tensor_t& to, const bp_tensor_t& from, void* stream);
  Result<void*> stream_create(bp_devref_t device);
  void stream_destroy(void* stream);
  Status stream_sync(void* stream);
  Status event_record(void* stream, void*& event);
  Status event_wait(void* stream, void* event);
  void event_destroy(void* event);

 private:
  bp_device_t describe(const Driver& driver, int index);
  bp_str_t keep(std::string text);
  Result<Device*> open(int index);
  Result<const Driver*> enter(void* stream, std::optional<Current>& current);

  Libraries& libraries_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<InUse>> open_;         // by index; null if nobody asked
  std::vector<std::unique_ptr<std::string>> texts_;  // of what `list` gave
};

}  // namespace backplane::cuda
