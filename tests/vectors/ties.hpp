// Operators that answer with the place of an element leave open which of equal ones they name.
#pragma once

#include <backplane/tensor.hpp>

#include <string_view>

namespace backplane::vectors {

// Whether PyTorch leaves it open for `op` of its database.
[[nodiscard]] bool names_places(std::string_view op);

// Whether two tensors of indices name equal elements of `input` everywhere: along one of its
// dimensions, or of all its elements in order. NaN equals NaN.
[[nodiscard]] bool name_equal_elements(const Tensor& input, const Tensor& expected,
                                       const Tensor& actual);

}  // namespace backplane::vectors
