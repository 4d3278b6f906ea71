// NumPy's .npy files, versions 1 to 3, C and Fortran order, both byte orders.
//
// bfloat16 is NumPy's two-byte void ("V2"), which is what the ml_dtypes package writes for it and
// NumPy has no other use of. The 8-bit floats all look alike there ("V1"), so these, and complex32,
// are refused both ways; .safetensors tells them apart.
#pragma once

#include <backplane/result.hpp>
#include <backplane/tensor.hpp>

#include <cstddef>
#include <span>

#include "format/byte_sink.hpp"

namespace backplane::cli {

// The array of a whole .npy file. unsupported: an element type that has no DType (text, dates,
// objects, records, long double). invalid_argument: damaged, cut short, or longer than it says.
[[nodiscard]] Result<Tensor> parse_npy(std::span<const std::byte> file);

// Writes version 1.0, C order. unsupported: an element type that .npy has no name for.
Status write_npy(ByteSink& sink, const TensorView& tensor);

}  // namespace backplane::cli
