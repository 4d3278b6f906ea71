// Memory that grows and stays where it is: addresses are reserved for the most that can be needed,
// pages are mapped when they are. What was captured with these addresses stays valid.
#pragma once

#include <backplane/result.hpp>

#include <cstddef>
#include <string>
#include <vector>

#include "cuda/runtime/device.hpp"

namespace backplane::cuda {

// Of one instance. Never shrinks; contents stay when it grows.
class Arena {
 public:
  // `bound_bytes`: the most that will be asked for; more than the device has counts as that much.
  // `owner` is named in errors. Reserves nothing yet.
  Arena(const Device& device, size_t bound_bytes, std::string owner);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  // At least `bytes` at address(). out_of_memory: what there was stays.
  Status grow(size_t bytes);
  // 0 before the first growth; the same from then on.
  [[nodiscard]] CuAddress address() const { return address_; }
  [[nodiscard]] size_t size() const { return mapped_; }

 private:
  Status reserve();

  const Device& device_;
  size_t bound_;
  std::string owner_;
  size_t granule_ = 0;
  size_t reserved_ = 0;
  size_t mapped_ = 0;
  CuAddress address_ = 0;
  std::vector<size_t> pieces_;  // sizes of what is mapped, from the start on
};

}  // namespace backplane::cuda
