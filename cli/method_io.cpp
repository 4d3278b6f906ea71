#include "method_io.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>

#include "common/nearest.hpp"
#include "tensors/elements.hpp"
#include "tensors/tensor_file.hpp"

namespace backplane::cli {
namespace {

Error wrong(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

std::string text_of(const DimBounds& dim) {
  if (dim.min == dim.max) return std::to_string(dim.max);
  std::string text = dim.symbol.empty() ? "" : dim.symbol + " in ";
  text += std::to_string(dim.min) + "...";
  if (dim.max != std::numeric_limits<int64_t>::max()) text += std::to_string(dim.max);
  if (dim.multiple_of > 1) text += " by " + std::to_string(dim.multiple_of);
  return text;
}

bool is_raw(const std::string& path) {
  return path.ends_with(".raw") || path.ends_with(".bin");
}

// The sizes that raw bytes are given, -1 where they vary.
std::vector<int64_t> open_sizes(const SlotInfo& slot) {
  std::vector<int64_t> sizes;
  for (const DimBounds& dim : slot.dims) sizes.push_back(dim.min == dim.max ? dim.max : -1);
  return sizes;
}

template <class T>
Tensor scalar_tensor(DType dtype, T value) {
  Tensor tensor = *Tensor::zeros(dtype, {});
  *tensor.data_as<T>() = value;
  return tensor;
}

// What `KEY=7`, `KEY=0.5` or `KEY=true` gives; nothing if it names a file.
std::optional<Tensor> number_in(const InputText& input) {
  if (input.key.empty()) return std::nullopt;
  if (input.path == "true" || input.path == "false")
    return scalar_tensor(DType::boolean, input.path == "true");
  if (const auto integer = parse_integer(input.path)) return scalar_tensor(DType::i64, *integer);
  if (const auto real = parse_real(input.path)) return scalar_tensor(DType::f64, *real);
  return std::nullopt;
}

class Assignment {
 public:
  Assignment(const MethodInfo& method, std::string_view step)
      : method_(method), step_(step), keys_(keys_of("in.", method.inputs)) {
    tensors_.resize(method.inputs.size());
  }

  Status add(InputFile& file) {
    const bool one = file.tensors.size() == 1;
    if (!file.text.key.empty() && !one) {
      return wrong(file.text.path + ": has " + std::to_string(file.tensors.size()) +
                   " tensors, one is needed for '" + file.text.key + "'");
    }
    for (NamedTensor& named : file.tensors) {
      const std::string key = file.text.key.empty() ? named.name : file.text.key;
      if (key.empty()) {
        unnamed_.push_back({&file, &named.tensor});
      } else if (file.text.key.empty() && is_of_another(key)) {
        continue;
      } else {
        BP_ASSIGN_OR_RETURN(const size_t slot, find(file, key));
        BP_TRY(set(slot, file, named.tensor));
      }
    }
    return Ok{};
  }

  Result<std::vector<const Tensor*>> finish() {
    size_t slot = 0;
    for (const auto& [file, tensor] : unnamed_) {
      while (slot < keys_.size() && (keys_[slot].empty() || tensors_[slot])) ++slot;
      if (slot == keys_.size()) {
        return wrong(file->text.path + ": is one input too many; method '" + method_.name +
                     "' has " + list());
      }
      BP_TRY(set(slot, *file, *tensor));
    }
    for (slot = 0; slot < keys_.size(); ++slot) {
      if (keys_[slot].empty() || tensors_[slot]) continue;
      return wrong("no tensor is given for " + name(slot) + "; --input " + step_ + keys_[slot] +
                   "=FILE does it");
    }
    return std::move(tensors_);
  }

 private:
  // What a file of a whole run has besides this step's inputs.
  [[nodiscard]] bool is_of_another(std::string_view key) const {
    if (!key.starts_with(step_)) return true;
    key.remove_prefix(step_.size());
    return key.starts_with("out.") || key.starts_with("mutated.") ||
           (step_.empty() && key.starts_with("step"));
  }

  [[nodiscard]] Result<size_t> find(const InputFile& file, std::string_view key) const {
    std::string_view bare = key;
    if (bare.starts_with(step_)) bare.remove_prefix(step_.size());
    std::vector<std::string_view> names;
    for (size_t i = 0; i < keys_.size(); ++i) {
      if (is_fixed(i)) continue;
      if (bare == keys_[i] || bare == method_.inputs[i].name) return i;
      if (!keys_[i].empty()) names.push_back(keys_[i]);
      names.push_back(method_.inputs[i].name);
    }
    return wrong(file.text.path + ": '" + std::string(key) + "' is no input of method '" +
                 method_.name + "', which has " + list() + did_you_mean(bare, names));
  }

  Status set(size_t slot, const InputFile& file, Tensor& tensor) {
    const SlotInfo& info = method_.inputs[slot];
    if (tensors_[slot]) return wrong(file.text.path + ": " + name(slot) + " is given twice");
    if (info.kind != SlotKind::tensor && !tensor.sizes().empty()) {
      return wrong(file.text.path + ": " + name(slot) + " is one number, the file has " +
                   format_sizes(tensor.sizes()));
    }
    if (is_raw(file.text.path)) {
      auto shaped = shape_raw(tensor, info.dtype, open_sizes(info));
      if (!shaped.ok()) return std::move(shaped).error().in(file.text.path);
      tensor = *std::move(shaped);
    }
    tensors_[slot] = &tensor;
    return Ok{};
  }

  // Neither a tensor nor a number that has a name: nothing can be given for it.
  [[nodiscard]] bool is_fixed(size_t slot) const {
    const SlotInfo& info = method_.inputs[slot];
    const bool number = info.kind == SlotKind::integer || info.kind == SlotKind::floating ||
                        info.kind == SlotKind::boolean;
    return info.kind != SlotKind::tensor && (!number || info.name.empty());
  }

  // "in.0 (x)", "n"
  [[nodiscard]] std::string name(size_t slot) const {
    const std::string& own = method_.inputs[slot].name;
    if (keys_[slot].empty()) return own;
    return keys_[slot] + (own.empty() ? "" : " (" + own + ")");
  }

  [[nodiscard]] std::string list() const {
    std::string text;
    for (size_t i = 0; i < keys_.size(); ++i) {
      if (!is_fixed(i)) text += (text.empty() ? "" : ", ") + name(i);
    }
    return text.empty() ? "no inputs" : text;
  }

  const MethodInfo& method_;
  std::string step_;
  std::vector<std::string> keys_;
  std::vector<const Tensor*> tensors_;
  std::vector<std::pair<const InputFile*, Tensor*>> unnamed_;
};

// The one element of a tensor, as the number that the slot takes.
Result<ScalarValue> number_of(const SlotInfo& slot, const Tensor& tensor) {
  const DType dtype = tensor.dtype();
  const std::byte* data = tensor.bytes().data();
  if (slot.kind == SlotKind::boolean && dtype == DType::boolean)
    return ScalarValue(*data != std::byte{0});
  const std::string text = format_element(dtype, data, 0);
  if (slot.kind == SlotKind::integer) {
    if (const auto integer = parse_integer(text)) return ScalarValue(*integer);
  } else if (slot.kind == SlotKind::floating) {
    if (const auto real = parse_real(text)) return ScalarValue(*real);
  }
  return wrong("input '" + slot.name + "' is of kind " + describe(slot) + ", it is given " + text);
}

Status set_input(Method& method, size_t index, const Tensor& tensor) {
  const SlotInfo& slot = method.info().inputs[index];
  if (slot.kind == SlotKind::tensor) return method.set_input(index, tensor.view());
  BP_ASSIGN_OR_RETURN(const ScalarValue number, number_of(slot, tensor));
  return method.set_input(index, number);
}

std::string text_of(const ScalarValue& value) {
  struct Visitor {
    std::string operator()(std::monostate) const { return "none"; }
    std::string operator()(int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const {
      return format_element(DType::f64, reinterpret_cast<const std::byte*>(&v), 0);
    }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(const std::string& v) const { return "'" + v + "'"; }
  };
  return std::visit(Visitor{}, value);
}

}  // namespace

std::vector<std::string> keys_of(std::string_view prefix, const std::vector<SlotInfo>& slots) {
  std::vector<std::string> keys;
  size_t count = 0;
  for (const SlotInfo& slot : slots) {
    keys.push_back(slot.kind == SlotKind::tensor ? std::string(prefix) + std::to_string(count++)
                                                 : "");
  }
  return keys;
}

std::string describe(const SlotInfo& slot) {
  using enum SlotKind;
  switch (slot.kind) {
    case integer:
      return "integer";
    case floating:
      return "number";
    case boolean:
      return "boolean";
    case string:
      return "text";
    case none:
      return "none";
    case tensor:
      break;
  }
  std::string text = std::string(name_of(slot.dtype)) + "[";
  for (size_t d = 0; d < slot.dims.size(); ++d)
    text += (d > 0 ? ", " : "") + text_of(slot.dims[d]);
  return text + "]";
}

std::string preview(const TensorView& tensor) {
  constexpr int64_t kMost = 8;
  const auto dense = Tensor::copy_of(tensor);
  if (!dense.ok()) return {};
  std::string text;
  for (int64_t i = 0; i < std::min(dense->numel(), kMost); ++i) {
    text += (i > 0 ? " " : "") + format_element(dense->dtype(), dense->bytes().data(), i);
  }
  return dense->numel() > kMost ? text + " …" : text;
}

Result<std::vector<InputFile>> read_inputs(std::span<const std::string> texts,
                                           std::optional<ImageSize> image_size) {
  std::vector<InputFile> files;
  for (const std::string& text : texts) {
    BP_ASSIGN_OR_RETURN(InputText input, parse_input(text));
    std::vector<NamedTensor> tensors;
    if (auto number = number_in(input)) {
      tensors.push_back({"", *std::move(number)});
    } else {
      BP_ASSIGN_OR_RETURN(tensors, read_tensors(input.path, image_size));
    }
    files.push_back({std::move(input), std::move(tensors)});
  }
  return files;
}

Result<std::vector<const Tensor*>> assign_inputs(const MethodInfo& method,
                                                 std::vector<InputFile>& files,
                                                 std::string_view step) {
  Assignment assignment(method, step);
  for (InputFile& file : files) BP_TRY(assignment.add(file));
  return assignment.finish();
}

Result<MethodResult> execute(Method& method, const std::vector<const Tensor*>& inputs) {
  const MethodInfo& info = method.info();
  assert(inputs.size() == info.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) BP_TRY(set_input(method, i, *inputs[i]));
  }
  MethodResult result;
  const auto start = std::chrono::steady_clock::now();
  BP_TRY(method.execute());
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  result.execute_ms = took.count();
  const std::vector<std::string> out_keys = keys_of("out.", info.outputs);
  for (size_t i = 0; i < info.outputs.size(); ++i) {
    if (out_keys[i].empty()) {
      BP_ASSIGN_OR_RETURN(const ScalarValue value, method.output_scalar(i));
      result.scalars.push_back({info.outputs[i].name, text_of(value)});
    } else {
      BP_ASSIGN_OR_RETURN(const TensorView view, method.output(i));
      BP_ASSIGN_OR_RETURN(Tensor tensor, method.to_host(view));
      result.tensors.push_back({out_keys[i], std::move(tensor)});
    }
  }
  const std::vector<std::string> mutated_keys = keys_of("mutated.", info.inputs);
  for (size_t i = 0; i < info.inputs.size(); ++i) {
    if (!info.inputs[i].mutated || mutated_keys[i].empty()) continue;
    BP_ASSIGN_OR_RETURN(const TensorView view, method.mutated_input(i));
    BP_ASSIGN_OR_RETURN(Tensor tensor, method.to_host(view));
    result.tensors.push_back({mutated_keys[i], std::move(tensor)});
  }
  return result;
}

}  // namespace backplane::cli
