// A small program for tests of the run time: y[i, j] = 2 · x[i, j] + w[0] + 100 · i + number.
#pragma once

#include <string>
#include <vector>

#include "cuda/payload.hpp"

namespace backplane::cuda {

struct MadePlan {
  std::string target = "compute_80";  // of its only image: sm_NN or compute_NN
  int64_t most_rows = 64;             // bound of both dimensions
  std::string weight = "w";           // the datum with w
};

// Kernels: "twice", debug id 7, node "double"; "rows", debug id 8, node "add".
[[nodiscard]] std::vector<std::byte> made_payload(const MadePlan& made = {});

}  // namespace backplane::cuda
