// Values come from files that may be damaged: each call is checked against the kernel's signature
// before anything reads them.
#include "portable/library.hpp"

#include <algorithm>

#include "portable/kernel.hpp"

namespace backplane::portable {

#define FAMILY(name) extern const std::span<const Entry> name##_kernels;
#include "portable/families.inc"
#undef FAMILY

namespace {

int32_t report(bp_kernel_ctx_t* ctx, const Entry& entry, const Error& error) {
  const auto code = static_cast<int32_t>(error.code);
  if (error.message.empty()) {
    return code;  // the host has kept the reason
  }
  const std::string text = std::string(entry.name) + ": " + error.message;
  return ctx->fail(ctx, code, {text.data(), text.size()});
}

constexpr uint32_t bit(uint32_t kind) {
  return 1U << kind;
}

// The kinds of boxed values that a letter of a signature stands for.
uint32_t kinds_of(char letter) {
  constexpr uint32_t number =
      bit(BP_BOX_INT) | bit(BP_BOX_DOUBLE) | bit(BP_BOX_BOOL) | bit(BP_BOX_COMPLEX);
  switch (letter) {
    case 't':
      return bit(BP_BOX_TENSOR);
    case 'l':
    case 'L':
      return bit(BP_BOX_TENSORS);
    case 'o':
      return bit(BP_BOX_TENSOR) | number;
    case 's':
      return number;
    case 'i':
      return bit(BP_BOX_INT);
    case 'f':
      return bit(BP_BOX_INT) | bit(BP_BOX_DOUBLE);
    case 'b':
      return bit(BP_BOX_INT) | bit(BP_BOX_BOOL);
    case 'n':
      return bit(BP_BOX_INT) | bit(BP_BOX_INTS);
    case 'd':
      return bit(BP_BOX_DOUBLES);
    case 'm':
      return bit(BP_BOX_BOOLS);
    case 'z':
      return bit(BP_BOX_STRING);
    default:
      return letter >= 'A' && letter <= 'Z'
                 ? kinds_of(static_cast<char>(letter - 'A' + 'a')) | bit(BP_BOX_NONE)
                 : 0;
  }
}

Status check_tensor(const bp_tensor_t* raw, bool with_data) {
  if (raw == nullptr) {
    return invalid({"a tensor is missing"});
  }
  if (!from_dlpack(raw->dtype)) {
    return error(Code::unsupported, {"dtype of code ", int{raw->dtype.code}, ", ",
                                     int{raw->dtype.bits}, " bits is not known here"});
  }
  if (raw->ndim < 0 || raw->ndim > kMaxRank) {
    return error(Code::unsupported, {"rank ", int{raw->ndim}, " is above ", kMaxRank});
  }
  if (raw->ndim > 0 && (raw->shape == nullptr || raw->strides == nullptr)) {
    return invalid({"a tensor has no shape or strides"});
  }
  int64_t bytes = from_dlpack(raw->dtype) ? size_of(*from_dlpack(raw->dtype)) : 0;
  bool empty = false;
  for (int32_t i = 0; i < raw->ndim; ++i) {
    empty = empty || raw->shape[i] == 0;
    if (raw->shape[i] < 0 ||
        __builtin_mul_overflow(bytes, std::max<int64_t>(raw->shape[i], 1), &bytes)) {
      return invalid({"shape ",
                      std::span<const int64_t>(raw->shape, static_cast<size_t>(raw->ndim)),
                      " is negative or too large"});
    }
  }
  if (with_data && raw->data == nullptr && !empty) {
    return invalid({"a tensor has no data"});
  }
  return Ok{};
}

Status check_value(const bp_boxed_t& value, char letter, bool with_data) {
  if (value.kind > BP_BOX_COMPLEX || (kinds_of(letter) & bit(value.kind)) == 0) {
    return invalid({"kind ", static_cast<int>(value.kind), " is not allowed here"});
  }
  if (value.kind == BP_BOX_TENSOR) {
    return check_tensor(value.v.tensor, with_data);
  }
  if (value.kind == BP_BOX_TENSORS) {
    for (uint32_t e = 0; e < value.count; ++e) {
      if (value.v.tensors[e] != nullptr || letter != 'L') {
        BP_TRY(check_tensor(value.v.tensors[e], with_data));
      }
    }
  }
  return Ok{};
}

// Outputs get their memory in resize: an empty one may come without.
Status check_signature(const Entry& entry, std::span<const bp_boxed_t> values, bool running) {
  const size_t inputs = entry.signature.find('>');
  if (values.size() + 1 != entry.signature.size()) {
    return invalid({static_cast<int64_t>(values.size()), " values given, ",
                    static_cast<int64_t>(entry.signature.size()) - 1, " expected"});
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const bool is_out = i >= inputs;
    if (auto status =
            check_value(values[i], entry.signature[i + (is_out ? 1 : 0)], running && !is_out);
        !status.ok()) {
      return std::move(status).error().in("argument " + std::to_string(i));
    }
  }
  return Ok{};
}

Status check(const Entry& entry, std::span<const bp_boxed_t> values, bool running) {
  BP_TRY(check_signature(entry, values, running));
  const Args args(entry, values);
  for (int64_t i = 0; i < args.size(); ++i) {
    if (args.is_tensor(i)) {
      if (!entry.dtypes.has(args.tensor(i).dtype())) {
        return not_implemented(args.tensor(i).dtype());
      }
      break;
    }
  }
  return entry.check != nullptr ? entry.check(args) : Status(Ok{});
}

int32_t supports(const bp_kernel_t* self, bp_kernel_ctx_t* ctx, const bp_boxed_t* values,
                 uint32_t n) {
  const auto& entry = *static_cast<const Entry*>(self->data);
  const Status status = check(entry, {values, n}, false);
  return status.ok() ? BP_OK : report(ctx, entry, status.error());
}

int32_t run(const bp_kernel_t* self, bp_kernel_ctx_t* ctx, const bp_boxed_t* values, uint32_t n) {
  const auto& entry = *static_cast<const Entry*>(self->data);
  Status status = check(entry, {values, n}, true);
  if (status.ok()) {
    Context context(ctx);
    status = entry.run(context, Args(entry, {values, n}));
  }
  return status.ok() ? BP_OK : report(ctx, entry, status.error());
}

bp_kernels_t build() {
  const std::span<const Entry> families[] = {
#define FAMILY(name) name##_kernels,
#include "portable/families.inc"
#undef FAMILY
  };
  size_t count = 0;
  for (const auto& family : families) {
    count += family.size();
  }
  auto* const kernels = new bp_kernel_t[count];  // lives as long as the process
  bp_kernel_t* next = kernels;
  for (const auto& family : families) {
    for (const Entry& entry : family) {
      *next++ = {
          {entry.name.data(), entry.name.size()}, supports, run, &entry, entry.flags, BP_DEV_CPU};
    }
  }
  return {sizeof(bp_kernels_t), static_cast<uint32_t>(count), sizeof(bp_kernel_t), 0, kernels};
}

}  // namespace

const bp_kernels_t* library() {
  static const bp_kernels_t all = build();
  return &all;
}

}  // namespace backplane::portable
