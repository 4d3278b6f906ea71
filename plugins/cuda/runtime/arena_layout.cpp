#include "cuda/runtime/arena_layout.hpp"

#include <algorithm>
#include <numeric>

namespace backplane::cuda {
namespace {

constexpr uint64_t kAlign = 256;

struct Placed {
  uint64_t begin, end;
  uint32_t first, last;
};

}  // namespace

ArenaLayout lay_out(std::span<const Lifetime> buffers) {
  ArenaLayout layout;
  layout.offsets.resize(buffers.size());
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return buffers[a].size_bytes > buffers[b].size_bytes;
  });
  std::vector<Placed> placed;  // by begin
  for (const size_t i : order) {
    const Lifetime& buffer = buffers[i];
    const uint64_t size = (buffer.size_bytes + kAlign - 1) / kAlign * kAlign;
    uint64_t begin = 0;
    for (const Placed& other : placed) {
      if (other.last < buffer.first || buffer.last < other.first) continue;
      if (begin + size <= other.begin) break;
      begin = std::max(begin, other.end);
    }
    layout.offsets[i] = begin;
    layout.size_bytes = std::max(layout.size_bytes, begin + size);
    const Placed now{begin, begin + size, buffer.first, buffer.last};
    const auto at =
        std::upper_bound(placed.begin(), placed.end(), now,
                         [](const Placed& a, const Placed& b) { return a.begin < b.begin; });
    placed.insert(at, now);
  }
  return layout;
}

}  // namespace backplane::cuda
