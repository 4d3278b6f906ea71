#include "state.hpp"

#include <cstring>

namespace standin {

State& state() {
  static auto* const state = new State;  // for ever: others' destructors may still call
  return *state;
}

CuResult fault(const char* function) {
  auto& faults = state().faults;
  const auto at = faults.find(function);
  if (at == faults.end()) return kCuSuccess;
  if (at->second.after-- > 0) return kCuSuccess;
  const CuResult result = at->second.result;
  if (--at->second.times == 0) faults.erase(at);
  return result;
}

void Work::set_params(void* const* values) {
  params.resize(twin->num_params);
  for (unsigned i = 0; i < twin->num_params; ++i) {
    params[i].resize(twin->param_bytes[i]);
    std::memcpy(params[i].data(), values[i], params[i].size());
  }
}

void Work::execute() const {
  if (kind == Kind::other) return run();
  std::vector<void*> pointers;
  for (const auto& param : params) pointers.push_back(const_cast<std::byte*>(param.data()));
  twin->run(launch, pointers.data());
}

CuResult submit(CuStream stream, Work work) {
  if (stream != nullptr && stream->capture != nullptr) {
    auto node = std::make_shared<CuGraphNodeObject>();
    node->work = std::move(work);
    stream->last = node.get();
    stream->capture->nodes.push_back(std::move(node));
    return kCuSuccess;
  }
  work.execute();
  return kCuSuccess;
}

bool is_device(uint64_t address, size_t bytes) {
  for (const auto* places : {&state().device, &state().mapped}) {
    const auto after = places->upper_bound(address);
    if (after == places->begin()) continue;
    const auto& [start, size] = *std::prev(after);
    if (address + bytes <= start + size) return true;
  }
  return false;
}

}  // namespace standin

using standin::state;

StandinCounts standin_counts() {
  const std::scoped_lock lock(state().mutex);
  return state().counts;
}
void standin_fail(const char* function, int after, int times, int result) {
  const std::scoped_lock lock(state().mutex);
  state().faults[function] = {after, times, static_cast<backplane::cuda::CuResult>(result)};
}
void standin_recover() {
  const std::scoped_lock lock(state().mutex);
  state().faults.clear();
}
void standin_device(uint64_t memory_bytes, int arch) {
  const std::scoped_lock lock(state().mutex);
  state().memory_bytes = memory_bytes;
  state().arch = arch;
}
void standin_enqueue(backplane::cuda::CuStream stream, void (*run)(void* arg), void* arg,
                     void (*drop)(void* arg)) {
  const std::scoped_lock lock(state().mutex);
  const std::shared_ptr<void> owner(arg, drop);
  standin::Work work;
  work.run = [run, owner] { run(owner.get()); };
  standin::submit(stream, std::move(work));
}
