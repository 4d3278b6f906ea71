// One GPU: what it is, and its primary context while somebody uses it.
#pragma once

#include <backplane/result.hpp>

#include <memory>
#include <string>

#include "cuda/driver/cuda.hpp"

namespace backplane::cuda {

// What can be known of a device without making a context on it.
struct DeviceFacts {
  int index = 0;
  CuDevice handle = 0;
  std::string name;
  std::string pci;
  CuUuid uuid{};
  size_t memory_bytes = 0;
  int arch = 0;  // 90 for compute capability 9.0
  int multiprocessors = 0;
  int shared_bytes = 0;  // that one block can have

  // internal: there is no such device.
  static Result<DeviceFacts> read(const Driver& driver, int index);
};

// The oldest architecture that this plugin makes code for.
inline constexpr int kOldestArch = 80;

// A device in use. Its context is the primary one, which the application shares. [any thread]
class Device {
 public:
  static Result<std::unique_ptr<Device>> open(const Driver& driver, int index);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  [[nodiscard]] const Driver& driver() const { return driver_; }
  [[nodiscard]] const DeviceFacts& facts() const { return facts_; }
  [[nodiscard]] CuContext context() const { return context_; }
  // For work that is waited for: uploads, copies on nobody's stream.
  [[nodiscard]] CuStream stream() const { return stream_; }

 private:
  Device(const Driver& driver, DeviceFacts facts, CuContext context)
      : driver_(driver), facts_(std::move(facts)), context_(context) {}
  const Driver& driver_;
  DeviceFacts facts_;
  CuContext context_;
  CuStream stream_ = nullptr;
};

// Makes a context this thread's current one, until destroyed.
class Current {
 public:
  Current(const Driver& driver, CuContext context) : driver_(driver) {
    pushed_ = driver.ctx_push_current(context) == kCuSuccess;
  }
  explicit Current(const Device& device) : Current(device.driver(), device.context()) {}
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() {
    CuContext popped = nullptr;
    if (pushed_) driver_.ctx_pop_current(&popped);
  }

 private:
  const Driver& driver_;
  bool pushed_;
};

}  // namespace backplane::cuda
