#include "portable/kernel.hpp"

#include <charconv>

namespace backplane::portable {

Piece::Piece(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  text_.assign(buffer.data(), end);
}

Piece::Piece(std::span<const int64_t> shape) : text_("[") {
  for (const int64_t size : shape) {
    text_ += (text_.size() > 1 ? ", " : "") + std::to_string(size);
  }
  text_ += "]";
}

Error error(Code code, std::initializer_list<Piece> pieces) {
  std::string message;
  for (const Piece& piece : pieces) {
    message += piece.text();
  }
  return {code, std::move(message)};
}

Error invalid(std::initializer_list<Piece> pieces) {
  return error(Code::invalid_argument, pieces);
}

Error not_implemented(DType dtype) {
  return error(Code::unsupported, {"not implemented for '", dtype, "'"});
}

Status Context::resize(const Tensor& out, std::span<const int64_t> shape) {
  const int32_t code =
      raw_->resize(raw_, out.raw(), static_cast<uint32_t>(shape.size()), shape.data());
  if (code != BP_OK) {
    // An empty message leaves the reason that the host has kept.
    return Error{static_cast<Code>(code), ""};
  }
  return Ok{};
}

Result<void*> Context::scratch_bytes(int64_t count, size_t element_size) {
  uint64_t bytes = 0;
  void* memory = nullptr;
  if (count >= 0 && !__builtin_mul_overflow(static_cast<uint64_t>(count), element_size, &bytes)) {
    memory = raw_->scratch(raw_, bytes == 0 ? 1 : bytes);
  }
  if (memory == nullptr) {
    return error(Code::out_of_memory, {"no scratch memory for ", count, " elements"});
  }
  return memory;
}

Args::Args(const Entry& entry, std::span<const bp_boxed_t> values)
    : entry_(entry),
      values_(values),
      num_inputs_(static_cast<int64_t>(entry.signature.find('>'))) {}

bool Args::is_number(int64_t i) const {
  const uint32_t kind = box(i).kind;
  return kind == BP_BOX_INT || kind == BP_BOX_DOUBLE || kind == BP_BOX_BOOL ||
         kind == BP_BOX_COMPLEX;
}

Tensor Args::tensor(int64_t i) const {
  return has(i) ? Tensor(box(i).v.tensor) : Tensor();
}

Tensor Args::list_tensor(int64_t i, int64_t element) const {
  bp_tensor_t* const raw = box(i).v.tensors[element];
  return raw != nullptr ? Tensor(raw) : Tensor();
}

Scalar Args::scalar(int64_t i) const {
  const bp_boxed_t& value = box(i);
  switch (value.kind) {
    case BP_BOX_DOUBLE:
      return Scalar(value.v.f);
    case BP_BOX_BOOL:
      return Scalar(value.v.i != 0);
    case BP_BOX_COMPLEX:
      return Scalar(Complex128(value.v.doubles[0], value.v.doubles[1]));
    default:
      return Scalar(value.v.i);
  }
}

int64_t Args::integer(int64_t i) const {
  return box(i).v.i;
}
int64_t Args::integer_or(int64_t i, int64_t absent) const {
  return has(i) ? integer(i) : absent;
}
double Args::floating(int64_t i) const {
  return scalar(i).to<double>();
}
double Args::floating_or(int64_t i, double absent) const {
  return has(i) ? floating(i) : absent;
}

std::span<const int64_t> Args::ints(int64_t i) const {
  const bp_boxed_t& value = box(i);
  switch (value.kind) {
    case BP_BOX_INT:
      return {&value.v.i, 1};
    case BP_BOX_INTS:
      return {value.v.ints, value.count};
    default:
      return {};
  }
}

std::span<const double> Args::doubles(int64_t i) const {
  return has(i) ? std::span(box(i).v.doubles, box(i).count) : std::span<const double>();
}

std::span<const uint8_t> Args::bools(int64_t i) const {
  return has(i) ? std::span(box(i).v.bools, box(i).count) : std::span<const uint8_t>();
}

std::string_view Args::string(int64_t i) const {
  return has(i) ? std::string_view(box(i).v.text, box(i).count) : std::string_view();
}

}  // namespace backplane::portable
