// Finds the values of a plan's sizes for the inputs at hand.
#pragma once

#include <backplane/result.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "cuda/payload.hpp"

namespace backplane::cuda {

// What an input looks like: its shape, or the number that it is.
struct InputFacts {
  std::span<const int64_t> shape;
  int64_t number = 0;
};

// The value of each of the plan's sizes, in order. `inputs`: one for each of the plan's.
// invalid_argument: an input lacks a dimension, or a size is above its bound. internal: a number
// does not fit in 64 bits, or a division by 0.
[[nodiscard]] Result<std::vector<int64_t>> evaluate_sizes(const PlanView& plan,
                                                          std::span<const InputFacts> inputs);

}  // namespace backplane::cuda
