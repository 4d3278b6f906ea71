// The dtype in which an operator of two operands computes: PyTorch's promotion.
#pragma once

#include "cuda/compiler/ops/op_call.hpp"

namespace backplane::cuda::compiler {

// Of arguments `a` and `b`, each a tensor or a number.
[[nodiscard]] Result<bp_dtype_t> promoted(const OpCall& call, size_t a, size_t b);

}  // namespace backplane::cuda::compiler
