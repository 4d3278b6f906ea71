#include "runtime/delegate_call.hpp"

#include <algorithm>
#include <cstring>

#include "common/abi_dtype.hpp"

namespace backplane::runtime {
namespace {

bool is_host_argument(const LoadedDelegate& delegate, size_t i) {
  return !delegate.on_device.empty() && delegate.on_device[i] == 0;
}

}  // namespace

DelegateCall::DelegateCall(const Backend& backend, bp_instance_t* instance,
                           const LoadedDelegate& delegate, DeviceMemory* memory, const Step& step,
                           Values& values)
    : backend_(backend),
      instance_(instance),
      memory_(memory),
      num_inputs_(step.num_inputs),
      arguments_(step.args.size()),
      views_(step.args.size()),
      infos_(step.args.size()) {
  can_defer_ = memory != nullptr && BP_HAS(&backend.table(), finish);
  size_t key_size = 0;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    Argument& argument = arguments_[i];
    infos_[i].struct_size = sizeof(bp_tensor_info_t);
    argument.tensor = values.tensor(step.args[i]);
    if (argument.tensor == nullptr) {
      argument.number = &values.at(step.args[i]);
      describe_number(argument, views_[i], values.file_value(step.args[i]));
      continue;
    }
    const TensorPlan& plan = *argument.tensor->plan;
    argument.index = static_cast<size_t>(argument.tensor - values.tensors().data());
    argument.on_device = memory != nullptr && !is_host_argument(delegate, i);
    infos_[i].upper_bounds = plan.is_fixed() ? nullptr : plan.bounds.data();
    infos_[i].id_lo = plan.id_lo;
    infos_[i].id_hi = plan.id_hi;
    const auto inputs = step.args.begin() + step.num_inputs;
    argument.is_both =
        i >= num_inputs_ && std::find(step.args.begin(), inputs, step.args[i]) != inputs;
    const bool unbounded = plan.bound_bytes == UINT64_MAX;
    can_defer_ = can_defer_ && (i < num_inputs_ || !unbounded);
    key_size += 1 + plan.rank();
  }
  binding_key_.assign(key_size, -1);
  binding_now_.assign(key_size, 0);
  run_.struct_size = sizeof(run_);
  run_.num_inputs = static_cast<uint32_t>(num_inputs_);
  run_.num_outputs = static_cast<uint32_t>(arguments_.size() - num_inputs_);
  run_.inputs = views_.data();
  run_.outputs = views_.data() + num_inputs_;
  run_.input_info = {infos_.data(), run_.num_inputs, sizeof(bp_tensor_info_t)};
  run_.output_info = {infos_.data() + num_inputs_, run_.num_outputs, sizeof(bp_tensor_info_t)};
  run_.ctx = to_abi(static_cast<RunHandler&>(*this));
}

void DelegateCall::describe_number(Argument& argument, bp_tensor_t& view, const pte::Value& file) {
  view.data = &argument.cell;
  view.device = {BP_DEV_CPU, 0};
  view.dtype = abi_dtype(std::holds_alternative<double>(file) ? DType::f64
                         : std::holds_alternative<bool>(file) ? DType::boolean
                                                              : DType::i64);
}

Status DelegateCall::give_number(Argument& argument, const bp_tensor_t& view) {
  const bp_boxed_t& box = *argument.number;
  if (!is_number(box)) {
    return Error{Code::invalid_argument,
                 "is given " + std::string(kind_name(box.kind)) + " where a number is wanted"};
  }
  argument.cell = 0;
  if (view.dtype.code == BP_DT_FLOAT) {
    const double number = as_double(box);
    std::memcpy(&argument.cell, &number, sizeof(number));
  } else if (view.dtype.code == BP_DT_BOOL) {
    argument.cell = as_double(box) != 0 ? 1 : 0;
  } else {
    argument.cell = is_integer(box) ? box.v.i : static_cast<int64_t>(box.v.f);
  }
  return Ok{};
}

void DelegateCall::take_number(Argument& argument, const bp_tensor_t& view) {
  if (view.dtype.code == BP_DT_FLOAT) {
    double number = 0;
    std::memcpy(&number, &argument.cell, sizeof(number));
    *argument.number = boxed(number);
  } else if (view.dtype.code == BP_DT_BOOL) {
    *argument.number = boxed((argument.cell & 0xff) != 0);
  } else {
    *argument.number = boxed(argument.cell);
  }
}

void DelegateCall::show(size_t i) {
  const Argument& argument = arguments_[i];
  views_[i] = argument.on_device ? on_device(*argument.tensor) : argument.tensor->view;
}

Status DelegateCall::give_input(size_t i, CallContext& context) {
  Argument& argument = arguments_[i];
  if (argument.tensor == nullptr) return give_number(argument, views_[i]);
  if (argument.on_device) {
    BP_TRY(memory_->fetch(*argument.tensor, argument.index, context.retired));
  } else {
    BP_TRY(fetch_to_host(*argument.tensor, context.retired));
  }
  show(i);
  return Ok{};
}

// Bounded outputs are shown with their bounds and room for them, others with what they had last.
Status DelegateCall::give_output(size_t i, CallContext& context) {
  Argument& argument = arguments_[i];
  if (argument.tensor == nullptr) {
    argument.cell = 0;
    return Ok{};
  }
  TensorState& tensor = *argument.tensor;
  const TensorPlan& plan = *tensor.plan;
  if (plan.bound_bytes != UINT64_MAX && !argument.is_both) BP_TRY(set_sizes(tensor, plan.bounds));
  if (tensor.is_read_only || tensor.is_borrowed)
    return resize(tensor, tensor.sizes(), context.retired);
  if (argument.on_device) {
    BP_TRY(memory_->reserve(tensor, argument.index));
  } else {
    BP_TRY(ensure_memory(tensor, context.retired));
  }
  show(i);
  return Ok{};
}

void DelegateCall::set_binding() {
  size_t next = 0;
  for (size_t i = 0; i < arguments_.size(); ++i) {
    if (arguments_[i].tensor == nullptr) continue;
    binding_now_[next++] = static_cast<int64_t>(reinterpret_cast<intptr_t>(views_[i].data));
    for (int32_t d = 0; d < views_[i].ndim; ++d) binding_now_[next++] = views_[i].shape[d];
  }
  if (run_.binding != 0 && binding_now_ == binding_key_) return;
  binding_key_.swap(binding_now_);
  ++run_.binding;
}

Status DelegateCall::run(CallContext& context) {
  context_ = &context;
  is_pending_ = false;
  for (size_t i = 0; i < num_inputs_; ++i) BP_TRY(give_input(i, context));
  for (size_t i = num_inputs_; i < arguments_.size(); ++i) BP_TRY(give_output(i, context));
  set_binding();
  run_.stream = memory_ == nullptr ? nullptr : memory_->stream();
  run_.cancel = context.cancel;
  run_.flags = 0;
  if (run_.stream != nullptr && context.is_callers_stream) run_.flags |= BP_RUN_CALLERS_STREAM;
  if (run_.stream != nullptr && can_defer_) run_.flags |= BP_RUN_DEFER_SIZES;
  BP_TRY(backend_.execute(instance_, run_));
  is_pending_ = (run_.flags & BP_RUN_DEFER_SIZES) != 0;
  take_outputs();
  return Ok{};
}

void DelegateCall::take_outputs() {
  for (size_t i = num_inputs_; i < arguments_.size(); ++i) {
    Argument& argument = arguments_[i];
    if (argument.tensor == nullptr) {
      take_number(argument, views_[i]);
      continue;
    }
    argument.tensor->is_host_current = !argument.on_device;
    argument.tensor->device.is_current = argument.on_device;
  }
}

Status DelegateCall::finish(CallContext& context) {
  if (!is_pending_) return Ok{};
  is_pending_ = false;
  context_ = &context;
  BP_TRY(backend_.finish(instance_, run_));
  for (size_t i = num_inputs_; i < arguments_.size(); ++i) {
    if (arguments_[i].tensor == nullptr) take_number(arguments_[i], views_[i]);
  }
  return Ok{};
}

Status DelegateCall::resize_output(uint32_t index, std::span<const int64_t> shape) {
  const size_t i = num_inputs_ + index;
  if (index >= run_.num_outputs) {
    return Error{Code::invalid_argument, "output " + std::to_string(index) +
                                             " does not exist, there are " +
                                             std::to_string(run_.num_outputs)};
  }
  Argument& argument = arguments_[i];
  if (argument.tensor == nullptr) {
    if (shape.empty()) return Ok{};
    return Error{Code::invalid_argument, "output " + std::to_string(index) + " is a number"};
  }
  const std::span<const int64_t> now = argument.tensor->sizes();
  if (argument.is_both && !std::equal(shape.begin(), shape.end(), now.begin(), now.end())) {
    return Error{Code::invalid_argument,
                 argument.tensor->plan->label + " would change its sizes while it is an input too"};
  }
  BP_TRY(set_sizes(*argument.tensor, shape));
  if (argument.on_device) {
    BP_TRY(memory_->reserve(*argument.tensor, argument.index));
  } else {
    BP_TRY(ensure_memory(*argument.tensor, context_->retired));
  }
  show(i);
  return Ok{};
}

}  // namespace backplane::runtime
