// Computes while lowering what depends on no input.
#pragma once

#include <backplane/result.hpp>

#include "passes/evaluator.hpp"

namespace backplane::passes {

// Replaces by constants: all that sizes, checks and branches depend on, and whatever else does not
// make the program much larger (fold_plan.hpp). Results keep dtype; views of constants stay views.
// Sizes that become known are numbers everywhere. A branch whose condition is known is taken.
// Random operators, and those without a kernel or that fail here, stay for run time.
// invalid_argument: a check on constants does not hold.
Status fold_constants(Module& module, const ops::Table& table, const Evaluator& evaluator);

}  // namespace backplane::passes
