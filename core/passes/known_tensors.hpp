// Tensors whose contents are known while lowering: the module's constants and what was computed
// from them. Views share memory, whether they are of constants or of results.
#pragma once

#include <backplane/tensor.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "passes/view_steps.hpp"

namespace backplane::passes {

// Elements in memory; of `result` (an index of KnownTensors' own results) or of the module (-1).
struct KnownTensor {
  DType dtype = DType::f32;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  int64_t offset = 0;  // in elements
  std::span<const std::byte> storage;
  int32_t result = -1;
  int32_t constant = kNone;  // Module::constants, if it is one as it stands
  std::string source;        // the name of what it came from

  [[nodiscard]] int64_t numel() const { return backplane::numel(sizes); }
  [[nodiscard]] int64_t nbytes() const { return numel() * static_cast<int64_t>(size_of(dtype)); }
  [[nodiscard]] TensorView view() const;
};

// What is known of the values of one graph.
class KnownTensors {
 public:
  explicit KnownTensors(Module& module) : module_(module) {}

  [[nodiscard]] const KnownTensor* find(ValueId value) const;
  // `value` is a constant of the module that nothing writes.
  void add_constant(ValueId value, int32_t constant);
  // `value` was computed.
  void add_result(ValueId value, Tensor tensor, std::string source);
  // `value` is a view of a known one. False if it can't be one without a copy.
  bool add_view(ValueId value, const KnownTensor& of, std::span<const ViewStep> steps);
  // Nobody asks for `value` any more: frees what it alone held.
  void forget(ValueId value);

  // The constant of the module that holds `value`, made if need be. out_of_memory never.
  int32_t constant(ValueId value);

 private:
  struct Result {
    Tensor tensor;
    int32_t uses = 0;
  };

  void add(ValueId value, KnownTensor tensor);

  Module& module_;
  std::vector<std::optional<KnownTensor>> of_value_;
  std::vector<Result> results_;
};

// One element of a tensor with one element, as a literal.
[[nodiscard]] std::optional<Argument> only_element(const KnownTensor& tensor);

}  // namespace backplane::passes
