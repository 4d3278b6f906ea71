// What will run each node that no backend took: asked before anything compiles.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "lower/claims.hpp"

namespace backplane::lower {

// One line for each node that has neither a backend nor a kernel that can run it, with operator,
// dtypes, node and source line. Empty: all can run.
[[nodiscard]] std::vector<std::string> missing_kernels(Module& module,
                                                       const std::vector<Settled>& settled,
                                                       const KernelIndex& kernels,
                                                       const ops::Table& ops);

// Operators that the runtime has itself: arithmetic on sizes, checks, control flow.
[[nodiscard]] bool is_runtime_operator(std::string_view name);

}  // namespace backplane::lower
