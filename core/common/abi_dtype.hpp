// Element types as the plugin contract writes them.
#pragma once

#include <backplane/types.h>

#include <backplane/dtype.hpp>
#include <optional>

namespace backplane {

[[nodiscard]] bp_dtype_t abi_dtype(DType dtype);

// Nothing if there is no such type here.
[[nodiscard]] std::optional<DType> dtype_from_abi(bp_dtype_t dtype);

}  // namespace backplane
