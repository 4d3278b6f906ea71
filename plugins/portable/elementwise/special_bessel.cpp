// Bessel and Airy functions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "portable/elementwise/special_functions.hpp"

namespace backplane::portable {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = std::numbers::pi;

// exp(-|x|) I_order(|x|), order 0 or 1.
double scaled_i(int order, double x) {
  const double a = std::fabs(x);
  if (std::isinf(a)) {
    return 0;
  }
  if (a < 30) {  // all terms are positive: no cancellation
    double term = order == 0 ? 1 : a / 2, sum = term;
    for (int k = 1; term > sum * 1e-17; ++k) {
      term *= a * a / 4 / (k * (k + order));
      sum += term;
    }
    return sum * std::exp(-a);
  }
  double term = 1, sum = 1;
  for (int k = 1; k < 30 && std::fabs(term) > 1e-17; ++k) {
    const double odd = 2 * k - 1;
    term *= -(4.0 * order - odd * odd) / (8 * k * a);
    sum += term;
  }
  return sum / std::sqrt(2 * kPi * a);
}

// The integral of exp(x (1 - cosh t)) cosh(order t) over t > 0: exp(x) K_order(x). The trapezoidal
// rule converges like exp(-pi^2 / step) for it, given several steps to the peak's width.
double scaled_k(double order, double x) {
  if (std::isinf(x)) {
    return 0;
  }
  const double step = std::min(0.125, 0.5 / std::sqrt(x));
  double sum = 0.5;
  for (int i = 1; i < 2000; ++i) {
    const double t = step * i, s = std::sinh(t / 2);
    const double term = std::exp(-2 * x * s * s) * std::cosh(order * t);
    sum += term;
    if (term < sum * 1e-18) {
      break;
    }
  }
  return sum * step;
}

// K at 0 and below, where the integral means nothing.
double edge_k(double x) {
  return x == 0 ? kInfinity : kNan;
}

}  // namespace

double bessel_i0e(double x) {
  return std::isnan(x) ? x : scaled_i(0, x);
}
double bessel_i1e(double x) {
  return std::isnan(x) ? x : std::copysign(scaled_i(1, x), x);
}
double bessel_i0(double x) {
  return bessel_i0e(x) * std::exp(std::fabs(x));
}
double bessel_i1(double x) {
  return bessel_i1e(x) * std::exp(std::fabs(x));
}

double bessel_k0e(double x) {
  return x > 0 ? scaled_k(0, x) : edge_k(x);
}
double bessel_k1e(double x) {
  return x > 0 ? scaled_k(1, x) : edge_k(x);
}
double bessel_k0(double x) {
  return x > 0 ? scaled_k(0, x) * std::exp(-x) : edge_k(x);
}
double bessel_k1(double x) {
  return x > 0 ? scaled_k(1, x) * std::exp(-x) : edge_k(x);
}

double bessel_j0(double x) {
  return std::isinf(x) ? kNan : ::j0(x);
}
double bessel_j1(double x) {
  return std::isinf(x) ? kNan : ::j1(x);
}
double bessel_y0(double x) {
  return x > 0 && !std::isinf(x) ? ::y0(x) : (x == 0 ? -kInfinity : kNan);
}
double bessel_y1(double x) {
  return x > 0 && !std::isinf(x) ? ::y1(x) : (x == 0 ? -kInfinity : kNan);
}

double spherical_j0(double x) {
  if (std::isinf(x)) {
    return 0;
  }
  return x == 0 ? 1 : std::sin(x) / x;
}

namespace {

// Ai for x >= 2: K of order 1/3.
double airy_decaying(double x) {
  const double zeta = 2.0 / 3 * x * std::sqrt(x);
  return std::sqrt(x / 3) / kPi * scaled_k(1.0 / 3, zeta) * std::exp(-zeta);
}

// The asymptotic expansion for large negative x, z = -x.
double airy_oscillating(double z) {
  const double zeta = 2.0 / 3 * z * std::sqrt(z);
  double u = 1, even = 1, odd = 0, power = 1;
  for (int k = 1; k < 12; ++k) {
    u *= (6.0 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216.0 * k * (2 * k - 1));
    power /= zeta;
    const double signed_term = (k / 2 % 2 == 0 ? 1 : -1) * u * power;
    (k % 2 == 0 ? even : odd) += signed_term;
  }
  const double phase = zeta - kPi / 4;
  return (std::cos(phase) * even + std::sin(phase) * odd) /
         (std::sqrt(kPi) * std::sqrt(std::sqrt(z)));
}

}  // namespace

double airy_ai(double x) {
  if (std::isnan(x) || std::isinf(x)) {
    return kNan;
  }
  if (x >= 2) {
    return airy_decaying(x);
  }
  if (x <= -12) {
    return airy_oscillating(-x);
  }
  // In between, y'' = x y by Taylor steps from 0; solutions neither grow nor decay there.
  double y = 0.35502805388781723926, slope = -0.25881940379280679840, at = 0;
  const int steps = static_cast<int>(std::ceil(std::fabs(x) * 4));
  const double h = steps == 0 ? 0 : x / steps;
  for (int i = 0; i < steps; ++i, at += h) {
    double c[3] = {y, slope, at * y / 2};  // three consecutive coefficients
    double sum = c[0] + h * (c[1] + h * c[2]), derivative = c[1] + 2 * h * c[2], power = h * h;
    for (int n = 3; n < 24; ++n) {
      const double next = (at * c[1] + c[0]) / (n * (n - 1));
      derivative += n * next * power;
      power *= h;
      sum += next * power;
      c[0] = c[1];
      c[1] = c[2];
      c[2] = next;
    }
    y = sum;
    slope = derivative;
  }
  return y;
}

}  // namespace backplane::portable
