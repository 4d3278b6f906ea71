// What a run brings and takes: whether its tensors can be worked on where they are, and the
// signature under which a schedule is kept.
#pragma once

#include <backplane/execution.hpp>
#include <backplane/result.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cuda/driver/cuda_types.hpp"
#include "cuda/payload.hpp"
#include "cuda/sizes.hpp"

namespace backplane::cuda {

// The inputs of one run. Kept from run to run, so that nothing is allocated for those alike.
class Border {
 public:
  explicit Border(const PlanView& plan);

  // Reads shapes, strides, places and numbers.
  // invalid_argument: not the inputs that the plan has; says which and why.
  Status look(const sdk::Run& run, int device_index);

  // Equal for runs that one schedule can do: shapes, dtypes, strides, numbers in sizes, and which
  // inputs and outputs need a copy.
  [[nodiscard]] std::span<const int64_t> signature() const { return signature_; }
  [[nodiscard]] std::span<const InputFacts> facts() const { return facts_; }
  [[nodiscard]] double number(uint32_t input) const { return numbers_[input]; }
  // By buffer: used through a copy in the arena.
  [[nodiscard]] const std::vector<bool>& has_copy() const { return has_copy_; }

  // Resizes the outputs to what the sizes say, and sees which of them need a copy. Gives whether
  // that is as the signature says; else the signature has changed.
  Result<bool> resize(const sdk::Run& run, std::span<const int64_t> sizes);

  [[nodiscard]] static CuAddress address_of(const bp_tensor_t& tensor) {
    return reinterpret_cast<CuAddress>(tensor.data) + tensor.byte_offset;
  }
  [[nodiscard]] std::string name_of_input(size_t index) const;

 private:
  Status look_at_number(size_t index, const bp_tensor_t& tensor);
  Status look_at_tensor(size_t index, const bp_tensor_t& tensor, int device_index);
  bool overlaps_an_input(const sdk::Run& run, const bp_tensor_t& output, uint64_t bytes) const;

  const PlanView& plan_;
  std::vector<InputFacts> facts_;
  std::vector<double> numbers_;
  std::vector<int64_t> signature_;
  std::vector<bool> has_copy_;
  size_t outputs_at_ = 0;  // where the signature has what outputs need
};

// Whether the tensor has the strides that the buffer asks for, sizes being known: where a dimension
// has one element, or there is none at all, any will do.
[[nodiscard]] bool has_strides(const PlanView& plan, std::span<const int64_t> sizes,
                               const Buffer& buffer, const bp_tensor_t& tensor);

}  // namespace backplane::cuda
