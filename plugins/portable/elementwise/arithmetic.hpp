// Arithmetic on compute types as c10 does it, for the lambdas of element-wise rows.
#pragma once

#include <cmath>

#include "portable/elementwise.hpp"

namespace backplane::portable {

template <Number T>
T multiply(T a, T b) {
  if constexpr (ComplexNumber<T>) {  // std's product repairs infinities; c10's does not
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

// Smith's method for complex numbers; integers must have a divisor.
template <Number T>
T divide(T a, T b) {
  if constexpr (ComplexNumber<T>) {
    using R = typename T::value_type;
    const R c = b.real(), d = b.imag();
    if (std::abs(c) >= std::abs(d)) {
      if (c == 0) {
        return {a.real() / std::abs(c), a.imag() / std::abs(d)};
      }
      const R ratio = d / c, scale = 1 / (c + d * ratio);
      return {(a.real() + a.imag() * ratio) * scale, (a.imag() - a.real() * ratio) * scale};
    }
    const R ratio = c / d, scale = 1 / (d + c * ratio);
    return {(a.real() * ratio + a.imag()) * scale, (a.imag() * ratio - a.real()) * scale};
  } else if constexpr (std::same_as<T, int64_t>) {
    return b == -1 ? -a : a / b;  // the minimum by -1 traps
  } else {
    return a / b;
  }
}

// The remainder of truncated division.
template <Real T>
T modulo(T a, T b) {
  if constexpr (Floating<T>) {
    return std::fmod(a, b);
  } else if constexpr (std::same_as<T, int64_t>) {
    return b == -1 ? 0 : a % b;
  } else {
    return a % b;
  }
}

// Python's // and %: the quotient is rounded down, the remainder has the divisor's sign.
template <Real T>
T floor_quotient(T a, T b) {
  if constexpr (Floating<T>) {
    if (b == 0) {
      return a / b;
    }
    const T rest = std::fmod(a, b);
    T quotient = (a - rest) / b;
    if (rest != 0 && (b < 0) != (rest < 0)) {
      quotient -= 1;
    }
    if (quotient == 0) {
      return std::copysign(T(0), a / b);
    }
    const T whole = std::floor(quotient);  // the division above may have rounded
    return quotient - whole > T(0.5) ? whole + 1 : whole;
  } else {
    const T quotient = divide(a, b), rest = modulo(a, b);
    return rest != 0 && (b < 0) != (rest < 0) ? quotient - 1 : quotient;
  }
}
template <Real T>
T floor_remainder(T a, T b) {
  const T rest = modulo(a, b);
  return rest != 0 && (b < 0) != (rest < 0) ? rest + b : rest;
}

template <Real T>
bool is_nan(T x) {
  if constexpr (Floating<T>) {
    return std::isnan(x);
  }
  return false;
}

// The larger and smaller of two; NaN if either is.
template <Real T>
T larger(T a, T b) {
  return is_nan(a) || a > b ? a : b;
}
template <Real T>
T smaller(T a, T b) {
  return is_nan(a) || a < b ? a : b;
}

}  // namespace backplane::portable
