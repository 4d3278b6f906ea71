// Lowering: `.pt2` programs in, one `.pte` and its `.ptd` out.
#pragma once

#include <backplane/result.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace backplane {

class PluginSource;

// A compile spec. `plugin` empty: for every chosen backend that declares `key`. Values are bytes.
struct Spec {
  std::string plugin;
  std::string key;
  std::string value;
};

// One method of the program, from a torch.export archive.
struct MethodSource {
  std::string name = "forward";
  std::string path;
  std::string model;            // which model of an archive with several; empty: the only one
  std::vector<Spec> specs;      // for this method alone, over the common ones
};

struct LowerOptions {
  std::vector<std::string> backends;   // in order of preference; empty: kernels alone
  std::vector<Spec> specs;
  bool require_all = false;            // nodes that no backend takes are an error
  std::map<std::string, int64_t> bounds;  // "s0" or "INPUT.DIM" → upper bound
  std::string output;                  // path of the .pte; empty: nothing is written (dry run)
  bool force = false;                  // replace another program's .ptd
  bool explain = false;                // fill LowerReport::explanation
  bool isolate = false;                // run plugins' compilers in a child process
  int num_threads = 0;                 // 0: as many as cores
  const volatile int32_t* cancel = nullptr;
  std::function<void(double fraction, const std::string& what)> progress;  // may be empty
};

struct MethodReport {
  std::string name;
  uint64_t num_nodes = 0;              // of the graph that was partitioned
  uint64_t num_delegated = 0;
  std::vector<std::pair<std::string, uint64_t>> partitions;  // backend, nodes
  uint64_t planned_bytes = 0;          // arena
  uint64_t naive_bytes = 0;            // every intermediate in memory of its own
};

struct LowerReport {
  std::string pte_path;
  std::string ptd_path;                // empty if the program has no external data
  uint64_t pte_bytes = 0;
  uint64_t ptd_bytes = 0;
  std::vector<MethodReport> methods;
  std::vector<std::string> notes;      // such as what a plugin warned of
  std::vector<std::string> explanation;  // one line a node: who took it, or why nobody did
};

// Reads, checks specs before anything else, runs the passes, partitions, compiles and writes the
// pair. On failure nothing is left behind and files that were there are as they were.
[[nodiscard]] Result<LowerReport> lower_program(PluginSource& plugins,
                                                const std::vector<MethodSource>& methods,
                                                const LowerOptions& options);

// The `.pte` path that the command's rules give for `-o OUTPUT` (may be empty) and `--name`.
[[nodiscard]] Result<std::string> output_path(const std::string& input, const std::string& output,
                                              const std::string& name);

}  // namespace backplane
