// What of a graph a plugin is shown: all of it, or one partition.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace backplane::lower {

// FQNs of the buffers that some method of the program writes.
using StateNames = std::set<std::string, std::less<>>;

[[nodiscard]] bool is_state(const Module& module, const Value& value, const StateNames& state);

// A part of one graph of a module, to be compiled alone.
struct GraphPart {
  int32_t graph = 0;             // index into Module::graphs
  std::vector<NodeId> nodes;     // ascending
  std::vector<ValueId> inputs;   // values from outside that are no constants, in order of first use
  std::vector<ValueId> outputs;  // values that are used outside, in order of making
};

// The part that `nodes` are: what goes in and what comes out. State goes in.
[[nodiscard]] GraphPart make_part(const Module& module, const StateNames& state, int32_t graph,
                                  std::vector<NodeId> nodes);

// Nodes and values, and which of them are the graph's inputs and outputs.
struct Selection {
  std::vector<NodeId> nodes;
  std::vector<ValueId> values;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
};

[[nodiscard]] Selection everything(const Module& module, const StateNames& state,
                                   const Graph& graph);
[[nodiscard]] Selection of_part(const Graph& graph, const GraphPart& part);

}  // namespace backplane::lower
