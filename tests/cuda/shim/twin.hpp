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

// The twin of a function that does a whole launch by itself.
template <auto function>
struct TwinOf;
template <class... A, void (*function)(const TwinLaunch&, A...)>
struct TwinOf<function> {
  template <size_t... i>
  static void call(const TwinLaunch& launch, void* const* params, std::index_sequence<i...>) {
    function(launch, *static_cast<A*>(params[i])...);
  }
  static void run(const TwinLaunch& launch, void* const* params) {
    call(launch, params, std::index_sequence_for<A...>());
  }
  static constexpr Twin value = {run, sizeof...(A), {sizeof(A)...}};
};
#define TWIN(name) \
  extern "C" __attribute__((visibility("default"))) const Twin name##__twin = TwinOf<name>::value
