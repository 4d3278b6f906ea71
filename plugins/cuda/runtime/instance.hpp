// What one method runs with: an arena, and for each signature that it has seen lately a schedule
// and, from the second run on, a captured graph.
#pragma once

#include <backplane/execution.hpp>
#include <backplane/result.hpp>

#include <list>
#include <memory>
#include <set>
#include <vector>

#include "cuda/runtime/arena.hpp"
#include "cuda/runtime/border.hpp"
#include "cuda/runtime/captured_graph.hpp"
#include "cuda/runtime/library_handles.hpp"
#include "cuda/runtime/program.hpp"
#include "cuda/runtime/schedule.hpp"

namespace backplane::cuda {

class Instance {
 public:
  static Result<std::unique_ptr<Instance>> create(Program& program);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  // Waits for what it has queued.
  ~Instance();

  Status execute(const sdk::Run& run);
  Status finish(const sdk::Run& run);

 private:
  // One signature.
  struct Entry {
    std::vector<int64_t> signature;
    std::vector<bool> has_copy;  // by buffer
    std::unique_ptr<Schedule> schedule;
    std::unique_ptr<CapturedGraph> graph;
    bool may_capture = true;
    bool was_run = false;
    std::set<uint32_t> changed;  // launches with other parameters than the graph's
    bool is_stale = false;       // a library's step has other addresses than the graph's
  };
  struct Queue {
    CuStream stream;
    bool is_callers;
    bool is_capturing;
  };

  explicit Instance(Program& program);
  Result<Entry*> entry_for(const sdk::Run& run);
  Result<std::unique_ptr<Entry>> make_entry(std::vector<int64_t> sizes, const sdk::Run& run);
  Result<Queue> queue_of(const sdk::Run& run);
  Status settle(Entry& entry, const Queue& queue);
  void give_addresses(Entry& entry, const sdk::Run& run);
  void note_change(Entry& entry, uint32_t buffer);
  Status copy_in(const Entry& entry, const sdk::Run& run, const Queue& queue);
  Status copy_out(const Entry& entry, const sdk::Run& run, const Queue& queue);
  bp_tensor_t view_of_copy(const Entry& entry, uint32_t buffer, const bp_tensor_t& like,
                           std::vector<int64_t>& strides) const;
  Status run_steps(Entry& entry, const Queue& queue);
  bool refresh_graph(Entry& entry);
  Status enqueue(Entry& entry, CuStream stream);
  Status wait(CuStream stream);
  Status check_fault();
  [[nodiscard]] const Driver& driver() const { return program_.device().driver(); }

  Program& program_;
  LibraryHandles handles_;
  Arena arena_;
  Border border_;
  PinnedBuffer fault_;  // two words, if kernels report faults
  CuStream stream_ = nullptr;
  CuEvent queued_ = nullptr;  // after the last run on a stream of the caller's
  CuStream last_stream_ = nullptr;
  std::list<std::unique_ptr<Entry>> entries_;  // the last used first
};

}  // namespace backplane::cuda
