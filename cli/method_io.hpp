// Between the tensors of files and the inputs and outputs of a method, by key: `in.K`, `out.K` and
// `mutated.K` count the tensors of the inputs and outputs in order; numbers and None don't count.
#pragma once

#include <backplane/program.hpp>
#include <backplane/result.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "tensors/named_tensor.hpp"
#include "values.hpp"

namespace backplane::cli {

// One key a slot: PREFIX and the count, or nothing for what is not a tensor.
[[nodiscard]] std::vector<std::string> keys_of(std::string_view prefix,
                                               const std::vector<SlotInfo>& slots);

// "float32[1, s0 in 1...8, 3]".
[[nodiscard]] std::string describe(const SlotInfo& slot);

// "1 0.5 -2", at most eight elements, then "…".
[[nodiscard]] std::string preview(const TensorView& tensor);

// A file that was given for inputs, or a number: `n=7` is as a file with one tensor of no dimension.
struct InputFile {
  InputText text;
  std::vector<NamedTensor> tensors;
};
[[nodiscard]] Result<std::vector<InputFile>> read_inputs(std::span<const std::string> texts,
                                                         std::optional<ImageSize> image_size);

// The tensor for each input of the method, null for numbers that none is given for; they point into
// `files`. A number is found by its name and has one element. A tensor without a name goes to the key given for its file, else to the first input that
// nothing else is for; one with a name to that key or input name, after `step` was taken off
// ("step2."; other steps, `out.K` and `mutated.K` are passed over, so that a file of a whole run
// can be given). .raw and .bin bytes take the input's type and sizes. invalid_argument: an unknown
// key, an input given twice or not at all; names the inputs there are.
[[nodiscard]] Result<std::vector<const Tensor*>> assign_inputs(const MethodInfo& method,
                                                               std::vector<InputFile>& files,
                                                               std::string_view step = {});

// A value that came out and is no tensor.
struct NamedScalar {
  std::string name;
  std::string text;
};

struct MethodResult {
  std::vector<NamedTensor> tensors;  // out.K, then mutated.K
  std::vector<NamedScalar> scalars;
  double execute_ms = 0;  // of the execution alone
};

// Sets the inputs, executes, and copies what came out to host memory of its own.
[[nodiscard]] Result<MethodResult> execute(Method& method,
                                           const std::vector<const Tensor*>& inputs);

}  // namespace backplane::cli
