// Places for buffers by when they are used: those whose times overlap don't.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace backplane::cuda {

struct Lifetime {
  uint64_t size_bytes;
  uint32_t first, last;  // steps, both included
};

struct ArenaLayout {
  std::vector<uint64_t> offsets;  // aligned to 256 bytes
  uint64_t size_bytes = 0;
};

// Largest first, each at the lowest place that is free during its time.
[[nodiscard]] ArenaLayout lay_out(std::span<const Lifetime> buffers);

}  // namespace backplane::cuda
