// How a kernel that was compiled for the CPU is found and called: for each kernel NAME, a shared
// object exports the Twin `NAME__twin`.
#pragma once

#include <cstddef>
#include <utility>

struct TwinLaunch {
  unsigned grid[3], block[3];
  unsigned dynamic_shared_bytes;
};

struct Twin {
  void (*run)(const TwinLaunch& launch, void* const* params);
  unsigned num_params;
  unsigned param_bytes[64];
};
