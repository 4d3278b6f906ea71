// What nodes that compute sizes give: sym::add and its kind, sym_size, sym_numel.
#pragma once

#include <optional>
#include <vector>

#include "passes/rewriter.hpp"

namespace backplane::passes {

// A number that a symbolic node gives: a literal, or an expression (truth values as 0 and 1).
struct SymbolicResult {
  std::optional<Argument> literal;
  std::optional<SymInt> expr;
};

// The result of a node without tensor operands other than to ask their sizes; empty if it is
// something else, or nothing is known.
[[nodiscard]] SymbolicResult evaluate_symbolic(Rewriter& rewriter, const Node& node);

// For each symbol of the module, whether its range holds by itself: because inputs are checked
// against it, or because no value could break it (a count of elements is never more than there
// are). The range of any other symbol holds only if the program's own checks are run.
[[nodiscard]] std::vector<bool> trusted_symbols(const Module& module);

}  // namespace backplane::passes
