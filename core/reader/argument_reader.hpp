// Arguments of nodes, as `.pt2` files hold them in JSON.
#pragma once

#include <backplane/result.hpp>

#include "reader/graph_scope.hpp"
#include "reader/json.hpp"

namespace backplane {

// An argument of a node, or an input or output of a graph. Kinds and enumerations that are not
// known, and objects, become UnknownArgument. Bodies are read into the module.
// invalid_argument: malformed.
[[nodiscard]] Result<Argument> read_argument(json::Value& object, GraphScope& scope);

}  // namespace backplane
