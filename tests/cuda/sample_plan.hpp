// A plan with one of everything, for tests of the payload.
#pragma once

#include "cuda/payload.hpp"

namespace backplane::cuda {

// One input [n, 4] of float32, one output, a weight, a derived and an arena buffer; a setup step, a
// launch, a product, a convolution, a copy and a fill.
[[nodiscard]] Plan sample_plan();

}  // namespace backplane::cuda
