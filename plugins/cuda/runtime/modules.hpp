// A plan's code on a device: for each module the image that fits, for each kernel its function.
#pragma once

#include <backplane/host.hpp>
#include <backplane/result.hpp>

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "cuda/payload.hpp"
#include "cuda/runtime/device.hpp"

namespace backplane::cuda {

// The image of a module for a device of this capability; null if none fits.
[[nodiscard]] const Image* choose_image(std::span<const Image> images, int capability);

// All is loaded at once: nothing is left to be loaded while a graph is captured.
class Modules {
 public:
  // Tells the host where the driver had to compile PTX.
  // incompatible: no image fits, or the driver takes none; says which there are.
  static Result<std::unique_ptr<Modules>> load(const PlanView& plan, const Device& device,
                                               const sdk::Host& host);
  Modules(const Modules&) = delete;
  Modules& operator=(const Modules&) = delete;
  ~Modules();

  [[nodiscard]] CuFunction function(uint32_t kernel) const { return functions_[kernel]; }
  // Lets launches of the kernel have that much dynamic shared memory. [any thread]
  Status allow_shared(uint32_t kernel, unsigned bytes);

 private:
  explicit Modules(const Device& device) : device_(device) {}
  Status load_module(const PlanView& plan, const Module& module, const sdk::Host& host);
  Status find_kernels(const PlanView& plan);

  const Device& device_;
  std::vector<CuLibrary> libraries_;
  std::vector<CuFunction> functions_;  // by kernel
  std::mutex mutex_;
  std::vector<unsigned> shared_bytes_;  // that a kernel may have now
};

}  // namespace backplane::cuda
