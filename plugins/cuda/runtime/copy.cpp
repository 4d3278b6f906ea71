#include "cuda/runtime/copy.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace backplane::cuda {
namespace {

struct Dim {
  int64_t size, to, from;  // strides in bytes
};

bool same(const bp_dtype_t& a, const bp_dtype_t& b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

// The dimensions with more than one element, merged where both sides allow it, the fastest of the
// destination's first. Empty: one element. Nothing to copy: `is_empty`.
std::vector<Dim> dims_of(const bp_tensor_t& to, const bp_tensor_t& from, int64_t item,
                         bool& is_empty) {
  std::vector<Dim> dims;
  for (int32_t d = 0; d < to.ndim; ++d) {
    is_empty = is_empty || to.shape[d] == 0;
    if (to.shape[d] != 1)
      dims.push_back({to.shape[d], to.strides[d] * item, from.strides[d] * item});
  }
  std::stable_sort(dims.begin(), dims.end(), [](const Dim& a, const Dim& b) {
    return a.to != b.to ? a.to < b.to : a.from < b.from;
  });
  std::vector<Dim> merged;
  for (const Dim& dim : dims) {
    if (!merged.empty()) {
      Dim& inner = merged.back();
      if (dim.to == inner.to * inner.size && dim.from == inner.from * inner.size) {
        inner.size *= dim.size;
        continue;
      }
    }
    merged.push_back(dim);
  }
  return merged;
}

struct Rows {
  int64_t width = 0, height = 1;  // bytes, rows
  int64_t to_pitch = 0, from_pitch = 0;
};

// cuMemcpy2D wants rows that don't overlap or run backwards.
bool can_be_rows(const Dim& dim, int64_t width) {
  constexpr int64_t kMostPitch = int64_t{1} << 31;  // of the devices that there are
  return dim.to >= width && dim.from >= width && dim.to < kMostPitch && dim.from < kMostPitch;
}

CuResult copy_rows(const Driver& driver, const std::byte* to, const std::byte* from,
                   const Rows& rows, CuStream stream) {
  const auto to_address = reinterpret_cast<CuAddress>(to);
  const auto from_address = reinterpret_cast<CuAddress>(from);
  if (rows.height == 1)
    return driver.memcpy_async(to_address, from_address, static_cast<size_t>(rows.width), stream);
  CuCopy2D copy{};
  copy.from_kind = kCuMemoryUnified;
  copy.from_device = from_address;
  copy.from_pitch = static_cast<size_t>(rows.from_pitch);
  copy.to_kind = kCuMemoryUnified;
  copy.to_device = to_address;
  copy.to_pitch = static_cast<size_t>(rows.to_pitch);
  copy.width_bytes = static_cast<size_t>(rows.width);
  copy.height = static_cast<size_t>(rows.height);
  return driver.memcpy_2d_async(&copy, stream);
}

CuResult copy_outer(const Driver& driver, std::byte* to, const std::byte* from,
                    std::span<const Dim> outer, const Rows& rows, CuStream stream) {
  if (outer.empty()) return copy_rows(driver, to, from, rows, stream);
  const Dim& dim = outer.back();
  for (int64_t i = 0; i < dim.size; ++i) {
    const CuResult result = copy_outer(driver, to + i * dim.to, from + i * dim.from,
                                       outer.first(outer.size() - 1), rows, stream);
    if (result != kCuSuccess) return result;
  }
  return kCuSuccess;
}

std::byte* start(const bp_tensor_t& tensor) {
  return static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
}

}  // namespace

Status copy_tensor(const Driver& driver, const bp_tensor_t& to, const bp_tensor_t& from,
                   CuStream stream) {
  if (to.ndim != from.ndim || !same(to.dtype, from.dtype) ||
      !std::equal(to.shape, to.shape + to.ndim, from.shape))
    return Error{Code::invalid_argument, "a copy between tensors of different shape or dtype"};
  const int64_t item = (int64_t{to.dtype.bits} * to.dtype.lanes + 7) / 8;
  bool is_empty = false;
  const std::vector<Dim> dims = dims_of(to, from, item, is_empty);
  if (is_empty) return Ok{};
  std::span<const Dim> rest(dims);
  Rows rows{.width = item};
  if (!rest.empty() && rest[0].to == item && rest[0].from == item) {
    rows.width = rest[0].size * item;
    rest = rest.subspan(1);
  }
  if (!rest.empty() && can_be_rows(rest[0], rows.width)) {
    rows.height = rest[0].size;
    rows.to_pitch = rest[0].to;
    rows.from_pitch = rest[0].from;
    rest = rest.subspan(1);
  }
  return driver.check(copy_outer(driver, start(to), start(from), rest, rows, stream),
                      "copying a tensor");
}

}  // namespace backplane::cuda
