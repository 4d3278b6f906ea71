// Bodies of higher-order operators: in which order to treat graphs, and what bodies are given.
#pragma once

#include <backplane/result.hpp>

#include <vector>

#include "graph/graph.hpp"

namespace backplane::passes {

// Indices of the graphs that the method reaches, each after all bodies that it uses; so the method
// comes last. internal: a graph is its own body.
[[nodiscard]] Result<std::vector<int32_t>> bodies_first(const Module& module);

// Indices of the bodies of a node, in order.
[[nodiscard]] std::vector<int32_t> bodies_of(const Node& node);

// What a node gives to its bodies' inputs: its arguments after the last body, lists flattened.
// (Only of cond, while_loop and the wrappers: others slice or reorder their operands.) Strings and
// named arguments are not operands.
[[nodiscard]] std::vector<Argument> operands_of(const Node& node);

// Removes graphs that the method does not reach, and renumbers the others.
Status drop_unused_bodies(Module& module);

}  // namespace backplane::passes
