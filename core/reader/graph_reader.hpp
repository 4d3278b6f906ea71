// Graphs of `.pt2` files: values, nodes, bodies.
#pragma once

#include <backplane/result.hpp>

#include <cstdint>

#include "reader/graph_scope.hpp"
#include "reader/json.hpp"

namespace backplane {

// Reads a graph object into `scope`: close_scope is to follow.
// invalid_argument: malformed; a value made twice; bodies nested over 32 deep. Names the node.
Status read_graph(json::Value& object, GraphScope& scope);

// Reads the graph of a body, adds it to the module and gives its index.
[[nodiscard]] Result<int32_t> read_body_graph(json::Value& object, ReadContext& context,
                                              int32_t depth);

}  // namespace backplane
