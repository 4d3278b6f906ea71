// A number of an operator's schema, and the type that an operation on numbers and tensors has.
#pragma once

#include <span>
#include <type_traits>

#include "portable/tensor.hpp"

namespace backplane::portable {

// A Python number: int64, double, bool or complex.
class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  explicit Scalar(int64_t v) : dtype_(DType::i64), i_(v) {}
  explicit Scalar(double v) : dtype_(DType::f64), z_(v) {}
  explicit Scalar(bool v) : dtype_(DType::boolean), i_(v ? 1 : 0) {}
  explicit Scalar(Complex128 v) : dtype_(DType::c128), z_(v) {}

  [[nodiscard]] DType dtype() const { return dtype_; }  // i64, f64, boolean or c128
  [[nodiscard]] bool is_integral() const { return dtype_ == DType::i64; }
  [[nodiscard]] bool is_bool() const { return dtype_ == DType::boolean; }
  [[nodiscard]] bool is_floating() const { return dtype_ == DType::f64; }
  [[nodiscard]] bool is_complex() const { return dtype_ == DType::c128; }

  // The value in a compute type, as a C++ cast: integers wrap, complex loses its imaginary part.
  template <class T>
  [[nodiscard]] T to() const;

  // The number that converts to `dtype`: for bool, whether it is not zero.
  [[nodiscard]] Scalar as(DType dtype) const;

  // Whether `dtype` can hold the value, as c10's checked conversions see it.
  [[nodiscard]] bool fits(DType dtype) const;

 private:
  [[nodiscard]] bool holds_integer() const { return is_integral() || is_bool(); }
  DType dtype_;
  int64_t i_ = 0;
  Complex128 z_;
};

// A double cut to an integer as x86 does it: what doesn't fit, and NaN, becomes the minimum.
[[nodiscard]] int64_t to_int64(double value);

template <class T>
T Scalar::to() const {
  if constexpr (std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>) {
    using Real = typename T::value_type;
    return holds_integer() ? T(static_cast<Real>(i_))
                           : T(static_cast<Real>(z_.real()), static_cast<Real>(z_.imag()));
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(holds_integer() ? i_ : to_int64(z_.real()));
  } else {
    return holds_integer() ? static_cast<T>(i_) : static_cast<T>(z_.real());
  }
}

// Accumulates the type of an operation as at::result_type does: tensors with dimensions win over
// 0-d tensors and those over plain numbers, unless a later class has a higher category (bool,
// integer, float, complex). Plain numbers count as the default type of their category.
class ResultType {
 public:
  Status add(const Tensor& tensor);
  Status add(const Scalar& scalar);
  Status add(DType dtype);           // as a tensor with dimensions
  Status add_zero_dim(DType dtype);  // as one without
  [[nodiscard]] Result<DType> get() const;

 private:
  Status join(std::optional<DType>& state, DType dtype);
  std::optional<DType> dims_, zero_dim_, number_;
};

}  // namespace backplane::portable
