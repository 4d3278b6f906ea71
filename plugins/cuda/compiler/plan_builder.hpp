// From a program and its schedule to a plan: buffers, steps, kernels' texts.
#pragma once

#include <backplane/result.hpp>

#include <string>
#include <vector>

#include "cuda/compiler/program.hpp"
#include "cuda/payload.hpp"

namespace backplane::cuda::compiler {

struct PlanOptions {
  Compute float32 = Compute::f32;  // of float32 products and convolutions
  std::string_view method;
};
struct Planned {
  Plan plan;                         // without images
  std::vector<std::string> kernels;  // the text of each
  std::vector<int32_t> weights;      // the graph's values that it needs
};

// unsupported: an output is no tensor that kernels can hold.
[[nodiscard]] Result<Planned> make_plan(Program& program, const PlanOptions& options);

}  // namespace backplane::cuda::compiler
