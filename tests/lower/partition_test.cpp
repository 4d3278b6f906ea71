// Partitioning against an exhaustive checker on small random graphs, and what backend authors rely
// on.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>

#include "lower/partition.hpp"

using namespace backplane::lower;

namespace {

using Edges = std::vector<std::pair<int32_t, int32_t>>;

// Whether contracting nodes by `cluster` leaves a graph without cycles: by brute-force
// reachability.
bool quotient_acyclic(int32_t n, const Edges& edges, const std::vector<int32_t>& cluster) {
  std::vector<uint64_t> reach(static_cast<size_t>(n), 0);
  for (const auto& [u, v] : edges) {
    const int32_t a = cluster[static_cast<size_t>(u)];
    const int32_t b = cluster[static_cast<size_t>(v)];
    if (a != b) reach[static_cast<size_t>(a)] |= uint64_t{1} << b;
  }
  for (int32_t k = 0; k < n; ++k) {
    for (auto& row : reach) {
      if ((row >> k & 1) != 0) row |= reach[static_cast<size_t>(k)];
    }
  }
  for (int32_t c = 0; c < n; ++c) {
    if ((reach[static_cast<size_t>(c)] >> c & 1) != 0) return false;
  }
  return true;
}

int32_t clusters_claimed(const std::vector<int32_t>& cluster, const std::vector<int32_t>& backend) {
  std::vector<int32_t> seen;
  for (size_t v = 0; v < cluster.size(); ++v) {
    if (backend[v] >= 0) seen.push_back(cluster[v]);
  }
  std::sort(seen.begin(), seen.end());
  return static_cast<int32_t>(std::unique(seen.begin(), seen.end()) - seen.begin());
}

// Merge pairs of neighbours in topological order as long as the quotient stays acyclic.
int32_t greedy_partitions(int32_t n, const Edges& edges, const std::vector<int32_t>& backend,
                          std::vector<int32_t> cluster) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [u, v] : edges) {
      const int32_t from = cluster[static_cast<size_t>(u)];
      const int32_t to = cluster[static_cast<size_t>(v)];
      const int32_t owner = backend[static_cast<size_t>(u)];
      if (from == to || owner < 0 || owner != backend[static_cast<size_t>(v)]) continue;
      std::vector<int32_t> trial = cluster;
      std::replace(trial.begin(), trial.end(), to, from);
      if (!quotient_acyclic(n, edges, trial)) continue;
      cluster = std::move(trial);
      changed = true;
    }
  }
  return clusters_claimed(cluster, backend);
}

bool connected(const Partition& p, const Edges& edges) {
  std::vector<int32_t> reached{p.nodes[0]};
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const auto& [u, v] : edges) {
      for (const auto& [a, b] : {std::pair{u, v}, std::pair{v, u}}) {
        if (a == reached[i] && std::find(p.nodes.begin(), p.nodes.end(), b) != p.nodes.end() &&
            std::find(reached.begin(), reached.end(), b) == reached.end()) {
          reached.push_back(b);
        }
      }
    }
  }
  return reached.size() == p.nodes.size();
}

struct Sample {
  int32_t n;
  Edges edges;
  std::vector<int32_t> backend;
  std::vector<Claim> claims;
};

Sample random_sample(std::mt19937& random) {
  const auto below = [&](int32_t k) {
    return static_cast<int32_t>(random() % static_cast<uint32_t>(k));
  };
  Sample s;
  s.n = 2 + below(11);
  const int32_t density = 1 + below(6);
  for (int32_t v = 0; v < s.n; ++v) {
    for (int32_t u = 0; u < v; ++u) {
      if (below(8) < density) s.edges.emplace_back(u, v);
    }
  }
  std::sort(s.edges.begin(), s.edges.end(), [](auto a, auto b) {
    return std::pair{a.second, a.first} < std::pair{b.second, b.first};
  });
  const int32_t backends = 1 + below(2);
  for (int32_t v = 0; v < s.n; ++v) {
    s.backend.push_back(below(backends + 1) - 1);
    if (s.backend.back() >= 0) s.claims.push_back({s.backend.back(), {v}});
  }
  return s;
}

// Everything that holds for every result; returns the first thing that does not.
std::string fault(const Sample& s, const Partitioning& result) {
  std::vector<int32_t> cluster(static_cast<size_t>(s.n));
  for (int32_t v = 0; v < s.n; ++v) {
    const int32_t p = result.partition_of[static_cast<size_t>(v)];
    cluster[static_cast<size_t>(v)] =
        p < 0 ? v : result.partitions[static_cast<size_t>(p)].nodes[0];
  }
  if (!quotient_acyclic(s.n, s.edges, cluster)) return "cycle";
  std::vector<int32_t> place(static_cast<size_t>(s.n), -1);
  int32_t at = 0;
  for (const int32_t item : result.order) {
    if (item >= 0) place[static_cast<size_t>(item)] = at;
    if (item < 0) {
      for (const int32_t v : result.partitions[static_cast<size_t>(-1 - item)].nodes)
        place[static_cast<size_t>(v)] = at;
    }
    ++at;
  }
  if (std::count(place.begin(), place.end(), -1) != 0) return "a node is not in the order";
  for (const auto& [u, v] : s.edges) {
    if (place[static_cast<size_t>(u)] > place[static_cast<size_t>(v)])
      return "order breaks an edge";
  }
  for (const Partition& p : result.partitions) {
    if (!connected(p, s.edges)) return "not connected";
    for (const int32_t v : p.nodes) {
      if (s.backend[static_cast<size_t>(v)] != p.backend) return "a node of another backend";
    }
  }
  return "";
}

int num_graphs() {
  const char* count = std::getenv("BACKPLANE_PARTITION_GRAPHS");
  return count == nullptr ? 100'000 : std::atoi(count);
}

}  // namespace

TEST_SUITE("core/lower/partition") {
  TEST_CASE("random graphs: valid, every claimed node taken, never more partitions than greedy") {
    std::mt19937 random(7);
    for (int round = 0; round < num_graphs(); ++round) {
      const Sample s = random_sample(random);
      const Partitioning result = partition(Dag(s.n, s.edges), s.claims);
      const std::string wrong = fault(s, result);
      std::vector<int32_t> single(static_cast<size_t>(s.n));
      for (int32_t v = 0; v < s.n; ++v) single[static_cast<size_t>(v)] = v;
      const int32_t reference = greedy_partitions(s.n, s.edges, s.backend, single);
      CAPTURE(round);
      REQUIRE(wrong == "");
      REQUIRE(static_cast<int32_t>(result.partitions.size()) <= reference);
      for (int32_t v = 0; v < s.n; ++v) {
        REQUIRE((result.partition_of[static_cast<size_t>(v)] >= 0) ==
                (s.backend[static_cast<size_t>(v)] >= 0));
      }
    }
  }

  TEST_CASE("random groups: each is whole in one partition, or refused with a reason") {
    std::mt19937 random(11);
    for (int round = 0; round < num_graphs() / 4; ++round) {
      Sample s = random_sample(random);
      s.claims.clear();
      std::vector<int32_t> free(static_cast<size_t>(s.n));
      for (int32_t v = 0; v < s.n; ++v) free[static_cast<size_t>(v)] = v;
      std::shuffle(free.begin(), free.end(), random);
      s.backend.assign(static_cast<size_t>(s.n), -1);
      while (free.size() > 1) {
        Claim claim{static_cast<int32_t>(random() % 2), {}, true, random() % 2 == 0};
        for (size_t k = 1 + random() % 3; k > 0 && !free.empty(); --k) {
          claim.nodes.push_back(free.back());
          s.backend[static_cast<size_t>(free.back())] = claim.backend;
          free.pop_back();
        }
        s.claims.push_back(claim);
      }
      const Partitioning result = partition(Dag(s.n, s.edges), s.claims);
      CAPTURE(round);
      std::vector<int32_t> cluster(static_cast<size_t>(s.n));
      for (int32_t v = 0; v < s.n; ++v) {
        const int32_t p = result.partition_of[static_cast<size_t>(v)];
        cluster[static_cast<size_t>(v)] =
            p < 0 ? v : result.partitions[static_cast<size_t>(p)].nodes[0];
      }
      REQUIRE(quotient_acyclic(s.n, s.edges, cluster));
      for (size_t c = 0; c < s.claims.size(); ++c) {
        const auto refused = std::find_if(result.refusals.begin(), result.refusals.end(),
                                          [&](const Refusal& r) { return r.claim == c; });
        const int32_t p = result.partition_of[static_cast<size_t>(s.claims[c].nodes[0])];
        const bool taken = refused == result.refusals.end() || refused->split;
        for (const int32_t v : s.claims[c].nodes) {
          REQUIRE((result.partition_of[static_cast<size_t>(v)] >= 0) == taken);
          if (refused == result.refusals.end())
            REQUIRE(result.partition_of[static_cast<size_t>(v)] == p);
        }
      }
    }
  }

  TEST_CASE(
      "a node between two of one backend splits them when it depends on one and feeds the other") {
    // 0 → 1 → 2 and 0 → 2, node 1 unclaimed.
    const Edges edges{{0, 1}, {0, 2}, {1, 2}};
    const std::vector<Claim> claims{{0, {0}}, {0, {2}}};
    CHECK(partition(Dag(3, edges), claims).partitions.size() == 2);
  }

  TEST_CASE("two groups that could each be whole but not both: the first claimed wins") {
    // a0 → b0, b1 → a1.
    const Edges edges{{0, 1}, {2, 3}};
    const std::vector<Claim> claims{{0, {0, 3}, true, false}, {1, {1, 2}, true, true}};
    const Partitioning result = partition(Dag(4, edges), claims);
    REQUIRE(result.refusals.size() == 1);
    CHECK(result.refusals[0].claim == 1);
    CHECK(result.refusals[0].reason == Refusal::Reason::cycle);
    CHECK(result.refusals[0].split);
    CHECK(result.partition_of[0] == result.partition_of[3]);
    CHECK(result.partition_of[1] != result.partition_of[2]);
  }

  TEST_CASE("a claim of a taken node is reported and ignored") {
    const std::vector<Claim> claims{{0, {0, 1}}, {1, {1}}};
    const Partitioning result = partition(Dag(2, Edges{{0, 1}}), claims);
    REQUIRE(result.refusals.size() == 1);
    CHECK(result.refusals[0].claim == 1);
    CHECK(result.refusals[0].node == 1);
    CHECK(result.refusals[0].reason == Refusal::Reason::taken);
    CHECK(result.partitions.size() == 1);
  }

  TEST_CASE("unclaimed nodes keep their order") {
    const Edges edges{{0, 3}, {1, 3}};
    const std::vector<Claim> claims{{0, {0}}, {0, {3}}};
    const Partitioning result = partition(Dag(5, edges), claims);
    std::vector<int32_t> rest;
    std::copy_if(result.order.begin(), result.order.end(), std::back_inserter(rest),
                 [](int32_t i) { return i >= 0; });
    CHECK(rest == std::vector<int32_t>{1, 2, 4});
  }
}
