// A graph as plugins see it: the structs of backplane/graph.h, made from a module.
#pragma once

#include <backplane/plugin.h>

#include <memory>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "lower/data_set.hpp"
#include "lower/graph_part.hpp"

namespace backplane::lower {

// The structs and all that they point to. Indices of values and nodes are those of the module's
// graph for a whole method; of a part they are counted anew, see value_ids. Constants have their
// keys and ids. State comes as inputs.
class AbiGraph {
 public:
  // A whole method with its bodies; `node_flags` (BP_NODE_*) are by graph and node, or empty.
  AbiGraph(Module& module, const DataSet& data, const StateNames& state,
           std::span<const std::vector<uint32_t>> node_flags);
  AbiGraph(Module& module, const DataSet& data, const StateNames& state, const GraphPart& part);
  ~AbiGraph();
  AbiGraph(const AbiGraph&) = delete;
  AbiGraph& operator=(const AbiGraph&) = delete;

  [[nodiscard]] const bp_graph_t* get() const;
  // The module's value for each value index of graphs[0].
  [[nodiscard]] std::span<const ValueId> value_ids() const;
  // The module's node of a node index of graphs[0].
  [[nodiscard]] std::span<const NodeId> node_ids() const;
  // What graphs[i] is in Module::graphs; -1 if there is no such graph.
  [[nodiscard]] int32_t module_graph(int32_t index) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace backplane::lower
