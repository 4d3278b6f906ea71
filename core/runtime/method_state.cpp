#include "runtime/method_state.hpp"

#include <algorithm>

namespace backplane::runtime {
namespace {

// The tensors that a value is or lists.
void append_tensors(Values& values, pte::ValueIndex v, std::vector<TensorState*>& tensors) {
  if (v < 0) return;
  const auto add = [&](pte::ValueIndex item) {
    TensorState* tensor = item < 0 ? nullptr : values.tensor(item);
    if (tensor != nullptr) tensors.push_back(tensor);
  };
  const pte::Value& value = values.file_value(v);
  if (const auto* list = std::get_if<pte::TensorList>(&value)) {
    std::for_each(list->items.begin(), list->items.end(), add);
  } else if (const auto* some = std::get_if<pte::OptionalTensorList>(&value)) {
    std::for_each(some->items.begin(), some->items.end(), add);
  } else {
    add(v);
  }
}

// How many of a step's last arguments are only written.
size_t count_outputs(const Step& step, Values& values) {
  if (step.kind == Step::Kind::kernel) {
    const bool list = std::holds_alternative<pte::TensorList>(values.file_value(step.args.back()));
    return list ? 1 : step.written.size();
  }
  if (step.kind == Step::Kind::move) return 1;
  return step.kind == Step::Kind::prim && step.prim->written > 0 ? 1 : 0;
}

}  // namespace

MethodState::MethodState(std::shared_ptr<SessionState> session, size_t method)
    : session_(std::move(session)),
      program_(*session_->program),
      plan_(program_.methods[method]),
      method_(method),
      values_(plan_),
      kernels_(program_.pool.get(), &session_->random),
      call_{values_, kernels_.retired()} {}

MethodState::~MethodState() {
  for (const auto& memory : memories_) (void)memory->synchronize();
  calls_.clear();
  for (size_t d = 0; d < instances_.size(); ++d) {
    const size_t use = program_.delegates.at(method_, d).use;
    program_.delegates.uses()[use].backend->instance_destroy(instances_[d]);
  }
}

Result<std::unique_ptr<MethodState>> MethodState::create(std::shared_ptr<SessionState> session,
                                                         size_t method) {
  std::unique_ptr<MethodState> state(new MethodState(std::move(session), method));
  Status status = state->give_memory();
  if (status.ok()) status = state->create_calls();
  if (!status.ok()) return state->in_method(std::move(status).error());
  return state;
}

Status MethodState::give_memory() {
  const auto& sizes = plan_.file->non_const_buffer_sizes;
  arenas_.resize(sizes.size());
  keeps_place_.assign(plan_.tensors.size(), 0);
  for (size_t t = 0; t < plan_.tensors.size(); ++t) {
    const TensorPlan& plan = plan_.tensors[t];
    TensorState& tensor = values_.tensors()[t];
    tensor.home_capacity = plan.bound_bytes;
    if (plan.home == Home::constant) {
      tensor.home = const_cast<std::byte*>(plan.constant);  // NOLINT: is_read_only guards it
      tensor.is_read_only = true;
      keeps_place_[t] = 1;
    } else if (plan.home == Home::state) {
      tensor.home = session_->buffers[plan.index].data() + plan.offset;
    } else if (plan.home == Home::arena) {
      Block& arena = arenas_[plan.index];
      if (arena.data() == nullptr && !arena.allocate(sizes[plan.index])) {
        return Error{Code::out_of_memory, "planned memory of " + std::to_string(sizes[plan.index]) +
                                              " bytes, which the system does not give"};
      }
      tensor.home = arena.data() + plan.offset;
      tensor.home_capacity = sizes[plan.index] - plan.offset;
    } else {
      tensor.home_capacity = 0;
    }
    tensor.view.data = tensor.home;
    tensor.capacity = tensor.home_capacity;
    // Whatever instructions do, a tensor that they look at has memory.
    if (plan.home == Home::own) BP_TRY(ensure_memory(tensor, kernels_.retired()));
  }
  is_set_.assign(plan_.inputs.size(), 0);
  written_result_.assign(plan_.inputs.size(), -1);
  symbols_.resize(plan_.signature.symbols.size());
  for (const OutputPlan& output : plan_.outputs) {
    ResultState& result = results_.emplace_back();
    result.value = output.value;
    result.tensor = output.tensor;
    result.is_direct = output.is_direct;
  }
  for (size_t i = 0; i < plan_.inputs.size(); ++i) {
    const InputPlan& input = plan_.inputs[i];
    is_set_[i] = input.tensor < 0 && !plan_.signature.inputs[i].number;
    if (input.tensor >= 0) keeps_place_[static_cast<size_t>(input.tensor)] = 1;
    if (input.written < 0) continue;
    written_result_[i] = static_cast<int32_t>(results_.size());
    ResultState& result = results_.emplace_back();
    result.value = input.written;
    result.tensor = plan_.tensor_of[static_cast<size_t>(input.written)];
  }
  return Ok{};
}

Status MethodState::create_calls() {
  const auto& arena_sizes = plan_.file->non_const_buffer_sizes;
  const auto memory_of = [&](const DeviceTarget* target) -> DeviceMemory* {
    if (target == nullptr) return nullptr;
    const auto same = std::find_if(memories_.begin(), memories_.end(),
                                   [&](const auto& m) { return &m->target() == target; });
    if (same != memories_.end()) return same->get();
    memories_.push_back(std::make_unique<DeviceMemory>(*target, arena_sizes, plan_.tensors.size()));
    return memories_.back().get();
  };
  for (size_t d = 0; d < plan_.file->delegates.size(); ++d) {
    const LoadedDelegate& loaded = program_.delegates.at(method_, d);
    const Backend& backend = *program_.delegates.uses()[loaded.use].backend;
    auto instance = backend.instance_create(loaded.program, session_->delegates.of(loaded.use));
    if (!instance.ok()) {
      return std::move(instance).error().in("delegate " + std::to_string(d) + " (" +
                                            plan_.file->delegates[d].id + ")");
    }
    instances_.push_back(*instance);
  }
  calls_.resize(plan_.steps.size());
  size_t count = 0;
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& step = plan_.steps[i];
    if (step.kind != Step::Kind::delegate) continue;
    const auto d = static_cast<size_t>(step.target);
    const LoadedDelegate& loaded = program_.delegates.at(method_, d);
    const Backend& backend = *program_.delegates.uses()[loaded.use].backend;
    calls_[i] = std::make_unique<DelegateCall>(backend, instances_[d], loaded,
                                               memory_of(loaded.target), step, values_);
    ++count;
  }
  pending_.reserve(count);
  note_host_tensors();
  return Ok{};
}

// Where some delegate works on a device, what the host's steps touch may be there.
void MethodState::note_host_tensors() {
  reads_.resize(plan_.steps.size());
  writes_.resize(plan_.steps.size());
  if (memories_.empty()) return;
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const Step& step = plan_.steps[i];
    if (step.kind == Step::Kind::delegate) continue;
    const bool by_shape = step.kind == Step::Kind::prim && !step.prim->reads_bytes;
    const size_t inputs =
        step.args.size() - std::min(count_outputs(step, values_), step.args.size());
    for (size_t a = 0; a < inputs && !by_shape; ++a)
      append_tensors(values_, step.args[a], reads_[i]);
    if (step.kind == Step::Kind::prim && step.prim->is_view) continue;
    for (const pte::ValueIndex v : step.written) append_tensors(values_, v, writes_[i]);
  }
}

Error MethodState::in_method(Error error) const {
  return std::move(error).in(program_.path + ": method '" + plan_.info.name + "'");
}

Error MethodState::wrong(std::string message) const {
  return in_method({Code::invalid_argument, std::move(message)});
}

std::string MethodState::name_of_slot(const char* what, size_t index, const SlotInfo& slot) {
  std::string name = what + (" " + std::to_string(index));
  return slot.name.empty() ? name : name + " ('" + slot.name + "')";
}

}  // namespace backplane::runtime
