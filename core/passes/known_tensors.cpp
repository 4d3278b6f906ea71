#include "passes/known_tensors.hpp"

#include <cmath>
#include <cstring>

namespace backplane::passes {
namespace {

// Geometry of a view; false if the step needs a copy or its numbers are not known or not sound.
bool step_into(KnownTensor& t, const ViewStep& step);

std::optional<std::vector<int64_t>> literals(std::span<const SymInt> sizes) {
  std::vector<int64_t> out;
  for (SymInt size : sizes) {
    if (!size.is_constant() || size.constant() < 0) return std::nullopt;
    out.push_back(size.constant());
  }
  return out;
}

bool reshape(KnownTensor& t, std::span<const SymInt> to) {
  const std::optional<std::vector<int64_t>> sizes = literals(to);
  if (!sizes || !checked_nbytes(t.dtype, *sizes).ok() || numel(*sizes) != t.numel()) return false;
  if (!t.view().is_contiguous()) return false;
  t.sizes = *sizes;
  t.strides = contiguous_strides(t.sizes);
  return true;
}

bool expand(KnownTensor& t, std::span<const SymInt> to) {
  const std::optional<std::vector<int64_t>> sizes = literals(to);
  if (!sizes || sizes->size() < t.sizes.size() || !checked_nbytes(t.dtype, *sizes).ok())
    return false;
  std::vector<int64_t> strides(sizes->size(), 0);
  const size_t extra = sizes->size() - t.sizes.size();
  for (size_t d = 0; d < t.sizes.size(); ++d) {
    if (t.sizes[d] == (*sizes)[extra + d]) {
      strides[extra + d] = t.strides[d];
    } else if (t.sizes[d] != 1) {
      return false;
    }
  }
  t.sizes = *sizes;
  t.strides = std::move(strides);
  return true;
}

bool permute(KnownTensor& t, const IntList& order) {
  if (order.size() != t.sizes.size()) return false;
  const KnownTensor was = t;
  for (size_t d = 0; d < order.size(); ++d) {
    const auto from = static_cast<size_t>(order[d].literal);
    if (from >= was.sizes.size()) return false;
    t.sizes[d] = was.sizes[from];
    t.strides[d] = was.strides[from];
  }
  return true;
}

std::optional<size_t> dim_of(const KnownTensor& t, const Argument& argument) {
  const auto* dim = std::get_if<int64_t>(&argument);
  if (dim == nullptr || *dim < 0 || *dim >= static_cast<int64_t>(t.sizes.size())) return {};
  return static_cast<size_t>(*dim);
}

bool select(KnownTensor& t, const ViewStep& step) {
  const std::optional<size_t> dim = dim_of(t, step.args[0]);
  const auto* at = std::get_if<int64_t>(&step.args[1]);
  if (!dim || at == nullptr) return false;
  const int64_t index = *at < 0 ? *at + t.sizes[*dim] : *at;
  if (index < 0 || index >= t.sizes[*dim]) return false;
  t.offset += index * t.strides[*dim];
  t.sizes.erase(t.sizes.begin() + static_cast<ptrdiff_t>(*dim));
  t.strides.erase(t.strides.begin() + static_cast<ptrdiff_t>(*dim));
  return true;
}

bool slice(KnownTensor& t, const Argument& dim_argument, const Argument& start, const Argument& end,
           const Argument& step) {
  const std::optional<size_t> dim = dim_of(t, dim_argument);
  const auto* by = std::get_if<int64_t>(&step);
  if (!dim || by == nullptr || *by <= 0) return false;
  const int64_t size = t.sizes[*dim];
  const auto bound = [&](const Argument& argument, int64_t absent) -> std::optional<int64_t> {
    if (std::holds_alternative<None>(argument)) return absent;
    const auto* at = std::get_if<int64_t>(&argument);
    if (at == nullptr) return std::nullopt;
    return std::clamp<int64_t>(*at < 0 ? *at + size : *at, 0, size);
  };
  const std::optional<int64_t> first = bound(start, 0);
  const std::optional<int64_t> last = bound(end, size);
  if (!first || !last) return false;
  const int64_t length = std::max<int64_t>(*last - *first, 0);
  if (length > 0) t.offset += *first * t.strides[*dim];
  t.sizes[*dim] = length / *by + (length % *by != 0 ? 1 : 0);
  if (t.sizes[*dim] > 1) t.strides[*dim] *= *by;
  return true;
}

bool diagonal(KnownTensor& t, const ViewStep& step) {
  const auto* offset = std::get_if<int64_t>(&step.args[0]);
  const std::optional<size_t> a = dim_of(t, step.args[1]);
  const std::optional<size_t> b = dim_of(t, step.args[2]);
  if (offset == nullptr || !a || !b || *a == *b) return false;
  const int64_t rows = t.sizes[*a];
  const int64_t columns = t.sizes[*b];
  if (*offset > columns || *offset < -rows) return false;
  const int64_t down = *offset < 0 ? -*offset : 0;
  const int64_t right = *offset > 0 ? *offset : 0;
  const int64_t length = std::max<int64_t>(std::min(rows - down, columns - right), 0);
  if (length > 0) t.offset += down * t.strides[*a] + right * t.strides[*b];
  const int64_t stride = t.strides[*a] + t.strides[*b];
  for (size_t d : {std::max(*a, *b), std::min(*a, *b)}) {
    t.sizes.erase(t.sizes.begin() + static_cast<ptrdiff_t>(d));
    t.strides.erase(t.strides.begin() + static_cast<ptrdiff_t>(d));
  }
  t.sizes.push_back(length);
  t.strides.push_back(stride);
  return true;
}

bool step_into(KnownTensor& t, const ViewStep& step) {
  using Kind = ViewStep::Kind;
  switch (step.kind) {
    case Kind::reshape:
      return reshape(t, step.sizes);
    case Kind::expand:
      return expand(t, step.sizes);
    case Kind::permute:
      return permute(t, std::get<IntList>(step.args[0]));
    case Kind::select:
      return select(t, step);
    case Kind::slice:
      return slice(t, step.args[0], step.args[1], step.args[2], step.args[3]);
    case Kind::section: {
      const std::optional<std::vector<int64_t>> ends = literals(step.sizes);
      return ends && slice(t, step.args[0], (*ends)[0], (*ends)[1], int64_t{1});
    }
    case Kind::diagonal:
      return diagonal(t, step);
    default:
      return false;
  }
}

}  // namespace

TensorView KnownTensor::view() const {
  TensorView out;
  const size_t at = static_cast<size_t>(offset) * size_of(dtype);
  // What is only read is never written through the view.
  out.data = numel() == 0 ? nullptr : const_cast<std::byte*>(storage.data() + at);
  out.dtype = dtype;
  out.sizes = sizes;
  out.strides = strides;
  return out;
}

const KnownTensor* KnownTensors::find(ValueId value) const {
  const auto index = static_cast<size_t>(value);
  return index < of_value_.size() && of_value_[index] ? &*of_value_[index] : nullptr;
}

void KnownTensors::add(ValueId value, KnownTensor tensor) {
  const auto index = static_cast<size_t>(value);
  if (of_value_.size() <= index) of_value_.resize(index + index / 2 + 1);
  if (tensor.result >= 0) ++results_[static_cast<size_t>(tensor.result)].uses;
  of_value_[index] = std::move(tensor);
}

void KnownTensors::add_constant(ValueId value, int32_t constant) {
  const Constant& c = module_.constants[static_cast<size_t>(constant)];
  add(value, {c.dtype, c.sizes, c.strides, c.storage_offset, c.storage, -1, constant, c.fqn});
}

void KnownTensors::add_result(ValueId value, Tensor tensor, std::string source) {
  const auto index = static_cast<int32_t>(results_.size());
  results_.push_back({std::move(tensor), 0});
  const Tensor& kept = results_.back().tensor;
  add(value, {kept.dtype(), kept.sizes(), contiguous_strides(kept.sizes()), 0, kept.bytes(), index,
              kNone, std::move(source)});
}

bool KnownTensors::add_view(ValueId value, const KnownTensor& of, std::span<const ViewStep> steps) {
  KnownTensor view = of;
  for (const ViewStep& step : steps) {
    if (!step_into(view, step)) return false;
  }
  if (!steps.empty()) view.constant = kNone;
  add(value, std::move(view));
  return true;
}

void KnownTensors::forget(ValueId value) {
  const auto index = static_cast<size_t>(value);
  if (index >= of_value_.size() || !of_value_[index]) return;
  const int32_t result = of_value_[index]->result;
  of_value_[index].reset();
  if (result < 0) return;
  Result& memory = results_[static_cast<size_t>(result)];
  if (--memory.uses == 0) memory.tensor = Tensor();
}

int32_t KnownTensors::constant(ValueId value) {
  KnownTensor& known = *of_value_[static_cast<size_t>(value)];
  if (known.constant != kNone) return known.constant;
  Constant made;
  made.fqn = known.source;
  made.dtype = known.dtype;
  made.sizes = known.sizes;
  if (known.result < 0) {
    made.strides = known.strides;
    made.storage_offset = known.offset;
    made.storage = known.storage;
  } else {
    TensorView copy = TensorView::contiguous(nullptr, known.dtype, known.sizes);
    const std::span<std::byte> memory = module_.buffers.allocate(copy.nbytes());
    copy.data = memory.data();
    [[maybe_unused]] const Status copied = copy_elements(known.view(), copy);
    assert(copied.ok() || known.numel() == 0);
    made.strides = copy.strides;
    made.storage = memory;
  }
  module_.constants.push_back(std::move(made));
  known.constant = static_cast<int32_t>(module_.constants.size()) - 1;
  return known.constant;
}

namespace {

template <class T>
T element(const KnownTensor& tensor) {
  T value;
  std::memcpy(&value, tensor.view().data, sizeof(T));
  return value;
}

double half_to_double(uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double value =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
  if (exponent == 31) value = fraction == 0 ? HUGE_VAL : std::nan("");
  return (bits & 0x8000) != 0 ? -value : value;
}

double bfloat_to_double(uint16_t bits) {
  const uint32_t wide = uint32_t{bits} << 16;
  float value = 0;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

}  // namespace

std::optional<Argument> only_element(const KnownTensor& tensor) {
  if (tensor.numel() != 1) return std::nullopt;
  switch (tensor.dtype) {
    using enum DType;
    case u8:
      return int64_t{element<uint8_t>(tensor)};
    case i8:
      return int64_t{element<int8_t>(tensor)};
    case i16:
      return int64_t{element<int16_t>(tensor)};
    case i32:
      return int64_t{element<int32_t>(tensor)};
    case i64:
      return element<int64_t>(tensor);
    case u16:
      return int64_t{element<uint16_t>(tensor)};
    case u32:
      return int64_t{element<uint32_t>(tensor)};
    case boolean:
      return element<uint8_t>(tensor) != 0;
    case f32:
      return double{element<float>(tensor)};
    case f64:
      return element<double>(tensor);
    case f16:
      return half_to_double(element<uint16_t>(tensor));
    case bf16:
      return bfloat_to_double(element<uint16_t>(tensor));
    default:
      return std::nullopt;
  }
}

}  // namespace backplane::passes
