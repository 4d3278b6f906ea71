// The gamma family and the error functions.
#include <cmath>
#include <limits>
#include <numbers>

#include "portable/elementwise/special_functions.hpp"

namespace backplane::portable {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kPi = std::numbers::pi;

// B(2k) / (2k)! for k = 1...: the weights of the Euler-Maclaurin formula.
constexpr double kBernoulli[] = {1.0 / 12,
                                 -1.0 / 720,
                                 1.0 / 30240,
                                 -1.0 / 1209600,
                                 1.0 / 47900160,
                                 -691.0 / 1307674368000,
                                 1.0 / 74724249600,
                                 -3617.0 / 10670622842880000,
                                 43867.0 / 5109094217170944000};

}  // namespace

double log_gamma(double x) {
#if defined(__GLIBC__) || defined(__APPLE__)
  int sign = 0;  // the plain function would write a global
  return ::lgamma_r(x, &sign);
#else
  return std::lgamma(x);
#endif
}

double digamma(double x) {
  if (x == 0) {
    return std::copysign(kInfinity, -x);
  }
  if (x < 0) {
    if (x == std::trunc(x) || std::isinf(x)) {
      return kNan;
    }
    // Reflection; the fraction is taken first, tan loses nothing then.
    const double fraction = x - std::trunc(x);
    return digamma(1 - x) - kPi / std::tan(kPi * fraction);
  }
  double result = 0;
  for (; x < 12; ++x) {  // psi(x) = psi(x + 1) - 1 / x
    result -= 1 / x;
  }
  const double inverse = 1 / (x * x);
  // log x - 1/(2x) - sum of B(2k) / (2k x^2k)
  double power = inverse, factorial = 1, sum = 0;
  for (int k = 1; k <= 9; ++k) {
    factorial *= k == 1 ? 1 : (2.0 * k - 2) * (2 * k - 1);  // (2k - 1)!
    sum += kBernoulli[k - 1] * factorial * power;
    power *= inverse;
  }
  return result + std::log(x) - 0.5 / x - sum;
}

double hurwitz_zeta(double s, double q) {
  if (s == 1) {
    return kInfinity;
  }
  if (s < 1 || std::isnan(s) || std::isnan(q)) {
    return kNan;
  }
  if (q <= 0) {
    if (q == std::floor(q)) {
      return kInfinity;
    }
    if (s != std::floor(s)) {
      return kNan;
    }
  }
  // Euler-Maclaurin: ten terms or more, until q is at least ten, then the integral of the rest.
  double sum = 0, term = 0;
  for (int i = 0; i < 10 || q < 10; ++i, ++q) {
    term = std::pow(q, -s);
    sum += term;
    if (std::fabs(term) < std::fabs(sum) * 1e-17 || std::isinf(sum)) {
      return sum;
    }
  }
  term = std::pow(q, -s);
  sum += term * q / (s - 1) + 0.5 * term;
  double rising = s, power = term / q;
  for (int k = 1; k <= 9; ++k) {
    const double part = kBernoulli[k - 1] * rising * power;
    sum += part;
    if (std::fabs(part) < std::fabs(sum) * 1e-17) {
      break;
    }
    rising *= (s + 2 * k - 1) * (s + 2 * k);
    power /= q * q;
  }
  return sum;
}

double polygamma(double n, double x) {
  if (n == 0) {
    return digamma(x);
  }
  const double sign = std::fmod(n, 2) == 1 ? 1 : -1;
  return sign * std::exp(log_gamma(n + 1)) * hurwitz_zeta(n + 1, x);
}

namespace {

// x^a e^-x / gamma(a + 1), without overflow; for large a by the deviation from the peak.
double gamma_peak(double a, double x) {
  if (a > 100) {
    const double d = (x - a) / a;
    const double stirling = 1 / (12 * a) - 1 / (360 * a * a * a) + 1 / (1260 * std::pow(a, 5));
    const double exponent =
        std::fabs(d) < 1e-2 ? -a * (d - std::log1p(d)) : a * std::log1p(d) - a * d;
    return std::exp(exponent - stirling) / std::sqrt(2 * kPi * a);
  }
  return std::exp(a * std::log(x) - x - log_gamma(a + 1));
}

double gamma_series(double a, double x) {
  double term = 1, sum = 1;
  for (double n = 1; term > sum * 1e-17 && n < 1e6; ++n) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * gamma_peak(a, x);
}

// Lentz's evaluation of the continued fraction of the upper function.
double gamma_fraction(double a, double x) {
  double b = x + 1 - a, c = 1e300, d = 1 / b, h = d;
  for (double n = 1; n < 1e6; ++n) {
    const double an = -n * (n - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (std::fabs(d * c - 1) < 1e-16) {
      break;
    }
  }
  return gamma_peak(a, x) * a * h;
}

double incomplete_gamma(double a, double x, bool upper) {
  if (!(x >= 0) || !(a >= 0) || (x == 0 && a == 0) || (std::isinf(a) && std::isinf(x))) {
    return kNan;
  }
  if (a == 0 || std::isinf(x)) {
    return upper ? 0 : 1;
  }
  if (x == 0 || std::isinf(a)) {
    return upper ? 1 : 0;
  }
  if (x < a + 1) {
    const double lower = gamma_series(a, x);
    return upper ? 1 - lower : lower;
  }
  const double rest = gamma_fraction(a, x);
  return upper ? rest : 1 - rest;
}

}  // namespace

double gamma_lower(double a, double x) {
  return incomplete_gamma(a, x, false);
}
double gamma_upper(double a, double x) {
  return incomplete_gamma(a, x, true);
}

double erfcx(double x) {
  if (std::isnan(x)) {
    return x;
  }
  if (x < 3) {
    return std::exp(x * x) * std::erfc(x);
  }
  // The continued fraction 1 / (x + (1/2) / (x + 1 / (x + (3/2) / ...))), from its tail.
  double tail = x;
  for (int k = 120; k > 0; --k) {
    tail = x + 0.5 * k / tail;
  }
  return 1 / (tail * std::sqrt(kPi));
}

double erfinv(double x) {
  if (std::fabs(x) >= 1 || std::isnan(x)) {
    return std::fabs(x) == 1 ? std::copysign(kInfinity, x) : kNan;
  }
  // Winitzki's estimate, then Newton's method with Halley's correction on the smaller tail.
  const double l = std::log1p(-x * x), t = 2 / (kPi * 0.147) + l / 2;
  double y = std::copysign(std::sqrt(std::sqrt(t * t - l / 0.147) - t), x);
  const double tail = 1 - std::fabs(x);
  for (int i = 0; i < 4 && x != 0; ++i) {
    const double a = std::fabs(y);
    const double miss = std::fabs(x) < 0.5 ? std::erf(a) - std::fabs(x) : tail - std::erfc(a);
    const double step = miss * std::exp(a * a) * std::sqrt(kPi) / 2;
    y = std::copysign(a - step / (1 + a * step), x);
  }
  return x == 0 ? x : y;
}

double normal_cdf(double x) {
  return std::erfc(-x / std::numbers::sqrt2) / 2;
}

double log_normal_cdf(double x) {
  const double t = x / std::numbers::sqrt2;
  return x < -1 ? std::log(erfcx(-t) / 2) - t * t : std::log1p(-std::erfc(t) / 2);
}

double normal_quantile(double p) {
  if (!(p >= 0 && p <= 1)) {
    return kNan;
  }
  if (p == 0 || p == 1) {
    return p == 0 ? -kInfinity : kInfinity;
  }
  // Near 1/2 erfinv keeps all digits; a tail is solved for in its logarithm's own precision.
  const double q = p < 0.5 ? p : 1 - p;
  if (q > 0.1) {
    return std::numbers::sqrt2 * erfinv(2 * p - 1);
  }
  const double u = std::sqrt(-2 * std::log(q));
  double x = u - (std::log(u) + 0.919) / u;  // leading terms of the tail's asymptotic inverse
  for (int i = 0; i < 6; ++i) {
    // Newton on log cdf(-x) = log q; the ratio density / cdf is 2 / (sqrt(2 pi) erfcx).
    const double ratio = std::sqrt(2 / kPi) / erfcx(x / std::numbers::sqrt2);
    x += (log_normal_cdf(-x) - std::log(q)) / ratio;
  }
  return p < 0.5 ? -x : x;
}

double entropy(double x) {
  if (std::isnan(x)) {
    return x;
  }
  return x > 0 ? -x * std::log(x) : (x == 0 ? 0 : -kInfinity);
}

}  // namespace backplane::portable
