// All passes in order: from the program as exported to the one that is partitioned.
#pragma once

#include <backplane/result.hpp>

#include <functional>
#include <string>
#include <vector>

#include "passes/evaluator.hpp"

namespace backplane::passes {

struct PrepareOptions {
  // Operators that a backend wants whole: not decomposed.
  std::vector<std::string> kept_ops;
  // CPU kernels to fold with; empty: nothing is folded.
  Evaluator::Lookup kernels;
  // The largest result that is folded.
  int64_t max_folded_bytes = int64_t{1} << 30;
};

// Makes the module functional and small: operators bound to their schemas, wrappers inlined,
// composites decomposed but for `kept_ops`, sizes and branches decided where they can be, constants
// folded, no dead or repeated nodes. What unknown operators, or arguments that could not be read,
// are left is for the caller to report (refuse_unknown). Where asserts are on, verify runs after
// each pass. Errors name the node. Near linear in nodes. [any thread, one module at a time]
Status prepare(Module& module, const ops::Table& table, const PrepareOptions& options);

// What `prepare` kept and no backend took is decomposed after all: every node that `keep` does not
// say yes to. Then the module is simplified again.
Status decompose_rest(Module& module, const ops::Table& table, const PrepareOptions& options,
                      const std::function<bool(const Node&)>& keep);

}  // namespace backplane::passes
