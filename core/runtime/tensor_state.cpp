#include "runtime/tensor_state.hpp"

#include <backplane/tensor.hpp>

#include <algorithm>
#include <cstring>
#include <limits>

namespace backplane::runtime {
namespace {

Error wrong_sizes(const TensorPlan& plan, std::span<const int64_t> sizes) {
  std::vector<int64_t> has(plan.file->layout.sizes.begin(), plan.file->layout.sizes.end());
  return {Code::invalid_argument, plan.label + " would be " + format_sizes(sizes) +
                                      ", but the program says " + format_sizes(has)};
}

// Sizes and strides of two tensors, adjacent dimensions joined where both allow it.
struct Walk {
  static constexpr size_t kMaxRank = 16;
  size_t rank = 0;
  int64_t sizes[kMaxRank] = {};
  int64_t from[kMaxRank] = {};  // bytes
  int64_t to[kMaxRank] = {};
};

Walk walk_of(const bp_tensor_t& from, const bp_tensor_t& to, int64_t element) {
  Walk walk;
  for (int32_t d = 0; d < from.ndim; ++d) {
    if (from.shape[d] == 1) continue;
    const int64_t from_stride = from.strides[d] * element;
    const int64_t to_stride = to.strides[d] * element;
    if (walk.rank > 0) {
      const size_t outer = walk.rank - 1;
      if (walk.from[outer] == from_stride * from.shape[d] &&
          walk.to[outer] == to_stride * from.shape[d]) {
        walk.sizes[outer] *= from.shape[d];
        walk.from[outer] = from_stride;
        walk.to[outer] = to_stride;
        continue;
      }
    }
    walk.sizes[walk.rank] = from.shape[d];
    walk.from[walk.rank] = from_stride;
    walk.to[walk.rank++] = to_stride;
  }
  return walk;
}

void copy_dimension(const Walk& walk, size_t d, const std::byte* from, std::byte* to,
                    size_t element) {
  if (d == walk.rank) {
    std::memcpy(to, from, element);
    return;
  }
  const bool rows = d + 1 == walk.rank && walk.from[d] == static_cast<int64_t>(element) &&
                    walk.to[d] == static_cast<int64_t>(element);
  if (rows) {
    std::memmove(to, from, static_cast<size_t>(walk.sizes[d]) * element);
    return;
  }
  for (int64_t i = 0; i < walk.sizes[d]; ++i) {
    copy_dimension(walk, d + 1, from + i * walk.from[d], to + i * walk.to[d], element);
  }
}

}  // namespace

std::optional<int64_t> dense_nbytes(DType dtype, std::span<const int64_t> sizes) {
  auto bytes = static_cast<int64_t>(size_of(dtype));
  for (const int64_t size : sizes) {
    if (size < 0 || __builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes)) {
      return std::nullopt;
    }
  }
  const bool empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
  return empty ? 0 : bytes;
}

void set_strides(std::span<const uint8_t> dim_order, bp_tensor_t& tensor) {
  int64_t stride = 1;
  for (size_t i = dim_order.size(); i-- > 0;) {
    const size_t d = dim_order[i];
    tensor.strides[d] = stride;
    stride *= std::max<int64_t>(tensor.shape[d], 1);
  }
}

bool is_laid_out(std::span<const uint8_t> dim_order, std::span<const int64_t> sizes,
                 std::span<const int64_t> strides) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return true;
  int64_t stride = 1;
  for (size_t i = dim_order.size(); i-- > 0;) {
    const size_t d = dim_order[i];
    if (sizes[d] != 1 && strides[d] != stride) return false;
    stride *= sizes[d];
  }
  return true;
}

Status set_sizes(TensorState& tensor, std::span<const int64_t> sizes) {
  const TensorPlan& plan = *tensor.plan;
  if (sizes.size() != plan.rank()) return wrong_sizes(plan, sizes);
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] < 0) return wrong_sizes(plan, sizes);
    if (plan.is_fixed() && sizes[d] != plan.bounds[d]) return wrong_sizes(plan, sizes);
    if (sizes[d] > plan.bounds[d]) {
      return Error{Code::output_too_small, "dimension " + std::to_string(d) + " of " + plan.label +
                                               " would be " + std::to_string(sizes[d]) +
                                               ", more than its bound " +
                                               std::to_string(plan.bounds[d])};
    }
  }
  if (!dense_nbytes(plan.dtype(), sizes)) {
    return Error{Code::invalid_argument,
                 plan.label + " would be " + format_sizes(sizes) + ", which is too large"};
  }
  std::copy(sizes.begin(), sizes.end(), tensor.view.shape);
  set_strides(plan.file->layout.dim_order, tensor.view);
  return Ok{};
}

Status ensure_memory(TensorState& tensor, std::vector<Block>& retired) {
  const auto bytes =
      static_cast<uint64_t>(dense_nbytes(tensor.plan->dtype(), tensor.sizes()).value_or(0));
  if (tensor.view.data != nullptr && bytes <= tensor.capacity) return Ok{};
  // Where there is a bound it is gotten at once, if it can be: no size inside it asks again.
  const uint64_t bound = tensor.plan->bound_bytes;
  if (!(bound > bytes && tensor.own.grow(bound, retired)) &&
      !tensor.own.grow(std::max<uint64_t>(bytes, 1), retired)) {
    return Error{Code::out_of_memory, tensor.plan->label + " needs " + std::to_string(bytes) +
                                          " bytes of host memory, which the system does not give"};
  }
  tensor.view.data = tensor.own.data();
  tensor.capacity = tensor.own.size();
  tensor.home = tensor.own.data();
  tensor.home_capacity = tensor.own.size();
  tensor.is_borrowed = tensor.is_read_only = false;
  return Ok{};
}

Status resize(TensorState& tensor, std::span<const int64_t> sizes, std::vector<Block>& retired) {
  if (tensor.is_read_only || tensor.is_borrowed) {
    return Error{Code::invalid_argument, tensor.plan->label + " would be written, but it is " +
                                             (tensor.is_borrowed ? "an input" : "a constant")};
  }
  BP_TRY(set_sizes(tensor, sizes));
  return ensure_memory(tensor, retired);
}

void look_at(TensorState& to, const TensorState& from) {
  to.view.data = from.view.data;
  to.capacity = from.capacity;
  to.is_borrowed = from.is_borrowed;
  to.is_read_only = from.is_read_only;
  to.is_host_current = from.is_host_current;
  to.device = from.device;
}

void copy_elements(const bp_tensor_t& from, const bp_tensor_t& to) {
  const std::span<const int64_t> sizes(from.shape, static_cast<size_t>(from.ndim));
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end() || from.data == to.data) return;
  const auto element = static_cast<size_t>(from.dtype.bits / 8);
  const Walk walk = walk_of(from, to, static_cast<int64_t>(element));
  copy_dimension(walk, 0, static_cast<const std::byte*>(from.data) + from.byte_offset,
                 static_cast<std::byte*>(to.data) + to.byte_offset, element);
}

}  // namespace backplane::runtime
