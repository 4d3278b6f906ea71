// Asking backends what they take, and settling it: a schedule for every graph of a module.
#pragma once

#include <backplane/result.hpp>

#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "lower/data_set.hpp"
#include "lower/graph_part.hpp"
#include "ops/schema.hpp"
#include "plugin/backend.hpp"
#include "plugin/kernel_index.hpp"

namespace backplane::lower {

// A backend at work: what it was created from and the options that hold for one method.
struct BackendUse {
  Backend* backend = nullptr;
  Options options;            // phase COMPILE, resolved
  std::string target_device;  // "cuda:0" or empty
  uint32_t placement = 0;     // BP_DATA_*
};

struct PartitionOf {
  size_t backend = 0;  // into the uses
  std::string tag;
  std::vector<NodeId> nodes;  // ascending
};

// What becomes of one graph.
struct Settled {
  std::vector<PartitionOf> partitions;
  std::vector<int32_t> order;         // node ids, and -1 - p for partition p
  std::vector<int32_t> partition_of;  // by node; -1: kernels
  // Why nobody took a node, or why its neighbours were not joined to it; may be empty.
  std::vector<std::string> reasons;  // by node
};

struct ClaimRequest {
  Module& module;
  const DataSet& data;
  const StateNames& state;
  const ops::Table& ops;
  const KernelIndex& kernels;
  std::vector<BackendUse>& uses;  // in order of preference
  const volatile int32_t* cancel = nullptr;
};

// One for each graph of the module. Errors of a backend's partition are passed on with its name.
[[nodiscard]] Result<std::vector<Settled>> settle(const ClaimRequest& request);

// "node NAME (op): taken by BACKEND, partition P" or why not: one line a node.
[[nodiscard]] std::vector<std::string> explain(const Module& module,
                                               const std::vector<Settled>& settled,
                                               const std::vector<BackendUse>& uses,
                                               const KernelIndex& kernels, const ops::Table& ops);

}  // namespace backplane::lower
