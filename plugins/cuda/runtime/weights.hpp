// Constants on one device: each content once, for all programs that use it, until the last lets go.
#pragma once

#include <backplane/result.hpp>

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "cuda/runtime/memory.hpp"

namespace backplane::cuda {

// What says that bytes are equal.
struct ContentId {
  uint64_t lo = 0, hi = 0;
  friend auto operator<=>(const ContentId&, const ContentId&) = default;
};

// Shared, since its users are programs that come and go in any order.
using Weight = std::shared_ptr<const DeviceBuffer>;

struct WeightPart {
  uint64_t offset = 0;
  std::span<const std::byte> bytes;
};
// One constant to be there, from the parts that it consists of.
struct WeightRequest {
  ContentId id;  // 0, 0: not shared
  std::vector<WeightPart> parts;
  size_t size_bytes = 0;
};

class Weights {
 public:
  // The device must outlive this, and this the weights.
  explicit Weights(const Device& device) : device_(device) {}

  // The constants in the order of `requests`, what is not there yet brought. `owner` is named in
  // errors. [any thread]
  Result<std::vector<Weight>> get(std::span<const WeightRequest> requests,
                                  const std::string& owner);

 private:
  const Device& device_;
  std::mutex mutex_;
  std::map<ContentId, std::weak_ptr<const DeviceBuffer>> known_;
};

}  // namespace backplane::cuda
