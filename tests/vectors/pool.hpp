// Many cases in a few processes: one that crashes or hangs takes only its own case along.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "vector.hpp"

namespace backplane::vectors {

using Judge = std::function<Outcome(size_t index)>;

// Runs `make_judge` once in each of `processes` children and there asks what it made for a share of
// the cases. A child that dies, or gives no answer for `timeout_s`, is replaced, and its case has
// crashed. Call it from a process that has one thread.
[[nodiscard]] std::vector<Outcome> run_all(size_t num_cases, size_t processes, int timeout_s,
                                           const std::function<Judge()>& make_judge);

}  // namespace backplane::vectors
