#include "cuda/compiler/ops/promote.hpp"

#include <algorithm>

namespace backplane::cuda::compiler {
namespace {

// 0 bool, 1 integer, 2 float.
int category(bp_dtype_t dtype) {
  if (dtype == sdk::kBool) return 0;
  return is_floating(dtype) ? 2 : 1;
}

// The smallest dtype that holds both, as tensors of one rank of priority.
bp_dtype_t join(bp_dtype_t a, bp_dtype_t b) {
  if (a == b) return a;
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (category(a) == 2) {
    if (a.bits == b.bits) return sdk::kFloat32;  // float16 and bfloat16
    return a.bits > b.bits ? a : b;
  }
  const bool mixed = a.code != b.code;
  const bp_dtype_t wide = a.bits >= b.bits ? a : b;
  if (mixed && (wide.code == BP_DT_UINT || a.bits == b.bits))
    return {BP_DT_INT, static_cast<uint8_t>(wide.bits * 2), 1};
  return wide;
}

struct Operand {
  int priority;  // 2 tensors with dimensions, 1 without, 0 numbers
  bp_dtype_t dtype;
};

}  // namespace

Result<bp_dtype_t> promoted(const OpCall& call, size_t a, size_t b) {
  std::vector<Operand> operands;
  for (const size_t i : {a, b}) {
    if (call.is_tensor(i)) {
      BP_ASSIGN_OR_RETURN(const TensorId t, call.tensor(i));
      operands.push_back({call.rank(t) > 0 ? 2 : 1, call.at(t).dtype});
      continue;
    }
    const uint32_t kind = call.arg(i).kind;
    if (kind == BP_ARG_BOOL) operands.push_back({0, sdk::kBool});
    if (kind == BP_ARG_INT) operands.push_back({0, sdk::kInt64});
    if (kind == BP_ARG_FLOAT) operands.push_back({0, sdk::kFloat32});
  }
  if (operands.size() != 2) return call.refuse("an operand is no tensor and no number");
  const Operand& x = operands[0];
  const Operand& y = operands[1];
  if (x.priority == y.priority) return join(x.dtype, y.dtype);
  const Operand& high = x.priority > y.priority ? x : y;
  const Operand& low = x.priority > y.priority ? y : x;
  // The lower priority counts only where it is of a higher category.
  return category(low.dtype) > category(high.dtype) ? low.dtype : high.dtype;
}

}  // namespace backplane::cuda::compiler
