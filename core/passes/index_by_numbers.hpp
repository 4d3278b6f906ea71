// Indexing by masks that are known while lowering.
#pragma once

#include "passes/known_tensors.hpp"

namespace backplane::passes {

// Of a node that indexes: each mask that `known` has becomes the indices of its true elements,
// which are new values that `known` has. So the sizes of what is indexed are known too.
void index_by_numbers(Rewriter& rewriter, KnownTensors& known, Node& node);

}  // namespace backplane::passes
