// Arguments of a node against its operator's schema.
#pragma once

#include <backplane/result.hpp>

#include "graph/graph.hpp"

namespace backplane::passes {

// Puts the arguments of a node with a schema into the schema's order, named by it, completed with
// defaults (None for optional ones), and in the kinds that the schema has: a single integer where a
// list of fixed length is wanted becomes that list, an integer where a float or a flag is wanted
// becomes one. A number in a tensor's place stays: it is a wrapped number. Out arguments that are
// absent stay away. invalid_argument: an argument is unknown, given twice, missing, or of a kind
// that the schema does not allow; unsupported: one that the reader could not take in.
[[nodiscard]] Status bind_arguments(Node& node);

}  // namespace backplane::passes
