// Copies between tensors of any strides, on the host and on devices.
#pragma once

#include <backplane/types.h>
#include <backplane/result.hpp>

#include "cuda/driver/cuda.hpp"

namespace backplane::cuda {

// Queues the copy on `stream`; a context is current. What is dense in one order on both sides takes
// one call, rows take one for two dimensions.
// invalid_argument: shapes or dtypes differ.
Status copy_tensor(const Driver& driver, const bp_tensor_t& to, const bp_tensor_t& from,
                   CuStream stream);

}  // namespace backplane::cuda
