// A graph as plugins see it: the structs of backplane/graph.h, made from a module.
#pragma once

#include <backplane/plugin.h>

#include <memory>
#include <span>
#include <vector>

#include "graph/graph.hpp"

namespace backplane::lower {

// A part of one graph of a module, to be compiled alone.
struct GraphPart {
  int32_t graph = 0;             // index into Module::graphs
  std::vector<NodeId> nodes;     // ascending
  std::vector<ValueId> inputs;   // values from outside that are no constants, in order of first use
  std::vector<ValueId> outputs;  // values that are used outside, in order of making
};

// The part that `nodes` are: what goes in and what comes out.
[[nodiscard]] GraphPart make_part(const Module& module, int32_t graph, std::vector<NodeId> nodes);

// The structs and all that they point to. Indices of values and nodes in `get()` are those of the
// graph itself for a whole graph; for a part they are counted anew, see value_ids.
class AbiGraph {
 public:
  // A whole method with its bodies; `node_flags` (BP_NODE_*) are by node of the root graph, or
  // empty.
  AbiGraph(Module& module, std::span<const uint32_t> node_flags);
  AbiGraph(Module& module, const GraphPart& part);
  ~AbiGraph();
  AbiGraph(const AbiGraph&) = delete;
  AbiGraph& operator=(const AbiGraph&) = delete;

  [[nodiscard]] const bp_graph_t* get() const;
  // Of a part: the module's value for each value index of the structs.
  [[nodiscard]] std::span<const ValueId> value_ids() const;
  [[nodiscard]] std::span<const NodeId> node_ids() const;
  // Graph indices of claims (1…: get()->graphs) as indices into Module::graphs.
  [[nodiscard]] int32_t module_graph(uint32_t claimed) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

[[nodiscard]] bp_dtype_t abi_dtype(DType dtype);

}  // namespace backplane::lower
