#include "cuda/runtime/schedule.hpp"

#include <algorithm>

#include "cuda/runtime/arena_layout.hpp"

namespace backplane::cuda {
namespace {

constexpr uint64_t kNowhere = UINT64_MAX;

}  // namespace

Schedule::Schedule(const SchedulePlace& place, std::vector<int64_t> sizes, uint32_t first)
    : place_(place),
      sizes_(std::move(sizes)),
      first_(first),
      launches_(place.plan, place.modules, place.fault),
      library_uses_(place.plan.buffers.size()),
      offsets_(place.plan.buffers.size(), kNowhere),
      addresses_(place.plan.buffers.size()),
      numbers_(place.plan.inputs.size()) {}

Result<std::unique_ptr<Schedule>> Schedule::build(const SchedulePlace& place,
                                                  std::vector<int64_t> sizes, uint32_t first,
                                                  uint32_t end, const std::vector<bool>& has_copy) {
  std::unique_ptr<Schedule> schedule(new Schedule(place, std::move(sizes), first));
  const Current current(place.device);
  schedule->lay_out_arena(end, has_copy);
  for (const Step& step : place.plan.steps.subspan(first, end - first)) {
    if (Status status = schedule->add(step); !status.ok()) {
      Error error = schedule->at(step, std::move(status).error());
      place.host.fail(error, step.debug_id);
      return error;
    }
  }
  schedule->launches_.seal();
  return schedule;
}

void Schedule::lay_out_arena(uint32_t end, const std::vector<bool>& has_copy) {
  std::vector<Lifetime> lifetimes;
  std::vector<uint32_t> buffers;
  for (uint32_t b = 0; b < place_.plan.buffers.size(); ++b) {
    const Buffer& buffer = place_.plan.buffers[b];
    const bool is_copy = !has_copy.empty() && has_copy[b];
    if (buffer.kind != BufferKind::arena && !is_copy) continue;
    const auto bytes = static_cast<uint64_t>(std::max<int64_t>(sizes_[buffer.bytes], 0));
    lifetimes.push_back(is_copy ? Lifetime{bytes, first_, end}
                                : Lifetime{bytes, buffer.first_step, buffer.last_step});
    buffers.push_back(b);
  }
  const ArenaLayout layout = lay_out(lifetimes);
  for (size_t i = 0; i < buffers.size(); ++i) offsets_[buffers[i]] = layout.offsets[i];
  workspace_offset_ = layout.size_bytes;
}

Error Schedule::at(const Step& step, Error error) {
  blamed_ = step.debug_id;
  return std::move(error).in("node '" + std::string(text_of(place_.plan, step.node)) + "'");
}

Status Schedule::add(const Step& step) {
  BP_ASSIGN_OR_RETURN(Work work, work_of(step));
  works_.push_back(std::move(work));
  return Ok{};
}

Result<Schedule::Work> Schedule::work_of(const Step& step) {
  const PlanView& plan = place_.plan;
  switch (step.kind) {
    case StepKind::launch: {
      BP_ASSIGN_OR_RETURN(const uint32_t launch, launches_.add(step, sizes_));
      return Work(LaunchStep{launch});
    }
    case StepKind::gemm: {
      const Gemm& gemm = plan.gemms[step.index];
      for (const Operand* o : {&gemm.a, &gemm.b, &gemm.c, &gemm.d, &gemm.bias}) uses(o->buffer);
      BP_ASSIGN_OR_RETURN(auto run, GemmRun::choose(plan, sizes_, gemm, place_.handles));
      workspace_bytes_ = std::max<uint64_t>(workspace_bytes_, run->workspace_bytes());
      return Work(std::move(run));
    }
    case StepKind::convolution: {
      const Convolution& c = plan.convolutions[step.index];
      for (const Operand* o : {&c.x, &c.w, &c.y, &c.bias, &c.z}) uses(o->buffer);
      BP_ASSIGN_OR_RETURN(auto run, ConvolutionRun::choose(plan, sizes_, c, place_.handles));
      workspace_bytes_ = std::max<uint64_t>(workspace_bytes_, run->workspace_bytes());
      return Work(std::move(run));
    }
    case StepKind::copy: {
      const Copy& c = plan.copies[step.index];
      uses(c.to);
      uses(c.from);
      return Work(CopyStep{c.to, c.from, value_or_0(sizes_, c.to_offset),
                           value_or_0(sizes_, c.from_offset), value_or_0(sizes_, c.bytes)});
    }
    case StepKind::fill: {
      const Fill& f = plan.fills[step.index];
      uses(f.to);
      return Work(FillStep{f.to, value_or_0(sizes_, f.offset), value_or_0(sizes_, f.bytes), f.width,
                           f.value});
    }
  }
  return Error{Code::internal, "a step of no kind"};
}

void Schedule::settle(std::span<const CuAddress> fixed, CuAddress arena) {
  for (uint32_t b = 0; b < addresses_.size(); ++b) {
    addresses_[b] = offsets_[b] == kNowhere ? fixed[b] : arena + offsets_[b];
    launches_.point(b, addresses_[b]);
  }
  workspace_ = arena + workspace_offset_;
}

bool Schedule::give(uint32_t buffer, CuAddress address) {
  if (offsets_[buffer] != kNowhere || addresses_[buffer] == address) return false;
  addresses_[buffer] = address;
  launches_.point(buffer, address);
  return true;
}

bool Schedule::give_number(uint32_t input, double value) {
  if (numbers_[input] == value) return false;
  numbers_[input] = value;
  launches_.set_number(input, value);
  return true;
}

Status Schedule::enqueue(CuStream stream, const std::function<Status(uint32_t)>& after_launch) {
  for (size_t i = 0; i < works_.size(); ++i) {
    if (Status status = run(works_[i], stream, after_launch); !status.ok())
      return at(place_.plan.steps[first_ + i], std::move(status).error());
  }
  return Ok{};
}

Status Schedule::run(Work& work, CuStream stream,
                     const std::function<Status(uint32_t)>& after_launch) {
  if (const auto* launch = std::get_if<LaunchStep>(&work)) {
    BP_TRY(launches_.enqueue(place_.device.driver(), launch->launch, stream));
    const bool is_queued = !launches_[launch->launch].is_nothing;
    return is_queued && after_launch ? after_launch(launch->launch) : Status(Ok{});
  }
  if (auto* gemm = std::get_if<std::unique_ptr<GemmRun>>(&work))
    return (*gemm)->enqueue(stream, addresses_, workspace_);
  if (auto* convolution = std::get_if<std::unique_ptr<ConvolutionRun>>(&work))
    return (*convolution)->enqueue(stream, addresses_, workspace_);
  if (const auto* step = std::get_if<CopyStep>(&work)) return copy(*step, stream);
  return fill(std::get<FillStep>(work), stream);
}

Status Schedule::copy(const CopyStep& step, CuStream stream) {
  if (step.bytes == 0) return Ok{};
  const Driver& driver = place_.device.driver();
  return driver.check(
      driver.memcpy_async(addresses_[step.to] + step.to_offset,
                          addresses_[step.from] + step.from_offset, step.bytes, stream),
      "a copy");
}

Status Schedule::fill(const FillStep& step, CuStream stream) {
  if (step.bytes == 0) return Ok{};
  const Driver& driver = place_.device.driver();
  const CuAddress to = addresses_[step.to] + step.offset;
  const auto value = step.value;
  const CuResult result =
      step.width == 1
          ? driver.memset_d8_async(to, static_cast<unsigned char>(value), step.bytes, stream)
      : step.width == 2
          ? driver.memset_d16_async(to, static_cast<unsigned short>(value), step.bytes / 2, stream)
          : driver.memset_d32_async(to, value, step.bytes / 4, stream);
  return driver.check(result, "a fill");
}

}  // namespace backplane::cuda
