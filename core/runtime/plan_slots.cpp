// Inputs and outputs as the caller sees them.
#include <algorithm>
#include <limits>

#include "runtime/method_plan.hpp"

namespace backplane::runtime {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Error wrong(const MethodPlan& plan, const std::string& what) {
  return {Code::invalid_argument,
          "backplane.signature/1: method '" + plan.file->name + "' " + what};
}

Status check_slots(const MethodPlan& plan, const char* what,
                   const std::vector<pte::ValueIndex>& values,
                   const std::vector<SlotSignature>& slots) {
  if (slots.size() != values.size()) {
    return wrong(plan, "has " + std::to_string(slots.size()) + " " + what + "s, the program " +
                           std::to_string(values.size()));
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    const auto* tensor =
        std::get_if<pte::Tensor>(&plan.file->values[static_cast<size_t>(values[i])]);
    const size_t rank = tensor == nullptr ? 0 : tensor->layout.sizes.size();
    if (!slots[i].dims.empty() && slots[i].dims.size() != rank) {
      return wrong(plan, what + (" " + std::to_string(i)) + " has rank " +
                             std::to_string(slots[i].dims.size()) + ", the program's " +
                             std::to_string(rank));
    }
    const int32_t written = slots[i].written;
    const auto& all = plan.file->values;
    if (written >= 0 && (static_cast<size_t>(written) >= all.size() || tensor == nullptr ||
                         !std::holds_alternative<pte::Tensor>(all[static_cast<size_t>(written)]))) {
      return wrong(plan, what + (" " + std::to_string(i)) + " is written by value " +
                             std::to_string(written) + ", which is not a tensor");
    }
  }
  return Ok{};
}

int64_t affine(const DimRule& rule, int64_t symbol) {
  int64_t result = 0;
  if (symbol == kMax || __builtin_mul_overflow(rule.scale, symbol, &result) ||
      __builtin_add_overflow(result, rule.offset, &result)) {
    return kMax;
  }
  return result;
}

DimBounds bounds_of(const MethodPlan& plan, const TensorPlan& tensor, size_t d,
                    const DimRule& rule) {
  DimBounds bounds;
  bounds.max = tensor.bounds[d];
  if (tensor.is_fixed() || (rule.is_fixed() && rule.offset == bounds.max)) bounds.min = bounds.max;
  if (rule.symbol < 0 || tensor.is_fixed()) return bounds;
  const SymbolRule& symbol = plan.signature.symbols[static_cast<size_t>(rule.symbol)];
  bounds.min = std::max<int64_t>(0, affine(rule, symbol.min));
  bounds.max = std::min(bounds.max, affine(rule, symbol.max));
  bounds.symbol = symbol.name;
  if (rule.scale != 1) bounds.symbol = std::to_string(rule.scale) + "*" + bounds.symbol;
  if (rule.offset != 0) {
    bounds.symbol += (rule.offset < 0 ? " - " : " + ") + std::to_string(std::abs(rule.offset));
    return bounds;
  }
  if (__builtin_mul_overflow(rule.scale, symbol.multiple_of, &bounds.multiple_of)) {
    bounds.multiple_of = kMax;
  }
  return bounds;
}

SlotInfo slot_of(const MethodPlan& plan, pte::ValueIndex value, const SlotSignature& signature) {
  SlotInfo info;
  info.name = signature.name;
  const TensorPlan* tensor = plan.tensor(value);
  if (tensor == nullptr) {
    constexpr SlotKind kKinds[] = {SlotKind::none,     SlotKind::integer, SlotKind::boolean,
                                   SlotKind::floating, SlotKind::none,    SlotKind::string};
    const size_t kind = plan.file->values[static_cast<size_t>(value)].index();
    info.kind = kind < std::size(kKinds) ? kKinds[kind] : SlotKind::none;
    return info;
  }
  info.dtype = tensor->dtype();
  info.dim_order = tensor->file->layout.dim_order;
  for (size_t d = 0; d < tensor->rank(); ++d) {
    info.dims.push_back(
        bounds_of(plan, *tensor, d, signature.dims.empty() ? DimRule{} : signature.dims[d]));
  }
  return info;
}

// Whether another tensor has part of this one's planned memory. In files of others that may be a
// view.
bool shares_memory(const MethodPlan& plan, const TensorPlan& tensor) {
  return std::any_of(plan.tensors.begin(), plan.tensors.end(), [&](const TensorPlan& other) {
    return &other != &tensor && other.home == Home::arena && tensor.home == Home::arena &&
           other.index == tensor.index && other.offset < tensor.offset + tensor.bound_bytes &&
           tensor.offset < other.offset + other.bound_bytes;
  });
}

bool is_direct(const MethodPlan& plan, const OutputPlan& output, bool is_ours) {
  if (output.tensor < 0) return false;
  const TensorPlan& tensor = plan.tensors[static_cast<size_t>(output.tensor)];
  const auto& outputs = plan.file->outputs;
  const bool rebound =
      std::find(plan.rebound.begin(), plan.rebound.end(), output.tensor) != plan.rebound.end();
  return (tensor.home == Home::arena || tensor.home == Home::own) &&
         plan.is_written[static_cast<size_t>(output.value)] != 0 && !rebound &&
         std::count(outputs.begin(), outputs.end(), output.value) == 1 &&
         (is_ours || !shares_memory(plan, tensor));
}

}  // namespace

Status check_signature(MethodPlan& plan) {
  if (plan.signature.name.empty()) {
    plan.signature.name = plan.file->name;
    plan.signature.inputs.resize(plan.file->inputs.size());
    plan.signature.outputs.resize(plan.file->outputs.size());
  }
  BP_TRY(check_slots(plan, "input", plan.file->inputs, plan.signature.inputs));
  return check_slots(plan, "output", plan.file->outputs, plan.signature.outputs);
}

void plan_slots(MethodPlan& plan, bool is_ours) {
  plan.info.name = plan.file->name;
  for (size_t i = 0; i < plan.file->inputs.size(); ++i) {
    const pte::ValueIndex value = plan.file->inputs[i];
    const SlotSignature& signature = plan.signature.inputs[i];
    InputPlan input{value, plan.tensor_of[static_cast<size_t>(value)], signature.written};
    uint8_t& is_written = plan.is_written[static_cast<size_t>(value)];
    if (input.tensor >= 0 && input.written < 0 && is_written != 0) input.written = value;
    if (signature.number) is_written = 1;
    plan.inputs.push_back(input);
    plan.info.inputs.push_back(slot_of(plan, value, signature));
    plan.info.inputs.back().mutated = input.written >= 0;
  }
  for (size_t i = 0; i < plan.file->outputs.size(); ++i) {
    const pte::ValueIndex value = plan.file->outputs[i];
    OutputPlan output{value, plan.tensor_of[static_cast<size_t>(value)]};
    output.is_direct = is_direct(plan, output, is_ours);
    plan.outputs.push_back(output);
    plan.info.outputs.push_back(slot_of(plan, value, plan.signature.outputs[i]));
  }
  for (const pte::Delegate& delegate : plan.file->delegates) {
    plan.info.delegates.push_back(delegate.id);
  }
  for (const uint64_t size : plan.file->non_const_buffer_sizes) plan.info.planned_bytes += size;
}

}  // namespace backplane::runtime
