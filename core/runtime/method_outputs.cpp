// What a method gives back: buffers of the caller's, and copies where what is there can't be given
// away (the caller's own input, a buffer of the session that another method may write).
#include <backplane/tensor.hpp>

#include <algorithm>

#include "common/abi_dtype.hpp"
#include "runtime/method_state.hpp"

namespace backplane::runtime {
namespace {

// Bytes from the first to behind the last element that the view can touch.
struct Extent {
  const std::byte* begin;
  const std::byte* end;
};

Extent extent_of(const void* data, DType dtype, std::span<const int64_t> sizes,
                 std::span<const int64_t> strides) {
  int64_t low = 0;
  int64_t high = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t reach = (sizes[d] - 1) * strides[d];
    (reach < 0 ? low : high) += reach;
    if (sizes[d] == 0) high = low;
  }
  const auto* base = static_cast<const std::byte*>(data);
  const auto element = static_cast<int64_t>(size_of(dtype));
  return {base + low * element, base + high * element};
}

bool overlap(const Extent& a, const Extent& b) {
  return a.begin < b.end && b.begin < a.end;
}

Extent extent_of(const TensorView& view) {
  return extent_of(view.data, view.dtype, view.sizes, view.strides);
}

bp_tensor_t abi_view(const TensorView& buffer, const TensorState& like) {
  bp_tensor_t tensor = like.view;
  tensor.data = buffer.data;
  tensor.device = {static_cast<int32_t>(buffer.device.kind), buffer.device.index};
  tensor.byte_offset = 0;
  return tensor;
}

}  // namespace

Status MethodState::set_output(size_t index, const TensorView& buffer) {
  const size_t count = plan_.outputs.size();
  if (index >= count) {
    return wrong("there is no output " + std::to_string(index) + ", there are " +
                 std::to_string(count));
  }
  ResultState& result = results_[index];
  if (buffer.data == nullptr) {
    result.buffer = {};
    return Ok{};
  }
  const SlotInfo& slot = plan_.info.outputs[index];
  const std::string name = name_of_slot("output", index, slot);
  if (result.tensor < 0) return wrong(name + " is not a tensor");
  const TensorState& tensor = values_.tensors()[static_cast<size_t>(result.tensor)];
  const TensorPlan& plan = *tensor.plan;
  if (buffer.dtype != plan.dtype() || buffer.sizes.size() != plan.rank() ||
      buffer.strides.size() != plan.rank()) {
    return wrong(name + " is " + std::string(name_of(plan.dtype())) + " of rank " +
                 std::to_string(plan.rank()) + ", the buffer is " +
                 std::string(name_of(buffer.dtype)) + " of sizes " + format_sizes(buffer.sizes));
  }
  const auto bytes = dense_nbytes(buffer.dtype, buffer.sizes);
  if (!bytes) return wrong(name + ": sizes " + format_sizes(buffer.sizes) + " are too large");
  const bool dense = is_laid_out(plan.file->layout.dim_order, buffer.sizes, buffer.strides);
  const bool bounded = plan.bound_bytes != UINT64_MAX;
  const bool fits = dense ? static_cast<uint64_t>(*bytes) >= plan.bound_bytes
                          : std::equal(buffer.sizes.begin(), buffer.sizes.end(),
                                       plan.bounds.begin(), std::greater_equal<>());
  if (bounded && !fits) {
    return in_method({Code::output_too_small,
                      name + ": a buffer of sizes " + format_sizes(buffer.sizes) +
                          " is too small, the output can be " + format_sizes(plan.bounds)});
  }
  if (!buffer.device.is_host() &&
      std::none_of(memories_.begin(), memories_.end(), [&](const auto& m) {
        return m->owns({static_cast<int32_t>(buffer.device.kind), buffer.device.index});
      })) {
    return in_method(
        {Code::unsupported, name + ": no delegate of this method works on the buffer's device"});
  }
  for (size_t i = 0; i < count; ++i) {
    const TensorView& other = results_[i].buffer;
    if (i == index || other.data == nullptr || !overlap(extent_of(buffer), extent_of(other)))
      continue;
    return wrong(name + ": the buffer overlaps the one of output " + std::to_string(i));
  }
  result.buffer = buffer;
  result.buffer_bytes = static_cast<uint64_t>(*bytes);
  result.is_buffer_dense = dense;
  return Ok{};
}

bool MethodState::overlaps_input(const ResultState& result) const {
  const Extent mine = extent_of(result.buffer);
  return std::any_of(plan_.inputs.begin(), plan_.inputs.end(), [&](const InputPlan& input) {
    if (input.tensor < 0) return false;
    const TensorState& tensor = values_.tensors()[static_cast<size_t>(input.tensor)];
    if (!tensor.is_borrowed) return false;
    const void* data = tensor.is_host_current ? tensor.view.data : tensor.device.data;
    return overlap(mine, extent_of(data, tensor.plan->dtype(), tensor.sizes(), tensor.strides()));
  });
}

// Lets instructions write to the caller's buffers where that can do no harm.
void MethodState::bind_outputs() {
  for (ResultState& result : results_) {
    if (result.tensor < 0 || !result.is_direct) continue;
    TensorState& tensor = values_.tensors()[static_cast<size_t>(result.tensor)];
    tensor.view.data = tensor.home;
    tensor.capacity = tensor.home_capacity;
    tensor.device = {};
    if (result.buffer.data == nullptr || !result.is_buffer_dense || overlaps_input(result))
      continue;
    if (result.buffer.device.is_host()) {
      tensor.view.data = result.buffer.data;
      tensor.capacity = result.buffer_bytes;
      continue;
    }
    for (const auto& memory : memories_) {
      if (!memory->owns(
              {static_cast<int32_t>(result.buffer.device.kind), result.buffer.device.index}))
        continue;
      tensor.device = {memory.get(), result.buffer.data, result.buffer_bytes, false};
    }
  }
}

Status MethodState::deliver_to_buffer(ResultState& result, TensorState& tensor) {
  const bool on_host = result.buffer.device.is_host();
  const void* data = on_host ? tensor.view.data : tensor.device.data;
  const bool is_current = on_host ? tensor.is_host_current : tensor.device.is_current;
  result.view = abi_view(result.buffer, tensor);
  if (!result.is_buffer_dense) result.view.strides = result.buffer.strides.data();
  if (data == result.buffer.data && is_current) return Ok{};
  const bool fits = result.is_buffer_dense
                        ? static_cast<uint64_t>(*dense_nbytes(
                              tensor.plan->dtype(), tensor.sizes())) <= result.buffer_bytes
                        : std::equal(tensor.sizes().begin(), tensor.sizes().end(),
                                     result.buffer.sizes.begin(), std::less_equal<>());
  if (!fits) {
    return Error{Code::output_too_small,
                 tensor.plan->label + " became " + format_sizes(tensor.sizes()) +
                     ", more than its buffer of " + format_sizes(result.buffer.sizes)};
  }
  if (on_host) {
    BP_TRY(fetch_to_host(tensor, kernels_.retired()));
    copy_elements(tensor.view, result.view);
    return Ok{};
  }
  if (numel(tensor.sizes()) == 0) return Ok{};
  for (const auto& memory : memories_) {
    if (!memory->owns(result.view.device)) continue;
    const bool there = tensor.device.memory == memory.get() && tensor.device.is_current;
    if (!there) BP_TRY(fetch_to_host(tensor, kernels_.retired()));
    return memory->copy(result.view, there ? on_device(tensor) : tensor.view);
  }
  return Ok{};
}

Status MethodState::deliver(ResultState& result) {
  if (result.tensor < 0 || result.is_delivered) return Ok{};
  result.is_delivered = true;
  TensorState& tensor = values_.tensors()[static_cast<size_t>(result.tensor)];
  if (result.buffer.data != nullptr) return deliver_to_buffer(result, tensor);
  const bool is_shared = tensor.is_borrowed || tensor.plan->home == Home::state;
  if (!is_shared) {
    result.view = tensor.is_host_current ? tensor.view : on_device(tensor);
    return Ok{};
  }
  BP_TRY(fetch_to_host(tensor, kernels_.retired()));
  const auto bytes = static_cast<uint64_t>(*dense_nbytes(tensor.plan->dtype(), tensor.sizes()));
  if (!result.copy.grow(std::max<uint64_t>(bytes, 1), kernels_.retired())) {
    return Error{Code::out_of_memory, tensor.plan->label + " needs " + std::to_string(bytes) +
                                          " bytes of host memory, which the system does not give"};
  }
  result.view = tensor.view;
  result.view.data = result.copy.data();
  copy_elements(tensor.view, result.view);
  return Ok{};
}

Result<TensorView> MethodState::view_of(const ResultState& result) const {
  const bp_tensor_t& view = result.view;
  TensorView out;
  out.data = view.data;
  out.dtype = plan_.tensors[static_cast<size_t>(result.tensor)].dtype();
  out.sizes.assign(view.shape, view.shape + view.ndim);
  out.strides.assign(view.strides, view.strides + view.ndim);
  out.device = {static_cast<DeviceKind>(view.device.type), view.device.index};
  return out;
}

Result<TensorView> MethodState::output(size_t index) {
  if (index >= plan_.outputs.size()) {
    return wrong("there is no output " + std::to_string(index) + ", there are " +
                 std::to_string(plan_.outputs.size()));
  }
  if (results_[index].tensor < 0) {
    return wrong(name_of_slot("output", index, plan_.info.outputs[index]) + " is not a tensor");
  }
  BP_TRY(finish_results());
  if (!has_results_) return wrong("has no results: it was not executed, or inputs were set since");
  return view_of(results_[index]);
}

Result<ScalarValue> MethodState::output_scalar(size_t index) {
  if (index >= plan_.outputs.size()) {
    return wrong("there is no output " + std::to_string(index) + ", there are " +
                 std::to_string(plan_.outputs.size()));
  }
  if (results_[index].tensor >= 0) {
    return wrong(name_of_slot("output", index, plan_.info.outputs[index]) + " is a tensor");
  }
  BP_TRY(finish_results());
  if (!has_results_) return wrong("has no results: it was not executed, or inputs were set since");
  const bp_boxed_t& box = values_.at(results_[index].value);
  switch (box.kind) {
    case BP_BOX_INT:
      return ScalarValue(box.v.i);
    case BP_BOX_DOUBLE:
      return ScalarValue(box.v.f);
    case BP_BOX_BOOL:
      return ScalarValue(box.v.i != 0);
    case BP_BOX_STRING:
      return ScalarValue(std::string(box.v.text, box.count));
    case BP_BOX_NONE:
      return ScalarValue();
    default:
      return in_method(
          {Code::unsupported, name_of_slot("output", index, plan_.info.outputs[index]) + " is " +
                                  std::string(kind_name(box.kind))});
  }
}

Result<TensorView> MethodState::mutated_input(size_t index) {
  if (index >= plan_.inputs.size() || written_result_[index] < 0) {
    return wrong("input " + std::to_string(index) + " is not one that the method writes");
  }
  BP_TRY(finish_results());
  if (!has_results_) return wrong("has no results: it was not executed, or inputs were set since");
  return view_of(results_[static_cast<size_t>(written_result_[index])]);
}

Result<Tensor> MethodState::to_host(const TensorView& view) const {
  if (view.device.is_host()) return Tensor::copy_of(view);
  const auto memory = std::find_if(memories_.begin(), memories_.end(), [&](const auto& m) {
    return m->owns({static_cast<int32_t>(view.device.kind), view.device.index});
  });
  if (memory == memories_.end()) {
    return in_method({Code::unsupported, "no delegate of this method works on the view's device"});
  }
  BP_ASSIGN_OR_RETURN(Tensor host, Tensor::uninitialized(view.dtype, view.sizes));
  if (host.numel() == 0) return host;
  const auto abi = [](TensorView& v) {
    return bp_tensor_t{v.data,
                       {static_cast<int32_t>(v.device.kind), v.device.index},
                       static_cast<int32_t>(v.sizes.size()),
                       abi_dtype(v.dtype),
                       v.sizes.data(),
                       v.strides.data(),
                       0};
  };
  TensorView to = host.view();
  TensorView from = view;
  Status status = (*memory)->copy(abi(to), abi(from));
  if (status.ok()) status = (*memory)->synchronize();
  if (!status.ok()) return in_method(std::move(status).error());
  return host;
}

}  // namespace backplane::runtime
