// Partitioning: which nodes go together to which backend.
//
// Works on a bare DAG, so that its guarantees can be tested alone. Given who claims what, it makes
// partitions such that no node is in two, each is connected and convex, and the graph whose nodes
// are the partitions and the unclaimed nodes has no cycle, across backends too. Small graphs get as
// few partitions as greedy merging of neighbours gives; in large ones each merge check has a budget
// of steps, so time and memory stay linear and a merge that cannot be shown safe in time is left
// out.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace backplane::lower {

// Nodes 0 … n-1 in a topological order, with the edges out of each.
class Dag {
 public:
  // `edges` are (from, to) with from < to; doubles are allowed.
  Dag(int32_t num_nodes, std::span<const std::pair<int32_t, int32_t>> edges);

  [[nodiscard]] int32_t size() const { return static_cast<int32_t>(successors_.starts.size()) - 1; }
  [[nodiscard]] std::span<const int32_t> successors(int32_t node) const {
    return successors_.of(node);
  }
  [[nodiscard]] std::span<const int32_t> predecessors(int32_t node) const {
    return predecessors_.of(node);
  }

 private:
  struct Adjacency {
    std::vector<int32_t> starts;
    std::vector<int32_t> targets;
    [[nodiscard]] std::span<const int32_t> of(int32_t node) const {
      const auto i = static_cast<size_t>(node);
      return {targets.data() + starts[i], targets.data() + starts[i + 1]};
    }
  };
  Adjacency successors_;
  Adjacency predecessors_;
};

// What a backend wants: nodes that it can take alone, or (whole) only together.
struct Claim {
  int32_t backend = 0;
  std::vector<int32_t> nodes;
  bool whole = false;      // one group: all of it in one partition, or
  bool may_split = false;  // if it can't be whole, its nodes are taken singly
};

struct Partition {
  int32_t backend = 0;
  std::vector<int32_t> nodes;  // ascending
};

// A claim, or part of one, that was not granted.
struct Refusal {
  size_t claim;
  int32_t node;  // the node that shows why
  enum class Reason : uint8_t {
    taken,  // an earlier claim has the node
    cycle,  // the group can't be whole: a path leaves it and comes back
  } reason;
  int32_t through = -1;  // cycle: a node outside on such a path; -1 if the search was given up
  bool split = false;    // its nodes were taken singly instead
};

struct Partitioning {
  std::vector<Partition> partitions;
  std::vector<int32_t> partition_of;  // by node; -1: unclaimed
  std::vector<Refusal> refusals;
  // The new order: node ids, and -1 - p for partition p. Unclaimed nodes keep their order but where
  // a partition between them forces another.
  std::vector<int32_t> order;
};

// Earlier claims win. Claims with nodes out of range are a bug of the caller.
[[nodiscard]] Partitioning partition(const Dag& dag, std::span<const Claim> claims);

}  // namespace backplane::lower
