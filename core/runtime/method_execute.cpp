// The instruction loop.
#include <algorithm>
#include <cstring>

#include "runtime/method_state.hpp"

namespace backplane::runtime {

Status MethodState::begin(const ExecuteOptions& options) {
  BP_TRY(finish_results());
  has_results_ = false;
  BP_TRY(check_symbols());
  kernels_.retired().clear();
  call_.cancel = options.cancel;
  call_.is_callers_stream = options.stream != nullptr;
  for (const auto& memory : memories_) BP_TRY(memory->begin(options.stream));
  for (const int32_t t : plan_.rebound) {
    TensorState& tensor = values_.tensors()[static_cast<size_t>(t)];
    tensor.view.data = tensor.home;
    tensor.capacity = tensor.home_capacity;
    tensor.is_borrowed = false;
    tensor.is_read_only = false;
    tensor.is_host_current = true;
    tensor.device = {};
  }
  if (!memories_.empty()) {
    for (size_t t = 0; t < keeps_place_.size(); ++t) {
      if (keeps_place_[t] != 0) continue;
      values_.tensors()[t].is_host_current = true;
      values_.tensors()[t].device.is_current = false;
    }
  }
  for (ResultState& result : results_) result.is_delivered = false;
  bind_outputs();
  return Ok{};
}

Status MethodState::execute(const ExecuteOptions& options) {
  Status status = begin(options);
  if (status.ok()) status = run_steps();
  if (status.ok()) status = end();
  if (!status.ok()) {
    // What devices still do must not meet what comes next.
    for (DelegateCall* call : pending_) call->abandon();
    pending_.clear();
    for (const auto& memory : memories_) (void)memory->synchronize();
  }
  forget_inputs();
  has_results_ = status.ok();
  if (!status.ok()) return in_method(std::move(status).error());
  return Ok{};
}

Status MethodState::run_steps() {
  size_t at = 0;
  while (at < plan_.steps.size()) {
    if (bp_cancelled(call_.cancel) != 0) {
      return Error{Code::cancelled, "cancelled before " + plan_.describe(at)};
    }
    size_t next = at + 1;
    if (Status status = run_step(at, next); !status.ok()) {
      return std::move(status).error().in(plan_.describe(at));
    }
    at = next;
  }
  return Ok{};
}

Status MethodState::run_step(size_t index, size_t& next) {
  const Step& step = plan_.steps[index];
  if (step.kind == Step::Kind::nothing) return Ok{};
  if (step.kind != Step::Kind::delegate) {
    if (!pending_.empty()) BP_TRY(finish_pending());
    for (TensorState* tensor : reads_[index]) BP_TRY(fetch_to_host(*tensor, kernels_.retired()));
    if (step.kind == Step::Kind::jump) {
      BP_ASSIGN_OR_RETURN(const bool jumps, is_false(step));
      if (jumps) next = static_cast<size_t>(step.target);
      return Ok{};
    }
    BP_TRY(run_host_step(step, index));
    for (TensorState* tensor : writes_[index]) {
      tensor->is_host_current = true;
      tensor->device.is_current = false;
    }
    return Ok{};
  }
  if (!pending_.empty()) {
    const bool wants_sizes =
        std::any_of(step.args.begin(), step.args.begin() + step.num_inputs, [&](pte::ValueIndex v) {
          const TensorPlan* tensor = plan_.tensor(v);
          return tensor == nullptr || !tensor->is_fixed();
        });
    if (wants_sizes) BP_TRY(finish_pending());
  }
  DelegateCall& call = *calls_[index];
  if (call.is_pending()) BP_TRY(finish_pending());
  BP_TRY(call.run(call_));
  if (call.is_pending()) pending_.push_back(&call);
  return Ok{};
}

Status MethodState::run_host_step(const Step& step, size_t index) {
  if (step.kind == Step::Kind::move) return move(step);
  BP_TRY(values_.refresh(index));
  if (step.kind == Step::Kind::prim) {
    return step.prim->run({values_.pointers(index), kernels_.retired()});
  }
  BP_TRY(kernels_.run(*step.kernel, values_.arguments(index)));
  if (step.in_place_result >= 0) {
    const TensorState& self = *values_.tensor(step.args.front());
    TensorState& result = *values_.tensor(step.in_place_result);
    BP_TRY(set_sizes(result, self.sizes()));
    look_at(result, self);
  }
  return Ok{};
}

// Tensors are copied, not aliased as ExecuTorch does it: a loop may then overwrite what it carried.
Status MethodState::move(const Step& step) {
  TensorState* to = values_.tensor(step.args[1]);
  if (to == nullptr) {
    values_.at(step.args[1]) = values_.at(step.args[0]);
    return Ok{};
  }
  const TensorState& from = *values_.tensor(step.args[0]);
  BP_TRY(resize(*to, from.sizes(), kernels_.retired()));
  copy_elements(from.view, to->view);
  return Ok{};
}

Result<bool> MethodState::is_false(const Step& step) {
  const TensorState* tensor = values_.tensor(step.args[0]);
  if (tensor == nullptr) {
    const bp_boxed_t& box = values_.at(step.args[0]);
    if (is_number(box)) return as_double(box) == 0;
    return Error{Code::invalid_argument,
                 "the condition is " + std::string(kind_name(box.kind)) + ", not a bool"};
  }
  const auto bytes = dense_nbytes(tensor->plan->dtype(), tensor->sizes());
  if (!bytes || *bytes != 1 || tensor->plan->dtype() != DType::boolean) {
    return Error{Code::invalid_argument, tensor->plan->label + " is not a single bool"};
  }
  return *static_cast<const uint8_t*>(tensor->view.data) == 0;
}

Status MethodState::finish_pending() {
  for (DelegateCall* call : pending_) BP_TRY(call->finish(call_));
  pending_.clear();
  return Ok{};
}

// With a stream of the caller's, what was queued is left to it unless the host needs the bytes.
Status MethodState::end() {
  for (TensorState& tensor : values_.tensors()) {
    if (tensor.plan->home == Home::state) BP_TRY(fetch_to_host(tensor, kernels_.retired()));
  }
  if (call_.is_callers_stream && !pending_.empty()) {
    // Inputs are forgotten now, so what looks at them can't wait.
    for (ResultState& result : results_) {
      if (result.tensor < 0) continue;
      const TensorState& tensor = values_.tensors()[static_cast<size_t>(result.tensor)];
      if (tensor.is_borrowed) BP_TRY(deliver(result));
    }
    return Ok{};
  }
  BP_TRY(finish_pending());
  for (ResultState& result : results_) BP_TRY(deliver(result));
  if (call_.is_callers_stream) return Ok{};
  for (const auto& memory : memories_) BP_TRY(memory->synchronize());
  return Ok{};
}

// Gets what an execution on the caller's stream left pending.
Status MethodState::finish_results() {
  if (pending_.empty()) return Ok{};
  Status status = finish_pending();
  for (ResultState& result : results_) {
    if (status.ok()) status = deliver(result);
  }
  pending_.clear();
  if (status.ok()) return Ok{};
  has_results_ = false;
  return in_method(std::move(status).error());
}

}  // namespace backplane::runtime
