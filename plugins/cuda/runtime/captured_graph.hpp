// A schedule's steps as one graph of the driver's: launched at once, and given new addresses
// without being captured again where only kernels of ours work on them.
#pragma once

#include <backplane/result.hpp>

#include <memory>
#include <set>
#include <vector>

#include "cuda/runtime/schedule.hpp"

namespace backplane::cuda {

class CapturedGraph {
 public:
  // Captures on `stream`, which is left usable whatever happens.
  static Result<std::unique_ptr<CapturedGraph>> capture(const Device& device, Schedule& schedule,
                                                        CuStream stream);
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  ~CapturedGraph();

  // Gives these launches the parameters that the schedule has for them now.
  Status update(Schedule& schedule, const std::set<uint32_t>& launches);
  Status launch(CuStream stream);

 private:
  explicit CapturedGraph(const Device& device) : device_(device) {}
  Status record(Schedule& schedule, CuStream stream);

  const Device& device_;
  CuGraph graph_ = nullptr;  // its nodes name those of the executable one
  CuGraphExec exec_ = nullptr;
  std::vector<CuGraphNode> nodes_;  // by launch; null where nothing is launched
};

}  // namespace backplane::cuda
