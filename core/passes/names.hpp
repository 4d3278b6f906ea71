// Small texts that passes share: names for new values, and types in messages.
#pragma once

#include <string>
#include <string_view>

#include "graph/graph.hpp"

namespace backplane::passes {

// "add" of "aten::add.Tensor".
[[nodiscard]] std::string_view base_name(std::string_view op);

// `text` with everything but ASCII letters, digits and '_' turned to '_'; "value" if empty.
[[nodiscard]] std::string identifier(std::string_view text);

// "float32[2, s0]".
[[nodiscard]] std::string format(const SymbolTable& symbols, const TensorType& type);

}  // namespace backplane::passes
