// A plan's steps for one signature: where buffers lie, what is launched, which algorithms do the
// rest. Built when a signature is first seen.
#pragma once

#include <backplane/host.hpp>
#include <backplane/result.hpp>

#include <functional>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "cuda/payload.hpp"
#include "cuda/runtime/convolution.hpp"
#include "cuda/runtime/gemm.hpp"
#include "cuda/runtime/launches.hpp"

namespace backplane::cuda {

// What schedules of one instance have in common.
struct SchedulePlace {
  const PlanView& plan;
  const Device& device;
  Modules& modules;
  LibraryHandles& handles;
  sdk::Host host;
  CuAddress fault = 0;  // two words for kernels to report to
};

class Schedule {
 public:
  // Of the steps [first, end). `has_copy`: by buffer, whether an input or output is used through a
  // copy in the arena. Errors name the node, and have been told to the host with it.
  static Result<std::unique_ptr<Schedule>> build(const SchedulePlace& place,
                                                 std::vector<int64_t> sizes, uint32_t first,
                                                 uint32_t end, const std::vector<bool>& has_copy);

  [[nodiscard]] std::span<const int64_t> sizes() const { return sizes_; }
  // All that lies in the arena, the libraries' workspace included.
  [[nodiscard]] uint64_t arena_bytes() const { return workspace_offset_ + workspace_bytes_; }

  // Once the arena is there. `fixed`: addresses of weights and derived buffers, 0 for others.
  void settle(std::span<const CuAddress> fixed, CuAddress arena);
  // An input's or output's address for the next run. Gives whether it is another one.
  bool give(uint32_t buffer, CuAddress address);
  // A number's value for the next run, likewise.
  bool give_number(uint32_t input, double value);
  [[nodiscard]] CuAddress address(uint32_t buffer) const { return addresses_[buffer]; }

  // Queues all steps. `after_launch(index)`, if given, is called after each kernel launch.
  // Errors name the node; blamed() is its debug id.
  Status enqueue(CuStream stream, const std::function<Status(uint32_t)>& after_launch = {});

  [[nodiscard]] uint64_t blamed() const { return blamed_; }

  [[nodiscard]] Launches& launches() { return launches_; }
  // Whether a step that is no kernel of ours works on the buffer.
  [[nodiscard]] bool library_uses(uint32_t buffer) const { return library_uses_[buffer]; }

 private:
  struct LaunchStep {
    uint32_t launch;
  };
  struct CopyStep {
    uint32_t to, from;
    uint64_t to_offset, from_offset, bytes;
  };
  struct FillStep {
    uint32_t to;
    uint64_t offset, bytes;
    uint32_t width, value;
  };
  using Work = std::variant<LaunchStep, std::unique_ptr<GemmRun>, std::unique_ptr<ConvolutionRun>,
                            CopyStep, FillStep>;

  Schedule(const SchedulePlace& place, std::vector<int64_t> sizes, uint32_t first);
  void lay_out_arena(uint32_t end, const std::vector<bool>& has_copy);
  Status add(const Step& step);
  Result<Work> work_of(const Step& step);
  Status run(Work& work, CuStream stream, const std::function<Status(uint32_t)>& after_launch);
  Status copy(const CopyStep& step, CuStream stream);
  Status fill(const FillStep& step, CuStream stream);
  Error at(const Step& step, Error error);
  void uses(uint32_t buffer) {
    if (buffer != kNone) library_uses_[buffer] = true;
  }

  SchedulePlace place_;
  std::vector<int64_t> sizes_;
  uint32_t first_;
  Launches launches_;
  std::vector<Work> works_;
  std::vector<bool> library_uses_;    // by buffer
  std::vector<uint64_t> offsets_;     // in the arena, by buffer; kNowhere: not there
  std::vector<CuAddress> addresses_;  // by buffer
  std::vector<double> numbers_;       // by input
  uint64_t workspace_offset_ = 0;
  uint64_t workspace_bytes_ = 0;
  CuAddress workspace_ = 0;
  uint64_t blamed_ = 0;
};

}  // namespace backplane::cuda
