// Compiling partitions: each becomes a delegate with its payload and its data.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include "lower/claims.hpp"
#include "lower/emit.hpp"

namespace backplane::lower {

// What backends made; delegates' payloads are views of it.
struct CompiledData {
  std::deque<std::vector<std::byte>> blobs;
};

struct CompileRequest {
  Module& module;
  DataSet& external;  // data for the `.ptd`
  DataSet& inlined;   // data for the `.pte`
  const StateNames& state;
  const std::vector<Settled>& settled;
  std::vector<BackendUse>& uses;
  std::string data_name;
  uint32_t num_threads = 1;
  const volatile int32_t* cancel = nullptr;
  CompiledData& compiled;
  std::vector<std::string>* descriptions = nullptr;  // one a partition that gives one; may be null
};

// The schedule of every graph. Errors name the backend and the partition's first node.
[[nodiscard]] Result<std::vector<GraphSchedule>> compile(const CompileRequest& request);

}  // namespace backplane::lower
