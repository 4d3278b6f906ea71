// Indices along one dimension: what gather, scatter, index_select and their like share.
#pragma once

#include <algorithm>

#include "portable/views/strided.hpp"

namespace backplane::portable {

// invalid_argument: `index` is not in [0, size), or in [-size, 0) where negative ones count from
// the end.
[[nodiscard]] Result<int64_t> position(int64_t index, int64_t size, int64_t dim, bool wraps);

// invalid_argument: an index is neither int64 nor int32.
Status check_index_dtype(const Tensor& index);
// `index` may be larger than `other` in dimension `skip` alone. invalid_argument: it is elsewhere,
// or the ranks differ. What is empty always fits.
Status check_inside(const Tensor& index, const Tensor& other, int64_t skip, std::string_view what);

// A shape, and where its elements lie.
struct Place {
  explicit Place(const Tensor& tensor) : shape(tensor.shape()), strides(tensor.strides()) {}
  explicit Place(std::span<const int64_t> dense) : shape(dense), strides(row_major(dense)) {}
  Dims shape;
  Dims strides;
};

// Calls f(offset in a, offset in b), in elements, for every element of `index`, whose value stands
// for the coordinate of `dim` in a; b has the index's own coordinates.
// invalid_argument: an index outside a's dimension; negative ones are.
template <class F>
Status for_index(Context& ctx, const Tensor& index, int64_t dim, const Place& a, const Place& b,
                 F&& f) {
  BP_ASSIGN_OR_RETURN(const int64_t* values, read<int64_t>(ctx, index));
  const int64_t rank = index.dim();
  const int64_t size = a.shape.empty() ? 1 : a.shape[dim];
  Dims at(rank, 0);
  for (int64_t i = 0, n = index.numel(); i < n; ++i) {
    BP_ASSIGN_OR_RETURN(const int64_t chosen, position(values[i], size, dim, false));
    int64_t in_a = a.shape.empty() ? 0 : chosen * a.strides[dim];
    int64_t in_b = 0;
    for (int64_t d = 0; d < rank; ++d) {
      if (d != dim && !a.shape.empty()) in_a += at[d] * a.strides[d];
      if (!b.shape.empty()) in_b += at[d] * b.strides[d];
    }
    f(in_a, in_b);
    for (int64_t d = rank - 1; d >= 0 && ++at[d] == index.size(d); --d) at[d] = 0;
  }
  return Ok{};
}

// The slice at `position` of `dim`; a tensor without dimensions is its own slice.
[[nodiscard]] Strided slice_at(const Tensor& tensor, int64_t dim, int64_t position);

// The positions that a vector of indices names along a dimension of this size.
// invalid_argument: no vector, another dtype than int64 or int32, out of range.
Result<std::span<const int64_t>> positions(Context& ctx, const Tensor& index, int64_t size,
                                           int64_t dim, bool wraps);

// How values that meet in one place become one.
enum class How : uint8_t { set, add, multiply, mean, maximum, minimum };
// "sum", "prod", "mean", "amax", "amin". invalid_argument: another name.
[[nodiscard]] Result<How> how_of(std::string_view name);

// For mean the sum.
template <class T>
T combine(How how, T old, T value) {
  switch (how) {
    case How::set:
      return value;
    case How::multiply:
      return old * value;
    case How::maximum:
      if constexpr (requires { old < value; }) return old != old || value < old ? old : value;
      return value;
    case How::minimum:
      if constexpr (requires { old < value; }) return old != old || old < value ? old : value;
      return value;
    default:
      return old + value;
  }
}

// A mean from a sum: integers round down.
template <class T>
T mean_of(T sum, int64_t count) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return sum / count - (sum % count < 0 ? 1 : 0);
  } else if constexpr (std::is_floating_point_v<T>) {
    return sum / static_cast<T>(count);
  } else {
    return sum / static_cast<typename T::value_type>(count);
  }
}

// Values put into a dense copy of `self` that becomes `out`.
template <class T>
class Accumulator {
 public:
  // Without include_self the first value put in a place replaces what was there. `rounds`: to
  // out's dtype at every step, and not only at the end.
  static Result<Accumulator> begin(Context& ctx, const Tensor& self, const Tensor& out, How how,
                                   bool include_self, bool rounds) {
    Accumulator a;
    a.out_ = out;
    a.how_ = how;
    a.include_self_ = include_self;
    a.rounds_ = rounds && out.dtype() != kNative<T>;
    BP_TRY(ctx.resize(out, self.shape()));
    BP_ASSIGN_OR_RETURN(const T* old, read<T>(ctx, self));
    BP_ASSIGN_OR_RETURN(a.values_, open<T>(ctx, out));
    if (a.values_ != old) std::copy_n(old, self.numel(), a.values_);
    if (how == How::mean || !include_self) {
      BP_ASSIGN_OR_RETURN(a.hits_, ctx.scratch<int64_t>(self.numel()));
      std::fill_n(a.hits_, self.numel(), 0);
    }
    return a;
  }
  void put(int64_t at, T value) {
    const bool replaces = !include_self_ && hits_[at] == 0;
    values_[at] = replaces ? value : combine(how_, values_[at], value);
    if (rounds_) round_to(out_.dtype(), &values_[at], 1);
    if (hits_ != nullptr) ++hits_[at];
  }
  void finish() {
    for (int64_t i = 0; how_ == How::mean && i < out_.numel(); ++i) {
      if (hits_[i] == 0) continue;
      round_to(out_.dtype(), &values_[i], 1);
      values_[i] = mean_of(values_[i], hits_[i] + (include_self_ ? 1 : 0));
    }
    close(out_, values_);
  }

 private:
  Tensor out_;
  T* values_ = nullptr;
  int64_t* hits_ = nullptr;
  How how_ = How::set;
  bool include_self_ = true;
  bool rounds_ = false;
};

}  // namespace backplane::portable
