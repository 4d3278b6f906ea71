// Runs a method on the inputs of a file and compares what comes out with the file's outputs.
#pragma once

#include <backplane/program.hpp>
#include <backplane/result.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "console.hpp"
#include "method_io.hpp"
#include "tensors/compare.hpp"

namespace backplane::cli {

struct ComparedTensor {
  std::string key;  // "step2.out.0"
  Comparison comparison;
};

// The prefixes of a file's keys in the order to run them: "step1.", "step2.", … where there are
// such keys, else one empty prefix.
[[nodiscard]] std::vector<std::string> steps_of(const std::vector<NamedTensor>& tensors);

// Every step, one after another on one method, so that its state is carried on. An expected output
// that the method does not have counts as different. The method's errors come back as they are.
// invalid_argument: also if the file has no output to compare with.
[[nodiscard]] Result<std::vector<ComparedTensor>> verify_steps(Method& method, InputFile file,
                                                               std::optional<double> tolerance);

// A line for each tensor, or the JSON document. Gives the number of tensors that differ.
size_t show_comparisons(const Console& console, const std::vector<ComparedTensor>& all);

}  // namespace backplane::cli
