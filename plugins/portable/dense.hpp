// Whole tensors as dense row-major arrays of a compute type: the easy way to write a kernel.
//
//   BP_ASSIGN_OR_RETURN(const float* x, read<float>(ctx, self));
//   BP_ASSIGN_OR_RETURN(float* y, open<float>(ctx, out));   // after resize
//   ...
//   close(out, y);
//
// Nothing is copied where the tensor's own memory is already what is asked for. Families choose
// T by the dtype with dispatch(), naming the few compute types that they are to be compiled for.
#pragma once

#include "portable/convert.hpp"
#include "portable/kernel.hpp"

namespace backplane::portable {

// Elements in row-major order, valid until the kernel returns. `order`, if not empty, permutes the
// dimensions first: result dimension i is the tensor's dimension order[i].
Result<const void*> read(Context& ctx, const Tensor& tensor, Compute compute,
                         const Dims& order = {});
// Memory to compute a row-major `out` in, and its conversion to out's dtype and strides. `native`
// is the dtype of the array's elements: a compute type's, or boolean.
Result<void*> open(Context& ctx, const Tensor& out, DType native);
void close(const Tensor& out, DType native, const void* values);

template <class T>
Result<const T*> read(Context& ctx, const Tensor& tensor, const Dims& order = {}) {
  BP_ASSIGN_OR_RETURN(const void* values, read(ctx, tensor, kCompute<T>, order));
  return static_cast<const T*>(values);
}
template <class T>
Result<T*> open(Context& ctx, const Tensor& out) {
  BP_ASSIGN_OR_RETURN(void* values, open(ctx, out, kNative<T>));
  return static_cast<T*>(values);
}
template <class T>
void close(const Tensor& out, const T* values) {
  close(out, kNative<T>, values);
}

// Row-major elements of `from` (as T's native dtype) rounded to `dtype`'s precision: for kernels
// that must round in between.
template <class T>
void round_to(DType dtype, T* values, int64_t n) {
  round_to(dtype, static_cast<void*>(values), n);
}

// Calls f.operator()<T>() for the compute type of `dtype`, if it is among Ts (int64_t also serves
// uint64 where uint64_t is not listed: for operations on bits alone).
template <class... Ts, class F>
Status dispatch(DType dtype, F&& f) {
  const Compute compute = compute_of(dtype);
  std::optional<Status> status;
  static_cast<void>(
      ((compute == kCompute<Ts> ? (status = f.template operator()<Ts>(), true) : false) || ...));
  if constexpr ((std::is_same_v<Ts, int64_t> || ...) && !(std::is_same_v<Ts, uint64_t> || ...)) {
    if (!status && compute == Compute::u64) {
      return f.template operator()<int64_t>();
    }
  }
  return status ? *std::move(status) : not_implemented(dtype);
}

// Copies elements of equal dtypes, whatever they mean: any strides on either side, same shape.
void copy_bytes(const Tensor& from, const Tensor& to);

// A copy of a tensor's elements as they are, row-major, and such elements into `out`, which has its
// shape.
Result<std::byte*> dense_bytes(Context& ctx, const Tensor& tensor);
void write_dense(const std::byte* bytes, const Tensor& out);

}  // namespace backplane::portable
