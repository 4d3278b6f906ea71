// The numbers and names of `.pt2` files in our terms. Their enumerations are numbered otherwise
// than c10's, which `.pte` files use.
#pragma once

#include <backplane/dtype.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "graph/argument.hpp"

namespace backplane {

[[nodiscard]] std::optional<DType> dtype_from_serialized(int64_t number);
[[nodiscard]] std::optional<MemoryFormat> memory_format_from_serialized(int64_t number);
inline constexpr int64_t kSerializedStrided = 7;  // of layouts, the only one that is not `other`

// The operator that a node's target names:
//   torch.ops.aten.add.Tensor     → aten::add.Tensor
//   torch.ops.aten.relu.default   → aten::relu
//   torch.ops.higher_order.cond   → higher_order::cond
//   _operator.add, math.trunc     → sym::add, sym::trunc
//   torch.sym_max, _operator.and_ → sym::max, sym::and
//   math.pow                      → sym::float_pow (a float, where _operator.pow keeps integers)
//   #ns:name                      → ns::name
// Anything else is left as it is.
[[nodiscard]] std::string op_from_target(std::string_view target);

}  // namespace backplane
