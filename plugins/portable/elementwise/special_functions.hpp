// Special functions in double precision, each from its series, recurrence or integral rather than
// from tables of fitted coefficients: slower, and right to a few units in the last place.
//
// Domain rules (poles, infinities, NaN) are those of torch.special.
#pragma once

namespace backplane::portable {

// f in double, rounded to T.
template <class T>
T in_double(double (*f)(double), T x) {
  return static_cast<T>(f(static_cast<double>(x)));
}
template <class T>
T in_double(double (*f)(double, double), T x, T y) {
  return static_cast<T>(f(static_cast<double>(x), static_cast<double>(y)));
}

double log_gamma(double x);  // log |gamma(x)|; thread safe
double digamma(double x);
double hurwitz_zeta(double s, double q);
double polygamma(double n, double x);    // n >= 0 whole; the n-th derivative of digamma
double gamma_lower(double a, double x);  // regularized incomplete gamma functions
double gamma_upper(double a, double x);

double erfinv(double x);
double erfcx(double x);  // exp(x^2) erfc(x)
double normal_cdf(double x);
double log_normal_cdf(double x);
double normal_quantile(double p);
double entropy(double x);  // -x log x

double bessel_j0(double x);
double bessel_j1(double x);
double bessel_y0(double x);
double bessel_y1(double x);
double bessel_i0(double x);
double bessel_i1(double x);
double bessel_i0e(double x);  // exp(-|x|) i0(x)
double bessel_i1e(double x);
double bessel_k0(double x);
double bessel_k1(double x);
double bessel_k0e(double x);  // exp(x) k0(x)
double bessel_k1e(double x);
double spherical_j0(double x);
double airy_ai(double x);

}  // namespace backplane::portable
