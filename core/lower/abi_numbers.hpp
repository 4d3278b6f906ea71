// The contract's numbers for what the graph has its own types for.
#pragma once

#include <backplane/graph.h>

#include "graph/graph.hpp"

namespace backplane::lower {

[[nodiscard]] uint32_t token_of(SymOp op);                     // BP_SYM_*
[[nodiscard]] uint32_t role_of(Role role);                     // BP_ROLE_*
[[nodiscard]] bp_devref_t device_of(const DeviceArg& device);  // type 0: no number for it

}  // namespace backplane::lower
