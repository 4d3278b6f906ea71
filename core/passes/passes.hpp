// The passes that bring a program to the form that is partitioned. Each is linear, or nearly so, in
// the number of nodes, works on the method and its bodies, and leaves a module that verify accepts.
#pragma once

#include <backplane/result.hpp>

#include "graph/graph.hpp"
#include "ops/schema.hpp"

namespace backplane::passes {

// Binds each node of a known operator to its schema (bind.hpp). Unknown operators stay as they are.
// Errors as bind_arguments, named after the node.
Status fill_defaults(Module& module, const ops::Table& table);

// Puts bodies of wrappers that only set a mode (gradients, autocast, hints) or name a part
// (invoke_subgraph, run_const_graph) in the wrapper's place, and calls that carry effect tokens or
// list mutations in the place of what they call. What autocast would convert is converted: where a
// node's result has another floating dtype than its operands give, they are converted to that.
Status inline_wrappers(Module& module, const ops::Table& table);

// Makes the program functional: no operator writes an operand, in place, as `out` or through a
// view; what the method's buffers and inputs hold at the end are outputs of the kinds
// buffer_mutation and input_mutation, before the user's. Programs that are functional stay as they
// are, but for as_strided: after this pass it sees a row-major tensor. unsupported: an operator
// that can't be expressed so, or memory that may be shared in unknown ways.
Status functionalize(Module& module, const ops::Table& table);

// Replaces arithmetic on sizes by its result where that is known, equal sizes by one value, and
// drops the program's checks that hold for all sizes. What an input can't break (inputs are checked
// against their ranges) is decided now; what depends on the data stays a check at run time.
// invalid_argument: a check never holds; quotes its message.
Status simplify_sizes(Module& module, const ops::Table& table);

// Removes operators that hand their operand on: detach, copies, conversions to what it is, views of
// the same sizes, dropout in evaluation.
Status remove_noops(Module& module, const ops::Table& table);

// Equal deterministic nodes become one.
Status merge_common_subexpressions(Module& module, const ops::Table& table);

// Removes nodes, values and bodies that nothing needs. Checks stay.
Status remove_dead_code(Module& module, const ops::Table& table);

}  // namespace backplane::passes
