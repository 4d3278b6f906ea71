#include "lower/abi_numbers.hpp"

#include <algorithm>

namespace backplane::lower {

uint32_t token_of(SymOp op) {
  switch (op) {
    using enum SymOp;
    case symbol:
      return BP_SYM_SYMBOL;
    case constant:
      return BP_SYM_CONSTANT;
    case add:
      return BP_SYM_ADD;
    case mul:
      return BP_SYM_MUL;
    case floor_div:
      return BP_SYM_FLOOR_DIV;
    case mod:
      return BP_SYM_MOD;
    case ceil_div:
      return BP_SYM_CEIL_DIV;
    case max:
      return BP_SYM_MAX;
    case min:
      return BP_SYM_MIN;
    case pow:
      return BP_SYM_POW;
    case shift_left:
      return BP_SYM_SHIFT_LEFT;
    case shift_right:
      return BP_SYM_SHIFT_RIGHT;
    case bit_and:
      return BP_SYM_BIT_AND;
    case bit_or:
      return BP_SYM_BIT_OR;
    case eq:
      return BP_SYM_EQ;
    case ne:
      return BP_SYM_NE;
    case lt:
      return BP_SYM_LT;
    case le:
      return BP_SYM_LE;
    case logical_and:
      return BP_SYM_AND;
    case logical_or:
      return BP_SYM_OR;
    case logical_not:
      return BP_SYM_NOT;
    case where:
      return BP_SYM_WHERE;
  }
  return BP_SYM_CONSTANT;
}

uint32_t role_of(Role role) {
  switch (role) {
    case Role::input:
      return BP_ROLE_INPUT;
    case Role::parameter:
      return BP_ROLE_PARAMETER;
    case Role::buffer:
      return BP_ROLE_BUFFER;
    case Role::constant:
      return BP_ROLE_CONSTANT;
    case Role::intermediate:
      return BP_ROLE_INTERMEDIATE;
  }
  return BP_ROLE_INTERMEDIATE;
}

bp_devref_t device_of(const DeviceArg& device) {
  const int32_t type = device.type == "cpu"    ? BP_DEV_CPU
                       : device.type == "cuda" ? BP_DEV_CUDA
                       : device.type == "mps"  ? BP_DEV_METAL
                                               : 0;
  return {type, std::max(device.index, 0)};
}

}  // namespace backplane::lower
