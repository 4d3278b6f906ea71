// What a tensor of a method is (TensorPlan, of the Program) and how it is now (TensorState, of a
// Method): sizes inside its bounds, and where its bytes are.
#pragma once

#include <backplane/plugin.h>
#include <backplane/result.hpp>

#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "format/pte.hpp"
#include "runtime/memory.hpp"

namespace backplane::runtime {

// Whose the bytes are.
enum class Home : uint8_t {
  constant,  // the file's or its data's
  state,     // a buffer of the session
  arena,     // planned memory of the method
  caller,    // an input that the caller gives memory for
  own,       // the tensor's: gotten when first needed, grown when more is needed
};

struct TensorPlan {
  const pte::Tensor* file = nullptr;
  pte::ValueIndex value = 0;
  std::string label;  // for messages: "input 0 ('x')", "value 12"
  Home home = Home::own;
  uint32_t index = 0;   // state: of the Program's states; arena: the planned buffer
  uint64_t offset = 0;  // into it
  const std::byte* constant = nullptr;
  uint64_t id_lo = 0, id_hi = 0;  // content id of a constant; 0, 0: not known
  uint64_t bound_bytes = 0;       // at the upper bounds; UINT64_MAX if there is none
  std::vector<int64_t> bounds;    // a dimension; INT64_MAX where there is none

  [[nodiscard]] bool is_fixed() const { return file->dynamism == pte::ShapeDynamism::fixed; }
  [[nodiscard]] size_t rank() const { return file->layout.sizes.size(); }
  [[nodiscard]] DType dtype() const { return file->layout.dtype; }
};

// A tensor's bytes on a device, as far as there are any.
struct DevicePlace {
  class DeviceMemory* memory = nullptr;  // whose; null: nowhere
  void* data = nullptr;
  uint64_t capacity = 0;  // bytes
  bool is_current = false;
};

// `view` is what kernels are given, and by whose address they name the tensor, so it comes first.
// Its data is host memory, always.
struct TensorState {
  bp_tensor_t view{};
  const TensorPlan* plan = nullptr;
  std::byte* home = nullptr;   // where data goes when nothing else was said
  uint64_t home_capacity = 0;  // bytes
  uint64_t capacity = 0;       // bytes at view.data
  Block own;
  bool is_borrowed = false;     // looks into an input of the caller's: not to be written
  bool is_read_only = false;    // looks into a file
  bool is_host_current = true;  // whether view.data has the latest bytes
  DevicePlace device;

  [[nodiscard]] std::span<const int64_t> sizes() const {
    return {view.shape, static_cast<size_t>(view.ndim)};
  }
  [[nodiscard]] std::span<const int64_t> strides() const {
    return {view.strides, static_cast<size_t>(view.ndim)};
  }
};

static_assert(std::is_standard_layout_v<TensorState>);

// The tensor that a kernel names. It must be a method's.
[[nodiscard]] inline TensorState& state_of(bp_tensor_t* tensor) {
  return *reinterpret_cast<TensorState*>(tensor);
}

// Bytes of a dense tensor, or nothing if they don't fit into int64_t. Allocates nothing.
[[nodiscard]] std::optional<int64_t> dense_nbytes(DType dtype, std::span<const int64_t> sizes);
// Sets strides as `dim_order` says.
void set_strides(std::span<const uint8_t> dim_order, bp_tensor_t& tensor);
// Whether elements lie as set_strides would have them (strides of sizes below 2 don't count).
[[nodiscard]] bool is_laid_out(std::span<const uint8_t> dim_order, std::span<const int64_t> sizes,
                               std::span<const int64_t> strides);

// Gives the tensor a shape, inside its bounds, without a look at its memory.
// output_too_small: a bound is exceeded. invalid_argument: another rank, or other static sizes.
Status set_sizes(TensorState& tensor, std::span<const int64_t> sizes);
// Host memory for the present shape. What it had before is kept in `retired`, if it was its own.
// out_of_memory: there is not as much.
Status ensure_memory(TensorState& tensor, std::vector<Block>& retired);
// Both, for what is about to be written. invalid_argument: its bytes are a file's or the caller's.
Status resize(TensorState& tensor, std::span<const int64_t> sizes, std::vector<Block>& retired);

// Lets `to` look at the bytes of `from`, on host and device, with the sizes that it has.
void look_at(TensorState& to, const TensorState& from);

// Copies host elements; equal dtypes and sizes, any strides. Allocates nothing.
void copy_elements(const bp_tensor_t& from, const bp_tensor_t& to);

}  // namespace backplane::runtime
