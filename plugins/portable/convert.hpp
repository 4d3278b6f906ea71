// Conversion of runs of elements between the dtypes in memory and the types that compute.
//
// The only code that is compiled for every dtype. A "strip" is a short contiguous run in a compute
// type; families work on strips, or on whole tensors made dense (dense.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "portable/scalar.hpp"

namespace backplane::portable {

inline constexpr int64_t kStrip = 256;  // elements

// Reads n elements of `from`, `stride` elements apart, into native elements of `compute`.
// Complex loses its imaginary part in a real type; floats are cut as x86 cuts them.
void load(Compute compute, void* to, DType from, const std::byte* memory, int64_t stride,
          int64_t n);

// Writes n native elements of `from` (f32, f64, i64, u64, c64, c128 or boolean) as `to`.
// Integers wrap, floats round to nearest.
void store(DType from, const void* strip, DType to, std::byte* memory, int64_t stride, int64_t n);

// The value of a tensor's first element; for 0-d tensors that stand for numbers.
[[nodiscard]] Scalar item(const Tensor& tensor);

// Makes n elements of a strip what they would be after a store to `dtype` and a load back.
void round_to(DType dtype, void* strip, int64_t n);

template <class T>
void load(T* to, DType from, const std::byte* memory, int64_t stride, int64_t n) {
  load(kCompute<T>, to, from, memory, stride, n);
}
template <class T>
void store(const T* strip, DType to, std::byte* memory, int64_t stride, int64_t n) {
  store(kNative<T>, strip, to, memory, stride, n);
}

}  // namespace backplane::portable
