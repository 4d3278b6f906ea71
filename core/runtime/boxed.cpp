#include "runtime/boxed.hpp"

namespace backplane::runtime {

std::string_view kind_name(uint32_t kind) {
  constexpr std::string_view kNames[] = {"none",
                                         "a tensor",
                                         "a list of tensors",
                                         "an integer",
                                         "a list of integers",
                                         "a float",
                                         "a list of floats",
                                         "a bool",
                                         "a list of bools",
                                         "a string",
                                         "a complex number"};
  return kind < std::size(kNames) ? kNames[kind] : "unknown";
}

}  // namespace backplane::runtime
