#include "cuda/runtime/weights.hpp"

#include <utility>

#include "cuda/runtime/uploader.hpp"

namespace backplane::cuda {

Result<std::vector<Weight>> Weights::get(std::span<const WeightRequest> requests,
                                         const std::string& owner) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  std::vector<Weight> weights;
  size_t missing_bytes = 0;
  for (const WeightRequest& request : requests) {
    const auto known = request.id == ContentId{} ? known_.end() : known_.find(request.id);
    weights.push_back(known == known_.end() ? nullptr : known->second.lock());
    if (weights.back() == nullptr) missing_bytes += request.size_bytes;
  }
  if (missing_bytes == 0) return weights;
  BP_ASSIGN_OR_RETURN(Uploader uploader, Uploader::create(device_, missing_bytes));
  std::map<ContentId, Weight> brought;
  for (size_t i = 0; i < requests.size(); ++i) {
    const WeightRequest& request = requests[i];
    if (weights[i] != nullptr || request.size_bytes == 0) continue;
    const bool is_shared = request.id != ContentId{};
    if (is_shared) {
      if (const auto twin = brought.find(request.id); twin != brought.end()) {
        weights[i] = twin->second;
        continue;
      }
    }
    BP_ASSIGN_OR_RETURN(DeviceBuffer buffer,
                        DeviceBuffer::allocate(device_, request.size_bytes, owner));
    for (const WeightPart& part : request.parts)
      BP_TRY(uploader.copy(buffer.address() + part.offset, part.bytes));
    weights[i] = std::make_shared<const DeviceBuffer>(std::move(buffer));
    if (is_shared) brought.emplace(request.id, weights[i]);
  }
  // Known to others once it is there.
  BP_TRY(uploader.finish());
  for (const auto& [id, weight] : brought) known_[id] = weight;
  return weights;
}

}  // namespace backplane::cuda
