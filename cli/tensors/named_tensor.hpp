// Tensors with the names that they have in a file.
#pragma once

#include <backplane/result.hpp>
#include <backplane/tensor.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "format/byte_sink.hpp"

namespace backplane::cli {

struct NamedTensor {
  std::string name;  // empty in a file that has one tensor without a name
  Tensor tensor;
};

struct NamedView {
  std::string name;
  TensorView view;  // on the host, any strides
};

// A copy of `data`, the bytes of a dense row-major tensor (column-major, if `fortran_order`).
// invalid_argument: the bytes are not as many as the sizes say (found out before any memory is
// taken), more than 64 dimensions, or a bool that is neither 0 nor 1.
[[nodiscard]] Result<Tensor> tensor_from_bytes(DType dtype, std::vector<int64_t> sizes,
                                               std::span<const std::byte> data,
                                               bool fortran_order = false);

// Appends the elements in row-major order.
Status append_elements(ByteSink& sink, const TensorView& tensor);

}  // namespace backplane::cli
