// Orthogonal polynomials, each by its three-term recurrence in double precision.
#include "portable/elementwise/arithmetic.hpp"
#include "portable/elementwise/special_functions.hpp"

namespace backplane::portable {
namespace {

// Of degree n (cut to a whole number); 0 for negative n. `next(k, x, current, previous)` is the
// polynomial of degree k + 1. Ends early where nothing can change any more.
template <class Next>
double recur(double x, double degree, double first, Next&& next) {
  const double n = std::trunc(degree);
  if (n < 0) {
    return 0;
  }
  double previous = 1, current = first;
  if (n == 0 || std::isnan(n)) {
    return 1;
  }
  for (double k = 1; k < n && (std::isfinite(current) || std::isfinite(previous)); ++k) {
    const double following = next(k, x, current, previous);
    previous = current;
    current = following;
  }
  return current;
}

// The four Chebyshev kinds share their recurrence; inside [-1, 1] high degrees have a closed form.
double chebyshev(double x, double n, double first, double (*closed)(double, double)) {
  if (n > 512 && std::fabs(x) < 1) {
    return closed(std::acos(x), std::trunc(n));
  }
  if (n > 512 && std::fabs(x) == 1) {  // linear in n, with the sign of x^n
    const double sign = x > 0 || std::fmod(std::trunc(n), 2) == 0 ? 1 : -1;
    const double slope = std::fabs(first - x);
    return sign * (1 + std::trunc(n) * slope);
  }
  return recur(x, n, first, [](double, double y, double c, double p) { return 2 * y * c - p; });
}

double chebyshev_t(double x, double n) {
  return chebyshev(x, n, x, [](double a, double k) { return std::cos(k * a); });
}
double chebyshev_u(double x, double n) {
  return chebyshev(x, n, 2 * x,
                   [](double a, double k) { return std::sin((k + 1) * a) / std::sin(a); });
}
double chebyshev_v(double x, double n) {
  return chebyshev(x, n, 2 * x - 1,
                   [](double a, double k) { return std::cos((k + 0.5) * a) / std::cos(a / 2); });
}
double chebyshev_w(double x, double n) {
  return chebyshev(x, n, 2 * x + 1,
                   [](double a, double k) { return std::sin((k + 0.5) * a) / std::sin(a / 2); });
}
double shifted_t(double x, double n) {
  return chebyshev_t(2 * x - 1, n);
}
double shifted_u(double x, double n) {
  return chebyshev_u(2 * x - 1, n);
}
double shifted_v(double x, double n) {
  return chebyshev_v(2 * x - 1, n);
}
double shifted_w(double x, double n) {
  return chebyshev_w(2 * x - 1, n);
}

double hermite_h(double x, double n) {
  return recur(x, n, 2 * x,
               [](double k, double y, double c, double p) { return 2 * y * c - 2 * k * p; });
}
double hermite_he(double x, double n) {
  return recur(x, n, x, [](double k, double y, double c, double p) { return y * c - k * p; });
}
double laguerre_l(double x, double n) {
  return recur(x, n, 1 - x, [](double k, double y, double c, double p) {
    return ((2 * k + 1 - y) * c - k * p) / (k + 1);
  });
}
double legendre_p(double x, double n) {
  return recur(x, n, x, [](double k, double y, double c, double p) {
    return ((2 * k + 1) * y * c - k * p) / (k + 1);
  });
}

template <double (*F)(double, double)>
constexpr auto of_degree =
    loops<2>([](Floating auto x, Floating auto n) { return in_double(F, x, n); });

constexpr DTypes kSingles = set_of(DType::f32, DType::f64);
constexpr size_t kCount = 12, kForms = 3;

struct Polynomial {
  std::array<std::string_view, kForms> names;
  const Loops* loops;
};
#define POLYNOMIAL(name, function)                                        \
  Polynomial {                                                            \
    {"aten::special_" name ".out", "aten::special_" name ".x_scalar_out", \
     "aten::special_" name ".n_scalar_out"},                              \
        of_degree<function>                                               \
  }
constexpr std::array<Polynomial, kCount> polynomials = {
    POLYNOMIAL("chebyshev_polynomial_t", chebyshev_t),
    POLYNOMIAL("chebyshev_polynomial_u", chebyshev_u),
    POLYNOMIAL("chebyshev_polynomial_v", chebyshev_v),
    POLYNOMIAL("chebyshev_polynomial_w", chebyshev_w),
    POLYNOMIAL("shifted_chebyshev_polynomial_t", shifted_t),
    POLYNOMIAL("shifted_chebyshev_polynomial_u", shifted_u),
    POLYNOMIAL("shifted_chebyshev_polynomial_v", shifted_v),
    POLYNOMIAL("shifted_chebyshev_polynomial_w", shifted_w),
    POLYNOMIAL("hermite_polynomial_h", hermite_h),
    POLYNOMIAL("hermite_polynomial_he", hermite_he),
    POLYNOMIAL("laguerre_polynomial_l", laguerre_l),
    POLYNOMIAL("legendre_polynomial_p", legendre_p),
};
#undef POLYNOMIAL

constexpr auto make_rows() {
  std::array<Elementwise, kCount * kForms> rows{};
  for (size_t i = 0; i < rows.size(); ++i) {
    const Polynomial& polynomial = polynomials[i / kForms];
    rows[i] = {polynomial.names[i % kForms], "oo>t", polynomial.loops, to_float, kSingles};
  }
  return rows;
}
constexpr auto rows = make_rows();
constexpr auto table = entries(rows);

}  // namespace

extern const std::span<const Entry> polynomial_kernels = table;

}  // namespace backplane::portable
