// Elements of any type as numbers and as text.
#pragma once

#include <backplane/tensor.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace backplane::cli {

// Elements `first` to `first + out.size()` of a dense tensor at `data`; reals have no imaginary
// part. 64-bit integers are rounded to double.
void read_elements(DType dtype, const std::byte* data, int64_t first,
                   std::span<std::complex<double>> out);

// Element `index` of a dense tensor as people write it, exact for integers: "-3", "0.1", "true".
[[nodiscard]] std::string format_element(DType dtype, const std::byte* data, int64_t index);

}  // namespace backplane::cli
