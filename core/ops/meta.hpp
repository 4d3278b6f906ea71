// Shapes and dtypes of results, by PyTorch's rules, with symbolic sizes.
//
// Covers what the passes emit: not every operator that a file may contain. Results are contiguous
// (no strides), whatever eager PyTorch would have made of a view.
#pragma once

#include <backplane/result.hpp>

#include <optional>
#include <span>
#include <vector>

#include "graph/graph.hpp"

namespace backplane::ops {

// What a node's operator gives for its arguments: one Value (kind, type; expr of sizes) for each
// result, one for each element of a Tensor[]; names and producers are left to the caller. The
// node's schema must be set; arguments that it lacks take the schema's defaults. Operators that
// write give the types of what they wrote. Sizes are expressions of module.symbols; where only a
// run can tell whether a size is 1 (broadcasting) or two sizes are equal, they are taken to be.
// invalid_argument: sizes, dtypes or arguments don't fit. unsupported: no rule for this operator
// (it is named), or a size that depends on values.
[[nodiscard]] Result<std::vector<Value>> infer(Module& module, const Graph& graph,
                                               const Node& node);

// The dtype that both convert to; nothing if there is none (float8, and unsigned integers of more
// than 8 bits with other integers).
[[nodiscard]] std::optional<DType> promote(DType a, DType b);

// An operand of an element-wise operator. Literals and symbolic numbers are scalars: i64 (also for
// sym_int), f64, boolean or c128.
struct PromotedOperand {
  DType dtype;
  bool is_scalar = false;
  bool is_zero_dim = false;  // a tensor without dimensions
};
// The dtype that element-wise operators compute in: scalars and 0-d tensors count only by category
// (boolean, integer, floating, complex) where a tensor with dimensions has a higher one.
[[nodiscard]] std::optional<DType> result_type(std::span<const PromotedOperand> operands);

}  // namespace backplane::ops
