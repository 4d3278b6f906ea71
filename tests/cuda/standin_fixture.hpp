// The stand-in for NVIDIA's driver, as a test uses it: opened by the plugin's own search, and
// without faults at the end.
#pragma once

#include "cuda/driver/libraries.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/standin/standin.hpp"

namespace standin {

// The stand-in's own functions, from the library that the plugin opens.
struct Control {
  decltype(&standin_counts) counts;
  decltype(&standin_fail) fail;
  decltype(&standin_recover) recover;
  decltype(&standin_device) device;
};

class Fixture {
 public:
  Fixture();
  Fixture(const Fixture&) = delete;
  Fixture& operator=(const Fixture&) = delete;
  ~Fixture();

  Control control{};
  backplane::cuda::Libraries libraries;
};

}  // namespace standin
