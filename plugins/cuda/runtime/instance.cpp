#include "cuda/runtime/instance.hpp"

#include <algorithm>
#include <cstring>

#include "cuda/runtime/copy.hpp"
#include "cuda/sizes.hpp"

namespace backplane::cuda {
namespace {

constexpr size_t kMostSignatures = 16;  // each may hold a graph, which is some device memory

}  // namespace

Instance::Instance(Program& program)
    : program_(program),
      handles_(program.libraries(), program.device()),
      arena_(program.device(), SIZE_MAX, "the arena of " + program.name()),
      border_(program.plan()) {}

Result<std::unique_ptr<Instance>> Instance::create(Program& program) {
  std::unique_ptr<Instance> instance(new Instance(program));
  const Driver& driver = instance->driver();
  const Current current(program.device());
  BP_TRY(driver.check(driver.stream_create(&instance->stream_, kCuStreamNonBlocking), "no stream"));
  BP_TRY(driver.check(driver.event_create(&instance->queued_, kCuEventNoTiming), "no event"));
  if (program.may_fault()) {
    BP_ASSIGN_OR_RETURN(instance->fault_,
                        PinnedBuffer::allocate(program.device(), 2 * sizeof(uint64_t), "faults"));
    std::memset(instance->fault_.data(), 0, instance->fault_.size());
  }
  return instance;
}

Instance::~Instance() {
  const Current current(program_.device());
  if (queued_ != nullptr) {
    driver().event_synchronize(queued_);
    driver().event_destroy(queued_);
  }
  if (stream_ != nullptr) driver().stream_synchronize(stream_);
  entries_.clear();
  if (stream_ != nullptr) driver().stream_destroy(stream_);
}

Status Instance::execute(const sdk::Run& run) {
  if (run.cancelled()) return Error{Code::cancelled, "cancelled before " + program_.name()};
  const Current current(program_.device());
  BP_TRY(check_fault());
  BP_TRY(border_.look(run, program_.device().facts().index));
  BP_ASSIGN_OR_RETURN(Entry * entry, entry_for(run));
  BP_ASSIGN_OR_RETURN(const Queue queue, queue_of(run));
  BP_TRY(settle(*entry, queue));
  give_addresses(*entry, run);
  BP_TRY(copy_in(*entry, run, queue));
  BP_TRY(run_steps(*entry, queue));
  BP_TRY(copy_out(*entry, run, queue));
  last_stream_ = queue.stream;
  if (!queue.is_callers) return wait(queue.stream);
  if (queue.is_capturing) return Ok{};
  return driver().check(driver().event_record(queued_, queue.stream), "marking a stream");
}

Status Instance::finish(const sdk::Run& run) {
  const Current current(program_.device());
  auto* const stream = static_cast<CuStream>(run.raw().stream);
  return wait(stream == nullptr ? stream_ : stream);
}

// The entry of the inputs' signature. What outputs need is known when they have their sizes: it may
// be another entry then.
Result<Instance::Entry*> Instance::entry_for(const sdk::Run& run) {
  for (bool is_settled = false; !is_settled;) {
    const auto signature = border_.signature();
    const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const auto& entry) {
      return std::equal(entry->signature.begin(), entry->signature.end(), signature.begin(),
                        signature.end());
    });
    std::vector<int64_t> sizes;
    if (at == entries_.end()) {
      BP_ASSIGN_OR_RETURN(sizes, evaluate_sizes(program_.plan(), border_.facts()));
    }
    const auto known =
        at == entries_.end() ? std::span<const int64_t>(sizes) : (*at)->schedule->sizes();
    BP_ASSIGN_OR_RETURN(is_settled, border_.resize(run, known));
    if (!is_settled) continue;
    if (at != entries_.end()) {
      entries_.splice(entries_.begin(), entries_, at);
    } else {
      BP_ASSIGN_OR_RETURN(std::unique_ptr<Entry> entry, make_entry(std::move(sizes), run));
      entries_.push_front(std::move(entry));
    }
  }
  return entries_.front().get();
}

Result<std::unique_ptr<Instance::Entry>> Instance::make_entry(std::vector<int64_t> sizes,
                                                              const sdk::Run& run) {
  const PlanView& plan = program_.plan();
  auto entry = std::make_unique<Entry>();
  entry->signature.assign(border_.signature().begin(), border_.signature().end());
  entry->has_copy = border_.has_copy();
  for (size_t i = 0; i < plan.inputs.size(); ++i) {
    const Buffer& buffer = plan.buffers[plan.inputs[i]];
    if (buffer.kind == BufferKind::input && !has_strides(plan, sizes, buffer, run.inputs()[i]))
      entry->has_copy[plan.inputs[i]] = true;
  }
  const SchedulePlace place{
      plan,     program_.device(), program_.modules(),
      handles_, program_.host(),   reinterpret_cast<CuAddress>(fault_.data())};
  BP_ASSIGN_OR_RETURN(entry->schedule,
                      Schedule::build(place, std::move(sizes), plan.summary[0].num_setup_steps,
                                      static_cast<uint32_t>(plan.steps.size()), entry->has_copy));
  if (entries_.size() >= kMostSignatures) {
    // Its graph may still be running.
    BP_TRY(wait(stream_));
    driver().event_synchronize(queued_);
    entries_.pop_back();
  }
  return entry;
}

// The stream to run on, after what was queued on another one.
Result<Instance::Queue> Instance::queue_of(const sdk::Run& run) {
  auto* const given = static_cast<CuStream>(run.raw().stream);
  Queue queue{given == nullptr ? stream_ : given, given != nullptr, false};
  if (queue.is_callers) {
    CuCaptureStatus status = kCuNotCapturing;
    BP_TRY(driver().check(driver().stream_is_capturing(given, &status), "the caller's stream"));
    queue.is_capturing = status == kCuCapturing;
  }
  const bool is_other = last_stream_ != nullptr && last_stream_ != queue.stream;
  if (is_other && last_stream_ != stream_ && !queue.is_capturing)
    BP_TRY(driver().check(driver().stream_wait_event(queue.stream, queued_, 0),
                          "a stream that waits"));
  return queue;
}

// Memory for the entry, and its addresses in it.
Status Instance::settle(Entry& entry, const Queue& queue) {
  if (entry.was_run) return Ok{};
  // Growing touches no stream: a capture of the caller's need not forbid it.
  CuCaptureMode mode = kCuCaptureRelaxed;
  if (queue.is_capturing) driver().thread_exchange_stream_capture_mode(&mode);
  Status status = arena_.grow(entry.schedule->arena_bytes());
  if (queue.is_capturing) driver().thread_exchange_stream_capture_mode(&mode);
  BP_TRY(std::move(status));
  entry.schedule->settle(program_.addresses(), arena_.address());
  return Ok{};
}

void Instance::note_change(Entry& entry, uint32_t buffer) {
  for (const uint32_t launch : entry.schedule->launches().users_of_buffer(buffer))
    entry.changed.insert(launch);
  entry.is_stale = entry.is_stale || entry.schedule->library_uses(buffer);
}

void Instance::give_addresses(Entry& entry, const sdk::Run& run) {
  const PlanView& plan = program_.plan();
  Schedule& schedule = *entry.schedule;
  for (uint32_t i = 0; i < plan.inputs.size(); ++i) {
    const uint32_t b = plan.inputs[i];
    if (plan.buffers[b].kind == BufferKind::number) {
      if (!schedule.give_number(i, border_.number(i))) continue;
      for (const uint32_t launch : schedule.launches().users_of_number(i))
        entry.changed.insert(launch);
    } else if (!entry.has_copy[b] && schedule.give(b, Border::address_of(run.inputs()[i]))) {
      note_change(entry, b);
    }
  }
  for (uint32_t i = 0; i < plan.outputs.size(); ++i) {
    const uint32_t b = plan.outputs[i];
    if (!entry.has_copy[b] && schedule.give(b, Border::address_of(run.outputs()[i])))
      note_change(entry, b);
  }
}

// The copy of an input or output as a tensor; `strides` is its memory.
bp_tensor_t Instance::view_of_copy(const Entry& entry, uint32_t buffer, const bp_tensor_t& like,
                                   std::vector<int64_t>& strides) const {
  const PlanView& plan = program_.plan();
  strides.clear();
  for (const SizeId stride : sizes_of(plan, plan.buffers[buffer].strides))
    strides.push_back(entry.schedule->sizes()[stride]);
  bp_tensor_t view = like;
  view.data = reinterpret_cast<void*>(entry.schedule->address(buffer));
  view.device = {BP_DEV_CUDA, program_.device().facts().index};
  view.strides = strides.data();
  view.byte_offset = 0;
  return view;
}

Status Instance::copy_in(const Entry& entry, const sdk::Run& run, const Queue& queue) {
  const PlanView& plan = program_.plan();
  std::vector<int64_t> strides;
  for (uint32_t i = 0; i < plan.inputs.size(); ++i) {
    const uint32_t b = plan.inputs[i];
    if (!entry.has_copy[b]) continue;
    const bp_tensor_t& from = run.inputs()[i];
    if (queue.is_capturing && from.device.type == BP_DEV_CPU) {
      return Error{Code::unsupported,
                   border_.name_of_input(i) +
                       " is in host memory, which can't be read while the stream "
                       "is being captured"};
    }
    BP_TRY(copy_tensor(driver(), view_of_copy(entry, b, from, strides), from, queue.stream));
  }
  return Ok{};
}

Status Instance::copy_out(const Entry& entry, const sdk::Run& run, const Queue& queue) {
  const PlanView& plan = program_.plan();
  std::vector<int64_t> strides;
  for (uint32_t i = 0; i < plan.outputs.size(); ++i) {
    const uint32_t b = plan.outputs[i];
    if (!entry.has_copy[b]) continue;
    const bp_tensor_t& to = run.outputs()[i];
    BP_TRY(copy_tensor(driver(), to, view_of_copy(entry, b, to, strides), queue.stream));
  }
  return Ok{};
}

Status Instance::run_steps(Entry& entry, const Queue& queue) {
  const bool comes_again = entry.was_run;
  entry.was_run = true;
  // Launched one by one, the steps become part of what the caller captures.
  const bool wants_graph = comes_again && entry.may_capture && !queue.is_capturing;
  if (wants_graph && refresh_graph(entry)) return entry.graph->launch(queue.stream);
  return enqueue(entry, queue.stream);
}

Status Instance::enqueue(Entry& entry, CuStream stream) {
  Status status = entry.schedule->enqueue(stream);
  if (!status.ok()) program_.host().fail(status.error(), entry.schedule->blamed());
  return status;
}

// Whether the entry has a graph with the present addresses. Where the driver won't give one, the
// steps are launched one by one from then on.
bool Instance::refresh_graph(Entry& entry) {
  Status status = Ok{};
  if (entry.graph != nullptr && !entry.is_stale) {
    status = entry.graph->update(*entry.schedule, entry.changed);
    if (!status.ok()) entry.graph.reset();
  }
  if (entry.graph == nullptr || entry.is_stale) {
    auto captured = CapturedGraph::capture(program_.device(), *entry.schedule, stream_);
    entry.may_capture = captured.ok();
    entry.graph = captured.ok() ? std::move(captured).value() : nullptr;
    if (!captured.ok()) {
      program_.host().log(
          BP_LOG_INFO, program_.name() + " runs without a CUDA graph: " + captured.error().message);
    }
  }
  entry.changed.clear();
  entry.is_stale = false;
  return entry.graph != nullptr;
}

Status Instance::wait(CuStream stream) {
  BP_TRY(driver().check(driver().stream_synchronize(stream), "running " + program_.name()));
  return check_fault();
}

// What a kernel has reported since the last look.
Status Instance::check_fault() {
  if (fault_.size() == 0) return Ok{};
  auto* const words = reinterpret_cast<volatile uint64_t*>(fault_.data());
  const uint64_t node = words[0];
  if (node == 0) return Ok{};
  const auto value = static_cast<int64_t>(words[1]);
  words[1] = 0;
  words[0] = 0;
  const PlanView& plan = program_.plan();
  Error error{Code::invalid_argument, "a value is out of range: " + std::to_string(value)};
  for (const Step& step : plan.steps) {
    if (step.debug_id != node || step.kind != StepKind::launch) continue;
    const Kernel& kernel = plan.kernels[plan.launches[step.index].kernel];
    if (kernel.fault.count == 0) continue;
    error.message = "node '" + std::string(text_of(plan, step.node)) +
                    "': " + std::string(text_of(plan, kernel.fault)) + ": " + std::to_string(value);
    break;
  }
  program_.host().fail(error, node);
  return error;
}

}  // namespace backplane::cuda
