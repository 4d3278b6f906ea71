// The ahead-of-time half: what it takes, and how it makes a payload of that. [one at a time]
#pragma once

#include <backplane/lowering.hpp>

#include <array>

namespace backplane::cuda::compiler {

// Operators that are compiled as they are.
inline constexpr std::array<bp_str_t, 1> kKeptOps = {sdk::text("aten::linear")};

// Whether gpu_arch names architectures.
[[nodiscard]] Status validate(const sdk::Options& options);
// Claims what `compile` can compile, and says why not of the rest.
[[nodiscard]] Status partition(const sdk::LowerRequest& request, const sdk::Claims& claims);
// unavailable: NVRTC is not on this machine.
[[nodiscard]] Status compile(sdk::Host host, const sdk::LowerRequest& request,
                             const sdk::Emitter& emitter);

}  // namespace backplane::cuda::compiler
