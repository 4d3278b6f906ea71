// A stored tensor's kernel as CUDA C++.
//
// Without reductions over rows: one thread an element. With them: a warp or a block a row, which
// makes the row's reductions together and then writes the row.
#pragma once

#include <string>
#include <vector>

#include "cuda/compiler/schedule.hpp"

namespace backplane::cuda::compiler {

struct KernelText {
  std::string text;  // with kNamePlaceholder for the kernel's name
  struct Parameter {
    ParameterKind kind;
    TensorId tensor = -1;  // pointer; f64: the input
    SizeId size = kNone;   // i64
  };
  std::vector<Parameter> parameters;
  SizeId grid, block;
};
inline constexpr std::string_view kNamePlaceholder = "KERNEL_NAME";

// The kernel that writes `id`, whose element is `element`.
[[nodiscard]] KernelText write_kernel(TensorGraph& g, TensorId id, ExprId element);

}  // namespace backplane::cuda::compiler
