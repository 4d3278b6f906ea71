// Kernels' texts compiled to the images of a plan.
#pragma once

#include "cuda/compiler/nvrtc.hpp"
#include "cuda/compiler/plan_builder.hpp"

namespace backplane::cuda::compiler {

// What stands before each module's kernels when it is compiled for a GPU.
[[nodiscard]] std::string_view device_prelude();
// Adds modules and images. Kernels are taken a few at a time, in order, so that the same program
// gives the same bytes.
[[nodiscard]] Status add_images(const Nvrtc& nvrtc, const std::vector<Architecture>& architectures,
                                Planned& planned);

}  // namespace backplane::cuda::compiler
