// Where a node comes from, out of the metadata that export keeps.
#pragma once

#include <string>
#include <string_view>

namespace backplane {

// Both take a text of a JSON file as it is written, escapes included, since of these long texts
// only the ends are wanted. Malformed texts give what can be made out, or nothing.

// "encoder.layers.3" out of `nn_module_stack`: the path of its last entry, the innermost module.
[[nodiscard]] std::string innermost_module(std::string_view escaped);

// "model.py:120 in forward" out of `stack_trace`: its last frame that lies in a file outside of
// PyTorch, or in one of PyTorch if there is no other.
[[nodiscard]] std::string innermost_source(std::string_view escaped);

}  // namespace backplane
