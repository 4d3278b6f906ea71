// A plan's operand once sizes are known: numbers in place of ids.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "cuda/driver/cuda_types.hpp"
#include "cuda/payload.hpp"

namespace backplane::cuda {

struct BoundOperand {
  uint32_t buffer = kNone;
  uint64_t offset = 0;
  bp_dtype_t dtype{};
  uint32_t rank = 0;
  std::array<int64_t, 5> dims{}, strides{};
  uint32_t align = 1;  // of its address

  [[nodiscard]] bool is_there() const { return buffer != kNone; }
  [[nodiscard]] CuAddress in(std::span<const CuAddress> addresses) const {
    return is_there() ? addresses[buffer] + offset : 0;
  }
};

[[nodiscard]] inline uint64_t value_or_0(std::span<const int64_t> sizes, SizeId id) {
  return id == kNone ? 0 : static_cast<uint64_t>(sizes[id]);
}

// Operands have at most five dimensions: check_plan has seen to it.
[[nodiscard]] inline BoundOperand bind(const PlanView& plan, std::span<const int64_t> sizes,
                                       const Operand& operand) {
  BoundOperand bound;
  if (operand.buffer == kNone) return bound;
  bound.buffer = operand.buffer;
  bound.offset = value_or_0(sizes, operand.offset);
  bound.dtype = operand.dtype;
  const auto dims = sizes_of(plan, operand.dims);
  const auto strides = sizes_of(plan, operand.strides);
  bound.rank = static_cast<uint32_t>(dims.size());
  for (uint32_t d = 0; d < bound.rank; ++d) {
    bound.dims[d] = sizes[dims[d]];
    bound.strides[d] = sizes[strides[d]];
  }
  // What is allocated is aligned to 256 bytes; inputs and outputs are as their buffer says.
  const Buffer& buffer = plan.buffers[operand.buffer];
  const bool is_external = buffer.kind == BufferKind::input || buffer.kind == BufferKind::output;
  const uint64_t base = is_external ? buffer.align : 256;
  bound.align = static_cast<uint32_t>(
      bound.offset == 0 ? base : std::min(base, bound.offset & (~bound.offset + 1)));
  return bound;
}

}  // namespace backplane::cuda
