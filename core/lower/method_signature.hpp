// What a method's inputs and outputs are called and how their sizes depend on each other, for the
// `.pte`'s signature record.
#pragma once

#include "graph/graph.hpp"
#include "lower/plan_builder.hpp"
#include "runtime/signature.hpp"

namespace backplane::lower {

// `plan_inputs` and `written` go with the graph's inputs: the value that holds what an input that
// the method writes became, -1 if it is not written.
[[nodiscard]] runtime::MethodSignature signature_of(Module& module,
                                                    const std::vector<ValueIndex>& written);

}  // namespace backplane::lower
