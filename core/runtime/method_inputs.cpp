// What the caller gives a method: checks, and how little of it is copied.
#include <backplane/tensor.hpp>

#include <algorithm>
#include <cmath>

#include "runtime/method_state.hpp"

namespace backplane::runtime {
namespace {

std::string allowed(const DimBounds& bounds) {
  std::string text;
  if (bounds.min == bounds.max) {
    text = std::to_string(bounds.min);
  } else if (bounds.max == INT64_MAX) {
    text = "at least " + std::to_string(bounds.min);
  } else {
    text = std::to_string(bounds.min) + " to " + std::to_string(bounds.max);
  }
  if (bounds.multiple_of > 1) text += ", a multiple of " + std::to_string(bounds.multiple_of);
  return text;
}

bool is_allowed(const DimBounds& bounds, int64_t size) {
  return size >= bounds.min && size <= bounds.max && size % bounds.multiple_of == 0;
}

// The symbol's value, if `size` is one that scale * symbol + offset can be.
std::optional<int64_t> solve(const DimRule& rule, int64_t size) {
  int64_t rest = 0;
  if (__builtin_sub_overflow(size, rule.offset, &rest) || rest % rule.scale != 0)
    return std::nullopt;
  return rest / rule.scale;
}

bp_tensor_t abi_view(const TensorView& view, const TensorState& like) {
  bp_tensor_t tensor = like.view;
  tensor.data = view.data;
  tensor.device = {static_cast<int32_t>(view.device.kind), view.device.index};
  tensor.strides = const_cast<int64_t*>(view.strides.data());  // NOLINT: only read
  return tensor;
}

std::string device_name(const Device& device) {
  return "device " + std::to_string(static_cast<int32_t>(device.kind)) + ":" +
         std::to_string(device.index);
}

std::string text_of(const ScalarValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return std::to_string(*i);
  if (const auto* f = std::get_if<double>(&value)) return std::to_string(*f);
  if (const auto* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const auto* s = std::get_if<std::string>(&value)) return "'" + *s + "'";
  return "none";
}

// A value of the file as the caller writes one.
ScalarValue scalar_of(const pte::Value& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return *i;
  if (const auto* f = std::get_if<double>(&value)) return *f;
  if (const auto* b = std::get_if<bool>(&value)) return *b;
  if (const auto* s = std::get_if<std::string>(&value)) return *s;
  return std::monostate();
}

// Floats are compared as ExecuTorch does, since text may lie between.
bool is_same(const ScalarValue& a, const ScalarValue& b) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  if (x == nullptr || y == nullptr) return a == b;
  return std::fabs(*x - *y) <= 1e-4 + 1e-5 * std::fabs(*y) || *x == *y;
}

}  // namespace

Status MethodState::check_sizes(size_t index, const TensorView& view) const {
  const SlotInfo& slot = plan_.info.inputs[index];
  const std::string name = name_of_slot("input", index, slot);
  if (view.dtype != slot.dtype) {
    return wrong(name + " is " + std::string(backplane::name_of(view.dtype)) + ", " +
                 std::string(backplane::name_of(slot.dtype)) + " is expected");
  }
  if (view.sizes.size() != slot.dims.size() || view.strides.size() != view.sizes.size()) {
    return wrong(name + " has sizes " + format_sizes(view.sizes) + " and " +
                 std::to_string(view.strides.size()) + " strides, rank " +
                 std::to_string(slot.dims.size()) + " is expected");
  }
  const auto& rules = plan_.signature.inputs[index].dims;
  for (size_t d = 0; d < slot.dims.size(); ++d) {
    const bool fits = is_allowed(slot.dims[d], view.sizes[d]) &&
                      (rules.empty() || rules[d].symbol < 0 || solve(rules[d], view.sizes[d]));
    if (fits) continue;
    const std::string& symbol = slot.dims[d].symbol;
    return wrong(name + " has size " + std::to_string(view.sizes[d]) + " in dimension " +
                 std::to_string(d) + (symbol.empty() ? "" : " (" + symbol + ")") + ", allowed is " +
                 allowed(slot.dims[d]));
  }
  const auto bytes = dense_nbytes(view.dtype, view.sizes);
  if (!bytes)
    return wrong(name + " has sizes " + format_sizes(view.sizes) + ", which are too large");
  if (*bytes > 0 && view.data == nullptr) return wrong(name + " has no data");
  return Ok{};
}

Status MethodState::set_input(size_t index, const TensorView& view) {
  if (index >= plan_.inputs.size()) {
    return wrong("there is no input " + std::to_string(index) + ", there are " +
                 std::to_string(plan_.inputs.size()));
  }
  const InputPlan& input = plan_.inputs[index];
  if (input.tensor < 0) {
    return wrong(name_of_slot("input", index, plan_.info.inputs[index]) + " is not a tensor");
  }
  BP_TRY(check_sizes(index, view));
  BP_TRY(finish_results());
  has_results_ = false;
  TensorState& tensor = values_.tensors()[static_cast<size_t>(input.tensor)];
  is_set_[index] = 0;
  tensor.is_borrowed = false;
  tensor.device = {};
  if (Status sizes = set_sizes(tensor, view.sizes); !sizes.ok()) {
    return in_method(std::move(sizes).error());
  }
  Status taken = view.device.is_host() ? take_host_input(tensor, input, view)
                                       : take_device_input(tensor, input, view);
  if (!taken.ok()) return in_method(std::move(taken).error());
  is_set_[index] = 1;
  return Ok{};
}

Status MethodState::take_host_input(TensorState& tensor, const InputPlan& input,
                                    const TensorView& view) {
  const auto& dim_order = tensor.plan->file->layout.dim_order;
  tensor.is_host_current = true;
  const bool aligned =
      reinterpret_cast<uintptr_t>(view.data) % std::min<size_t>(size_of(view.dtype), 8) == 0;
  if (tensor.plan->home == Home::caller && input.written < 0 && aligned &&
      is_laid_out(dim_order, view.sizes, view.strides)) {
    tensor.view.data = view.data;
    tensor.capacity = view.nbytes();
    tensor.is_borrowed = true;
    return Ok{};
  }
  tensor.view.data = tensor.home;
  tensor.capacity = tensor.home_capacity;
  BP_TRY(ensure_memory(tensor, kernels_.retired()));
  copy_elements(abi_view(view, tensor), tensor.view);
  return Ok{};
}

Status MethodState::take_device_input(TensorState& tensor, const InputPlan& input,
                                      const TensorView& view) {
  const bp_devref_t device{static_cast<int32_t>(view.device.kind), view.device.index};
  const auto memory = std::find_if(memories_.begin(), memories_.end(),
                                   [&](const auto& m) { return m->owns(device); });
  if (memory == memories_.end()) {
    return Error{Code::unsupported,
                 tensor.plan->label + " is in memory of " + device_name(view.device) +
                     ", where no delegate of this method works; copy it to the host"};
  }
  const auto& dim_order = tensor.plan->file->layout.dim_order;
  tensor.view.data = tensor.home;  // where it goes if an operator on the host wants it
  tensor.capacity = tensor.home_capacity;
  tensor.is_host_current = false;
  if (tensor.plan->home == Home::caller && input.written < 0 &&
      is_laid_out(dim_order, view.sizes, view.strides)) {
    tensor.device = {memory->get(), view.data, view.nbytes(), true};
    tensor.is_borrowed = true;
    return Ok{};
  }
  BP_TRY((*memory)->reserve(tensor, static_cast<size_t>(input.tensor)));
  if (view.numel() > 0) {
    BP_TRY((*memory)->copy(on_device(tensor), abi_view(view, tensor)));
    BP_TRY((*memory)->synchronize());
  }
  tensor.device.is_current = true;
  return Ok{};
}

Status MethodState::set_input(size_t index, const ScalarValue& value) {
  if (index >= plan_.inputs.size()) {
    return wrong("there is no input " + std::to_string(index) + ", there are " +
                 std::to_string(plan_.inputs.size()));
  }
  const InputPlan& input = plan_.inputs[index];
  const SlotInfo& slot = plan_.info.inputs[index];
  if (input.tensor >= 0) return wrong(name_of_slot("input", index, slot) + " is a tensor");
  const ScalarValue traced = scalar_of(values_.file_value(input.value));
  const auto& number = plan_.signature.inputs[index].number;
  if (!number) {
    if (is_same(value, traced)) return Ok{};
    return wrong(name_of_slot("input", index, slot) + " is " + text_of(value) +
                 ", but the program was exported with " + text_of(traced));
  }
  if (value.index() != traced.index()) {
    return wrong(name_of_slot("input", index, slot) + " is " + text_of(value) +
                 ", which is not the kind of number that is expected");
  }
  bp_boxed_t& box = values_.at(input.value);
  if (const auto* i = std::get_if<int64_t>(&value)) {
    if (number->symbol >= 0) {
      const SymbolRule& rule = plan_.signature.symbols[static_cast<size_t>(number->symbol)];
      const auto symbol = solve(*number, *i);
      const DimBounds bounds{rule.min, rule.max, rule.multiple_of, {}};
      if (!symbol || !is_allowed(bounds, *symbol)) {
        return wrong(name_of_slot("input", index, slot) + " is " + text_of(value) +
                     ", allowed is " + rule.name + " of " + allowed(bounds));
      }
    }
    box = boxed(*i);
  } else if (const auto* f = std::get_if<double>(&value)) {
    box = boxed(*f);
  } else {
    box = boxed(std::get<bool>(value));
  }
  is_set_[index] = 1;
  return Ok{};
}

Status MethodState::bind_symbol(const DimRule& rule, int64_t size, SymbolValue from) {
  const auto value = solve(rule, size);
  if (!value) return Ok{};  // refused when it was set
  SymbolValue& symbol = symbols_[static_cast<size_t>(rule.symbol)];
  from.value = *value;
  if (symbol.input < 0) symbol = from;
  if (symbol.value == from.value) return Ok{};
  const auto place = [&](const SymbolValue& at) {
    const auto i = static_cast<size_t>(at.input);
    const std::string name = name_of_slot("input", i, plan_.info.inputs[i]);
    return at.dim < 0 ? name : "dimension " + std::to_string(at.dim) + " of " + name;
  };
  return Error{Code::invalid_argument,
               "by " + place(symbol) + ", " +
                   plan_.signature.symbols[static_cast<size_t>(rule.symbol)].name + " is " +
                   std::to_string(symbol.value) + ", but by " + place(from) + " it is " +
                   std::to_string(from.value)};
}

// Sizes of one symbol are equal in all inputs, and every input has been given.
Status MethodState::check_symbols() {
  std::fill(symbols_.begin(), symbols_.end(), SymbolValue{});
  for (size_t i = 0; i < plan_.inputs.size(); ++i) {
    const SlotSignature& slot = plan_.signature.inputs[i];
    const auto index = static_cast<int32_t>(i);
    if (is_set_[i] == 0) {
      return Error{Code::invalid_argument,
                   name_of_slot("input", i, plan_.info.inputs[i]) + " has not been set"};
    }
    if (slot.number && slot.number->symbol >= 0) {
      BP_TRY(bind_symbol(*slot.number, values_.at(plan_.inputs[i].value).v.i, {0, index, -1}));
    }
    for (size_t d = 0; d < slot.dims.size(); ++d) {
      if (slot.dims[d].symbol < 0) continue;
      const auto sizes = values_.tensor(plan_.inputs[i].value)->sizes();
      BP_TRY(bind_symbol(slot.dims[d], sizes[d], {0, index, static_cast<int32_t>(d)}));
    }
  }
  return Ok{};
}

// The caller's memory is his again.
void MethodState::forget_inputs() {
  for (size_t i = 0; i < plan_.inputs.size(); ++i) {
    if (plan_.inputs[i].tensor < 0) continue;
    is_set_[i] = 0;
    TensorState& tensor = values_.tensors()[static_cast<size_t>(plan_.inputs[i].tensor)];
    if (!tensor.is_borrowed) continue;
    tensor.view.data = tensor.home;
    tensor.capacity = tensor.home_capacity;
    tensor.is_borrowed = false;
    tensor.device = {};
  }
}

}  // namespace backplane::runtime
