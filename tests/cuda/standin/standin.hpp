// A driver without a GPU: device memory is the host's, a kernel is its twin that was compiled for
// the CPU, work runs when it is queued. Built as libcuda.so.1, with cuBLASLt and cuDNN beside it.
//
// This is what tests reach behind the driver's back: faults, counts, and work for the libraries.
#pragma once

#include <cstdint>

#include "cuda/driver/cuda_types.hpp"

extern "C" {

struct StandinCounts {
  uint64_t device_bytes, host_bytes, mapped_bytes;
  uint64_t allocations, reservations, libraries, streams, events, graphs, execs, contexts;
  uint64_t launches, graph_launches, captures, kernel_updates;  // since the start
};

// What lives now, and what was done.
StandinCounts standin_counts();
// From the `after`-th further call on (0: the next), `function` answers `result`, `times` times.
void standin_fail(const char* function, int after, int times, int result);
void standin_recover();
// Memory that the device has, and its architecture (90).
void standin_device(uint64_t memory_bytes, int arch);
// Queues work that stands for a library's kernel. `drop` frees `arg` when nobody can run it again.
void standin_enqueue(backplane::cuda::CuStream stream, void (*run)(void* arg), void* arg,
                     void (*drop)(void* arg));
}
