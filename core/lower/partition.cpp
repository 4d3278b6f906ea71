#include "lower/partition.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>

namespace backplane::lower {
namespace {

constexpr int32_t kUnclaimed = -1;
// Up to here every merge check runs to its end.
constexpr int32_t kExactNodes = 2048;
constexpr int64_t kStepsPerGraph = 20'000'000;
constexpr int64_t kLeastSteps = 256;

// Nodes joined into clusters, named by their lowest node. Members form a ring, so that joining is
// constant time.
class Clusters {
 public:
  explicit Clusters(int32_t n) : parent_(static_cast<size_t>(n)) {
    std::iota(parent_.begin(), parent_.end(), 0);
    next_ = parent_;
  }

  int32_t root(int32_t node) {
    while (at(parent_, node) != node) {
      at(parent_, node) = at(parent_, at(parent_, node));
      node = at(parent_, node);
    }
    return node;
  }

  void join(int32_t a, int32_t b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    if (a > b) std::swap(a, b);
    at(parent_, b) = a;
    std::swap(at(next_, a), at(next_, b));
  }

  [[nodiscard]] int32_t next(int32_t member) const { return next_[static_cast<size_t>(member)]; }

 private:
  static int32_t& at(std::vector<int32_t>& v, int32_t i) { return v[static_cast<size_t>(i)]; }
  std::vector<int32_t> parent_;
  std::vector<int32_t> next_;
};

enum class Answer : uint8_t { no, yes, unknown };

// Looks for a path between clusters through others, from both ends at once and an edge at a time:
// the cost is that of the easier end.
class PathSearch {
 public:
  PathSearch(const Dag& dag, Clusters& clusters)
      : dag_(dag), clusters_(clusters), marks_(static_cast<size_t>(dag.size()), 0) {}

  // Is there a path from `from` to `to` (neighbours) with another cluster on it?
  Answer through_others(int32_t from, int32_t to, int64_t steps) {
    begin();
    forward_.start(from);
    backward_.start(to);
    mark(from) = mark(to) = stamp_ + kEnd;
    return run(steps);
  }

  // Is there a path out of the clusters that hold `nodes` and back into them?
  Answer returns(std::span<const int32_t> nodes, int64_t steps) {
    begin();
    for (const int32_t node : nodes) {
      const int32_t cluster = clusters_.root(node);
      if (mark(cluster) == stamp_ + kEnd) continue;
      mark(cluster) = stamp_ + kEnd;
      forward_.add(cluster);
      backward_.add(cluster);
    }
    forward_.first_other = forward_.queue.size();
    backward_.first_other = backward_.queue.size();
    forward_.member = backward_.member = forward_.queue[0];
    return run(steps);
  }

  // After `yes`: a cluster on the path.
  [[nodiscard]] int32_t met() const { return met_; }

 private:
  // What a mark says, added to the stamp of the search.
  static constexpr int32_t kEnd = 0;
  static constexpr int32_t kForward = 1;
  static constexpr int32_t kBackward = 2;

  struct Front {
    std::vector<int32_t> queue;
    size_t first_other = 0;  // queue[first_other…] are clusters that are no ends
    size_t head = 0;
    int32_t member = -1;
    size_t edge = 0;
    void start(int32_t cluster) {
      add(cluster);
      member = cluster;
      first_other = 1;
    }
    void add(int32_t cluster) { queue.push_back(cluster); }
    void reset() {
      queue.clear();
      head = first_other = edge = 0;
    }
  };

  int32_t& mark(int32_t cluster) { return marks_[static_cast<size_t>(cluster)]; }

  void begin() {
    stamp_ += 3;
    forward_.reset();
    backward_.reset();
  }

  Answer run(int64_t steps) {
    for (; steps > 0; --steps) {
      const Answer f = step<true>(forward_);
      if (f != Answer::unknown) return f;
      const Answer b = step<false>(backward_);
      if (b != Answer::unknown) return b;
    }
    return Answer::unknown;
  }

  // One edge; `no` when this end has nothing left, `yes` when a path is found.
  template <bool Forward>
  Answer step(Front& front) {
    while (true) {
      const auto edges = Forward ? dag_.successors(front.member) : dag_.predecessors(front.member);
      if (front.edge < edges.size())
        return visit<Forward>(front, clusters_.root(edges[front.edge++]));
      front.edge = 0;
      front.member = clusters_.next(front.member);
      if (clusters_.root(front.member) == front.member) {
        if (++front.head == front.queue.size()) return Answer::no;
        front.member = front.queue[front.head];
      }
    }
  }

  template <bool Forward>
  Answer visit(Front& front, int32_t cluster) {
    const int32_t here = front.queue[front.head];
    if (mark(cluster) == stamp_ + kEnd) {
      if (front.head < front.first_other) return Answer::unknown;  // the edge between the ends
      met_ = here;
      return Answer::yes;
    }
    if (mark(cluster) == stamp_ + (Forward ? kBackward : kForward)) {
      met_ = cluster;
      return Answer::yes;
    }
    if (mark(cluster) < stamp_) {
      mark(cluster) = stamp_ + (Forward ? kForward : kBackward);
      front.queue.push_back(cluster);
    }
    return Answer::unknown;
  }

  const Dag& dag_;
  Clusters& clusters_;
  std::vector<int32_t> marks_;
  int32_t stamp_ = 0;
  int32_t met_ = -1;
  Front forward_;
  Front backward_;
};

// Cluster roots in an order that respects all edges and prefers low node numbers; clusters on a
// cycle are left out.
std::vector<int32_t> topological(const Dag& dag, Clusters& clusters) {
  const auto n = static_cast<size_t>(dag.size());
  std::vector<int32_t> waiting(n, 0);
  for (int32_t v = 0; v < dag.size(); ++v) {
    for (const int32_t w : dag.successors(v)) {
      if (clusters.root(v) != clusters.root(w)) ++waiting[static_cast<size_t>(clusters.root(w))];
    }
  }
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> ready;
  for (int32_t v = 0; v < dag.size(); ++v) {
    if (clusters.root(v) == v && waiting[static_cast<size_t>(v)] == 0) ready.push(v);
  }
  std::vector<int32_t> order;
  while (!ready.empty()) {
    const int32_t cluster = ready.top();
    ready.pop();
    order.push_back(cluster);
    int32_t member = cluster;
    do {
      for (const int32_t w : dag.successors(member)) {
        const int32_t to = clusters.root(w);
        if (to != cluster && --waiting[static_cast<size_t>(to)] == 0) ready.push(to);
      }
      member = clusters.next(member);
    } while (member != cluster);
  }
  return order;
}

class Partitioner {
 public:
  Partitioner(const Dag& dag, std::span<const Claim> claims)
      : dag_(dag), claims_(claims), backend_(static_cast<size_t>(dag.size()), kUnclaimed) {}

  Partitioning run() {
    assign();
    Clusters grouped = join_groups();
    Clusters best = grouped;
    if (dag_.size() <= kExactNodes) {
      merge_neighbours(best);
      Clusters other = grouped;
      merge_levels(other);
      merge_neighbours(other);
      if (count(other) < count(best)) best = std::move(other);
    } else {
      merge_levels(best);
      merge_neighbours(best);
    }
    finish(best);
    return std::move(result_);
  }

 private:
  int32_t& backend(int32_t node) { return backend_[static_cast<size_t>(node)]; }
  [[nodiscard]] int64_t budget() const {
    if (dag_.size() <= kExactNodes) return std::numeric_limits<int64_t>::max();
    return std::max(kLeastSteps, kStepsPerGraph / dag_.size());
  }

  // Gives each node to its first claim. Groups that are all there are listed for join_groups.
  void assign() {
    for (size_t c = 0; c < claims_.size(); ++c) {
      const Claim& claim = claims_[c];
      const auto taken = std::find_if(claim.nodes.begin(), claim.nodes.end(),
                                      [&](int32_t node) { return backend(node) != kUnclaimed; });
      const bool whole = claim.whole && claim.nodes.size() > 1;
      if (whole && taken != claim.nodes.end()) {
        result_.refusals.push_back({c, *taken, Refusal::Reason::taken, -1, claim.may_split});
        if (!claim.may_split) continue;
      }
      for (const int32_t node : claim.nodes) {
        if (backend(node) == kUnclaimed) {
          backend(node) = claim.backend;
        } else if (!whole) {
          result_.refusals.push_back({c, node, Refusal::Reason::taken, -1, false});
        }
      }
      if (whole && taken == claim.nodes.end()) groups_.push_back(c);
    }
  }

  void join_all(Clusters& clusters, size_t claim) {
    for (const int32_t node : claims_[claim].nodes) clusters.join(claims_[claim].nodes[0], node);
  }

  // All groups at once where that has no cycle; the ones on cycles one by one, in the order
  // claimed.
  Clusters join_groups() {
    Clusters all(dag_.size());
    for (const size_t c : groups_) join_all(all, c);
    if (groups_.empty()) return all;
    std::vector<bool> sound(static_cast<size_t>(dag_.size()), false);
    for (const int32_t root : topological(dag_, all)) sound[static_cast<size_t>(root)] = true;
    Clusters good(dag_.size());
    std::vector<size_t> doubtful;
    for (const size_t c : groups_) {
      if (sound[static_cast<size_t>(all.root(claims_[c].nodes[0]))]) {
        join_all(good, c);
      } else {
        doubtful.push_back(c);
      }
    }
    PathSearch search(dag_, good);
    for (const size_t c : doubtful) add_group(good, search, c);
    return good;
  }

  void add_group(Clusters& clusters, PathSearch& search, size_t c) {
    const Claim& claim = claims_[c];
    const Answer answer = search.returns(claim.nodes, budget());
    if (answer == Answer::no) {
      join_all(clusters, c);
      return;
    }
    const int32_t through = answer == Answer::yes ? search.met() : -1;
    result_.refusals.push_back(
        {c, claim.nodes[0], Refusal::Reason::cycle, through, claim.may_split});
    if (claim.may_split) return;
    for (const int32_t node : claim.nodes) backend(node) = kUnclaimed;
  }

  // Joins neighbours of one backend between which the backend never changes on any path: with
  // level = changes of backend on the way from a source, at most, all paths inside a level stay in
  // it, and all edges between clusters go up. Linear.
  void merge_levels(Clusters& clusters) {
    std::vector<int32_t> level(static_cast<size_t>(dag_.size()), 0);
    for (const int32_t cluster : topological(dag_, clusters)) {
      const int32_t here = level[static_cast<size_t>(cluster)];
      int32_t member = cluster;
      do {
        for (const int32_t w : dag_.successors(member)) {
          const int32_t to = clusters.root(w);
          if (to == cluster) continue;
          const bool same = backend(cluster) != kUnclaimed && backend(cluster) == backend(to);
          int32_t& up = level[static_cast<size_t>(to)];
          up = std::max(up, here + (same ? 0 : 1));
        }
        member = clusters.next(member);
      } while (member != cluster);
    }
    std::vector<std::pair<int32_t, int32_t>> joins;
    for (int32_t v = 0; v < dag_.size(); ++v) {
      for (const int32_t w : dag_.successors(v)) {
        const int32_t a = clusters.root(v);
        const int32_t b = clusters.root(w);
        if (a != b && backend(a) != kUnclaimed && backend(a) == backend(b) &&
            level[static_cast<size_t>(a)] == level[static_cast<size_t>(b)]) {
          joins.emplace_back(a, b);
        }
      }
    }
    for (const auto& [a, b] : joins) clusters.join(a, b);
  }

  // Joins neighbours of one backend unless another path connects them, until nothing changes.
  void merge_neighbours(Clusters& clusters) {
    PathSearch search(dag_, clusters);
    const int64_t steps = budget();
    for (int sweep = 0; sweep < (dag_.size() <= kExactNodes ? dag_.size() : 2); ++sweep) {
      bool changed = false;
      for (int32_t v = 0; v < dag_.size(); ++v) {
        if (backend(v) == kUnclaimed) continue;
        for (const int32_t u : dag_.predecessors(v)) {
          if (backend(u) != backend(v)) continue;
          const int32_t from = clusters.root(u);
          const int32_t to = clusters.root(v);
          if (from == to || search.through_others(from, to, steps) != Answer::no) continue;
          clusters.join(from, to);
          changed = true;
        }
      }
      if (!changed) break;
    }
  }

  int32_t count(Clusters& clusters) {
    int32_t partitions = 0;
    for (int32_t v = 0; v < dag_.size(); ++v) {
      partitions += backend(v) != kUnclaimed && clusters.root(v) == v ? 1 : 0;
    }
    return partitions;
  }

  void finish(Clusters& clusters) {
    result_.partition_of.assign(static_cast<size_t>(dag_.size()), -1);
    for (const int32_t cluster : topological(dag_, clusters)) {
      if (backend(cluster) == kUnclaimed) {
        result_.order.push_back(cluster);
        continue;
      }
      const auto p = static_cast<int32_t>(result_.partitions.size());
      Partition part{backend(cluster), {}};
      int32_t member = cluster;
      do {
        part.nodes.push_back(member);
        result_.partition_of[static_cast<size_t>(member)] = p;
        member = clusters.next(member);
      } while (member != cluster);
      std::sort(part.nodes.begin(), part.nodes.end());
      result_.partitions.push_back(std::move(part));
      result_.order.push_back(-1 - p);
    }
  }

  const Dag& dag_;
  std::span<const Claim> claims_;
  std::vector<int32_t> backend_;  // by node
  std::vector<size_t> groups_;    // claims whose nodes are all theirs
  Partitioning result_;
};

}  // namespace

Dag::Dag(int32_t num_nodes, std::span<const std::pair<int32_t, int32_t>> edges) {
  const auto build = [&](Adjacency& adjacency, bool forward) {
    adjacency.starts.assign(static_cast<size_t>(num_nodes) + 1, 0);
    for (const auto& [from, to] : edges) {
      assert(from < to && from >= 0 && to < num_nodes);
      ++adjacency.starts[static_cast<size_t>(forward ? from : to) + 1];
    }
    std::partial_sum(adjacency.starts.begin(), adjacency.starts.end(), adjacency.starts.begin());
    adjacency.targets.resize(edges.size());
    std::vector<int32_t> next(adjacency.starts.begin(), adjacency.starts.end() - 1);
    for (const auto& [from, to] : edges) {
      const auto slot = static_cast<size_t>(next[static_cast<size_t>(forward ? from : to)]++);
      adjacency.targets[slot] = forward ? to : from;
    }
  };
  build(successors_, true);
  build(predecessors_, false);
}

Partitioning partition(const Dag& dag, std::span<const Claim> claims) {
  return Partitioner(dag, claims).run();
}

}  // namespace backplane::lower
