// Times partitioning alone on graphs of many nodes.
//
//   partition --nodes N --shape chain|grid|random|interleaved|transformer [--json]
//
// Best of three. peak_mb is the process's peak memory less what it had before the graph was made.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "lower/partition.hpp"

using namespace backplane::lower;

namespace {

struct Problem {
  std::vector<std::pair<int32_t, int32_t>> edges;
  std::vector<Claim> claims;
};

using Generator = void (*)(int32_t n, Problem& problem);

// Nine of ten nodes to one backend, in a line.
void chain(int32_t n, Problem& p) {
  for (int32_t v = 0; v < n; ++v) {
    if (v > 0) p.edges.emplace_back(v - 1, v);
    if (v % 10 != 9) p.claims.push_back({0, {v}});
  }
}

// A square grid, edges right and down; one node in seven unclaimed.
void grid(int32_t n, Problem& p) {
  int32_t side = 1;
  while (side * side < n) ++side;
  for (int32_t v = 0; v < n; ++v) {
    if (v % side != 0) p.edges.emplace_back(v - 1, v);
    if (v >= side) p.edges.emplace_back(v - side, v);
    if (v % 7 != 3) p.claims.push_back({0, {v}});
  }
}

// Two predecessors each from anywhere before; two backends and unclaimed nodes, a third each.
void random_dag(int32_t n, Problem& p) {
  std::mt19937 random(1);
  for (int32_t v = 0; v < n; ++v) {
    for (int k = 0; k < 2 && v > 0; ++k) {
      p.edges.emplace_back(static_cast<int32_t>(random() % static_cast<uint32_t>(v)), v);
    }
    if (random() % 3 != 0) p.claims.push_back({static_cast<int32_t>(random() % 2), {v}});
  }
}

// Groups of four taken alternately from two long chains that exchange values; in every eighth pair
// of groups each feeds the other, so that only one of the two can be whole.
void interleaved(int32_t n, Problem& p) {
  for (int32_t v = 2; v < n; ++v) {
    p.edges.emplace_back(v - 2, v);
    if (v % 16 == 1) p.edges.emplace_back(v - 1, v);
    if (v % 64 == 6) p.edges.emplace_back(v - 5, v);
    if (v % 64 == 7) p.edges.emplace_back(v - 7, v);
  }
  for (int32_t v = 0; v + 8 <= n; v += 8) {
    p.claims.push_back({0, {v, v + 2, v + 4, v + 6}, true, true});
    p.claims.push_back({1, {v + 1, v + 3, v + 5, v + 7}, true, true});
  }
}

// Blocks of 40 nodes: three branches into one, a residual edge over the block, a node of the host's
// in every fifth block.
void transformer(int32_t n, Problem& p) {
  for (int32_t v = 1; v < n; ++v) {
    const int32_t in_block = v % 40;
    p.edges.emplace_back(in_block == 5 || in_block == 10 ? v - in_block : v - 1, v);
    if (in_block == 15) {
      p.edges.emplace_back(v - 6, v);
      p.edges.emplace_back(v - 11, v);
    }
    if (in_block == 39) p.edges.emplace_back(v - 39, v);
  }
  for (int32_t v = 0; v < n; ++v) {
    if (v % 200 != 120) p.claims.push_back({0, {v}});
  }
}

constexpr struct {
  const char* name;
  Generator generate;
} kShapes[] = {{"chain", chain},
               {"grid", grid},
               {"random", random_dag},
               {"interleaved", interleaved},
               {"transformer", transformer}};

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

int usage() {
  std::fprintf(
      stderr,
      "usage: partition --nodes N --shape chain|grid|random|interleaved|transformer [--json]\n");
  return 64;
}

}  // namespace

int main(int argc, char** argv) {
  int32_t nodes = 100'000;
  const auto* shape = &kShapes[0];
  bool json = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--json") {
      json = true;
    } else if (option == "--nodes" && i + 1 < argc) {
      nodes = std::atoi(argv[++i]);
    } else if (option == "--shape" && i + 1 < argc) {
      const char* name = argv[++i];
      shape = std::find_if(std::begin(kShapes), std::end(kShapes),
                           [&](const auto& s) { return std::strcmp(s.name, name) == 0; });
      if (shape == std::end(kShapes)) return usage();
    } else {
      return usage();
    }
  }
  if (nodes < 1) return usage();
  const double before = peak_mb();
  Problem problem;
  shape->generate(nodes, problem);
  double best = 1e30;
  size_t partitions = 0;
  for (int round = 0; round < 3; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const Partitioning result = partition(Dag(nodes, problem.edges), problem.claims);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
    partitions = result.partitions.size();
  }
  const char* format = json ? "{\"seconds\": %.4f, \"partitions\": %zu, \"peak_mb\": %.1f}\n"
                            : "%.4f s, %zu partitions, %.1f MB\n";
  std::printf(format, best, partitions, peak_mb() - before);
  return 0;
}
