// Whether two tensors are the same, as `verify` says it.
//
// Shapes and element types must be equal, NaN and infinities in the same places. Integers and
// booleans must be equal. Floating and complex numbers are the same when, over the finite elements
// and in double precision, |actual - expected| in norm is at most T of the norm of `expected`, and
// no element is off by more than 20 T (|expected element| + root mean square of `expected`).
// A complex element counts by its magnitude; if a part is not finite it is compared by kind alone
// (NaN, infinity and its sign, finite), part by part.
#pragma once

#include <backplane/result.hpp>
#include <backplane/tensor.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace backplane::cli {

struct Comparison {
  bool same = false;
  double tolerance = 0;          // T; 0 where exact
  double relative_error = 0;     // norm of the difference by norm of `expected`; 0 by 0 is 0
  double worst_element = 0;      // largest error of an element by what it may be; 1 still passes
  int64_t num_different = 0;     // elements that break a rule by themselves
  int64_t first_different = -1;  // the first of these, in row-major order
  std::string text;              // one line: same or different, and by how much
};

// T unless given: float64 1e-12, float32 1e-5, float16 5e-3, bfloat16 2e-2, 8-bit floats 0.2,
// complex as its parts; 0 for the rest.
[[nodiscard]] double default_tolerance(DType dtype);

// Two host tensors with any strides. Fails only as Tensor::copy_of does.
[[nodiscard]] Result<Comparison> compare(const TensorView& expected, const TensorView& actual,
                                         std::optional<double> tolerance = {});

}  // namespace backplane::cli
