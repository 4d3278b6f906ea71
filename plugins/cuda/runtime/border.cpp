#include "cuda/runtime/border.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace backplane::cuda {
namespace {

bool is_on_host(bp_devref_t device) {
  return device.type == BP_DEV_CPU || device.type == BP_DEV_CUDA_HOST;
}

bool same(const bp_dtype_t& a, const bp_dtype_t& b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

std::string type_text(const bp_dtype_t& dtype) {
  return "type " + std::to_string(dtype.code) + " of " + std::to_string(dtype.bits) + " bits";
}

}  // namespace

bool has_strides(const PlanView& plan, std::span<const int64_t> sizes, const Buffer& buffer,
                 const bp_tensor_t& tensor) {
  const auto wanted = sizes_of(plan, buffer.strides);
  for (int32_t d = 0; d < tensor.ndim; ++d) {
    if (tensor.shape[d] == 0) return true;
  }
  for (int32_t d = 0; d < tensor.ndim; ++d) {
    if (tensor.shape[d] != 1 && tensor.strides[d] != sizes[wanted[static_cast<size_t>(d)]])
      return false;
  }
  return true;
}

Border::Border(const PlanView& plan)
    : plan_(plan),
      facts_(plan.inputs.size()),
      numbers_(plan.inputs.size()),
      has_copy_(plan.buffers.size()) {}

std::string Border::name_of_input(size_t index) const {
  return "input " + std::to_string(index) + " '" +
         std::string(text_of(plan_, plan_.buffers[plan_.inputs[index]].name)) + "'";
}

Status Border::look(const sdk::Run& run, int device_index) {
  if (run.inputs().size() != plan_.inputs.size() || run.outputs().size() != plan_.outputs.size()) {
    return Error{Code::invalid_argument, std::to_string(run.inputs().size()) + " inputs and " +
                                             std::to_string(run.outputs().size()) +
                                             " outputs, and the program has " +
                                             std::to_string(plan_.inputs.size()) + " and " +
                                             std::to_string(plan_.outputs.size())};
  }
  signature_.clear();
  for (size_t i = 0; i < plan_.inputs.size(); ++i) {
    const bp_tensor_t& tensor = run.inputs()[i];
    const Buffer& buffer = plan_.buffers[plan_.inputs[i]];
    if (buffer.kind == BufferKind::number) {
      BP_TRY(look_at_number(i, tensor));
    } else {
      BP_TRY(look_at_tensor(i, tensor, device_index));
    }
  }
  outputs_at_ = signature_.size();
  for (const uint32_t output : plan_.outputs) signature_.push_back(has_copy_[output] ? 1 : 0);
  return Ok{};
}

Status Border::look_at_number(size_t index, const bp_tensor_t& tensor) {
  if (tensor.ndim != 0 || !is_on_host(tensor.device))
    return Error{Code::invalid_argument, name_of_input(index) + " must be a number"};
  const auto* bytes = static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
  if (tensor.dtype.code == BP_DT_FLOAT && tensor.dtype.bits == 64) {
    std::memcpy(&numbers_[index], bytes, sizeof(double));
    return Ok{};
  }
  int64_t number = 0;
  std::memcpy(&number, bytes, tensor.dtype.bits == 64 ? 8 : 1);
  facts_[index].number = number;
  numbers_[index] = static_cast<double>(number);
  signature_.push_back(number);
  return Ok{};
}

Status Border::look_at_tensor(size_t index, const bp_tensor_t& tensor, int device_index) {
  const uint32_t b = plan_.inputs[index];
  const Buffer& buffer = plan_.buffers[b];
  if (static_cast<uint32_t>(tensor.ndim) != buffer.dims.count) {
    return Error{Code::invalid_argument, name_of_input(index) + " has " +
                                             std::to_string(tensor.ndim) + " dimensions, not " +
                                             std::to_string(buffer.dims.count)};
  }
  if (!same(tensor.dtype, buffer.dtype)) {
    return Error{Code::invalid_argument, name_of_input(index) + " has " + type_text(tensor.dtype) +
                                             ", not " + type_text(buffer.dtype)};
  }
  const bool is_here = tensor.device.type == BP_DEV_CUDA && tensor.device.index == device_index;
  const bool is_usable = is_here || tensor.device.type == BP_DEV_CUDA_MANAGED;
  facts_[index].shape = {tensor.shape, static_cast<size_t>(tensor.ndim)};
  for (int32_t d = 0; d < tensor.ndim; ++d) {
    signature_.push_back(tensor.shape[d]);
    signature_.push_back(tensor.shape[d] == 1 ? 1 : tensor.strides[d]);
  }
  // Strides are compared once sizes are known; they are in the signature.
  has_copy_[b] = !is_usable || address_of(tensor) % buffer.align != 0;
  signature_.push_back(has_copy_[b] ? 1 : 0);
  return Ok{};
}

bool Border::overlaps_an_input(const sdk::Run& run, const bp_tensor_t& output,
                               uint64_t bytes) const {
  const CuAddress begin = address_of(output);
  return std::any_of(run.inputs().begin(), run.inputs().end(), [&](const bp_tensor_t& input) {
    if (input.device.type != output.device.type || input.data == nullptr) return false;
    uint64_t last = 0;  // element
    for (int32_t d = 0; d < input.ndim; ++d) {
      if (input.shape[d] == 0) return false;
      last += static_cast<uint64_t>((input.shape[d] - 1) * std::max<int64_t>(input.strides[d], 0));
    }
    const CuAddress first = address_of(input);
    return begin < first + (last + 1) * input.dtype.bits / 8 && first < begin + bytes;
  });
}

Result<bool> Border::resize(const sdk::Run& run, std::span<const int64_t> sizes) {
  bool is_as_before = true;
  std::vector<int64_t> shape;
  for (uint32_t i = 0; i < plan_.outputs.size(); ++i) {
    const uint32_t b = plan_.outputs[i];
    const Buffer& buffer = plan_.buffers[b];
    shape.clear();
    for (const SizeId dim : sizes_of(plan_, buffer.dims)) shape.push_back(sizes[dim]);
    BP_TRY(run.resize(i, shape));
    const bp_tensor_t& tensor = run.outputs()[i];
    const auto bytes = static_cast<uint64_t>(sizes[buffer.bytes]);
    const bool needs_copy = is_on_host(tensor.device) || address_of(tensor) % buffer.align != 0 ||
                            !has_strides(plan_, sizes, buffer, tensor) ||
                            overlaps_an_input(run, tensor, bytes);
    if (needs_copy == has_copy_[b]) continue;
    has_copy_[b] = needs_copy;
    signature_[outputs_at_ + i] = needs_copy ? 1 : 0;
    is_as_before = false;
  }
  return is_as_before;
}

}  // namespace backplane::cuda
