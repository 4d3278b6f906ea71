// What gpu_arch means: "sm_80,sm_90a,compute_80".
#pragma once

#include <backplane/result.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "cuda/payload_records.hpp"

namespace backplane::cuda::compiler {

struct Architecture {
  std::string name;     // "sm_90a"
  ImageKind kind;       // sm_*: cubin; compute_*: PTX
  uint32_t capability;  // 90
  bool is_exact;        // "a" or "f" at its end
};

// In the order in which a device shall try them: exact ones first, then cubins from the newest to
// the oldest, then PTX from the newest. invalid_argument: not such a list; says which part.
[[nodiscard]] Result<std::vector<Architecture>> parse_architectures(std::string_view list);

}  // namespace backplane::cuda::compiler
