// Boxed values, as kernels and the core's own operators see them.
#pragma once

#include <backplane/ext/kernels.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace backplane::runtime {

[[nodiscard]] inline bp_boxed_t boxed(int64_t value) {
  bp_boxed_t box{};
  box.kind = BP_BOX_INT;
  box.v.i = value;
  return box;
}
[[nodiscard]] inline bp_boxed_t boxed(bool value) {
  bp_boxed_t box{};
  box.kind = BP_BOX_BOOL;
  box.v.i = value ? 1 : 0;
  return box;
}
[[nodiscard]] inline bp_boxed_t boxed(double value) {
  bp_boxed_t box{};
  box.kind = BP_BOX_DOUBLE;
  box.v.f = value;
  return box;
}
[[nodiscard]] inline bp_boxed_t boxed(bp_tensor_t* value) {
  bp_boxed_t box{};
  box.kind = BP_BOX_TENSOR;
  box.v.tensor = value;
  return box;
}

[[nodiscard]] inline bool is_integer(const bp_boxed_t& box) {
  return box.kind == BP_BOX_INT || box.kind == BP_BOX_BOOL;
}
[[nodiscard]] inline bool is_number(const bp_boxed_t& box) {
  return is_integer(box) || box.kind == BP_BOX_DOUBLE;
}
// Of a number.
[[nodiscard]] inline double as_double(const bp_boxed_t& box) {
  return box.kind == BP_BOX_DOUBLE ? box.v.f : static_cast<double>(box.v.i);
}

// "tensor", "int list", …: the kind for messages.
[[nodiscard]] std::string_view kind_name(uint32_t kind);

}  // namespace backplane::runtime
