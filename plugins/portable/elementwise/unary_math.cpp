// Unary functions that make floats of integers: powers, logarithms, trigonometry, error functions.
#include <numbers>

#include "portable/elementwise/arithmetic.hpp"
#include "portable/elementwise/special_functions.hpp"

namespace backplane::portable {
namespace {

template <class T>
struct RealPart {
  using type = T;
};
template <class T>
struct RealPart<std::complex<T>> {
  using type = T;
};
template <Inexact T>
constexpr typename RealPart<T>::type kLn2 = std::numbers::ln2_v<typename RealPart<T>::type>;

template <Inexact T>
T exp2(T x) {
  if constexpr (ComplexNumber<T>) {
    return std::exp(x * kLn2<T>);
  } else {
    return std::exp2(x);
  }
}

template <Inexact T>
T expm1(T x) {
  if constexpr (ComplexNumber<T>) {  // exp(a + bi) - 1 without cancellation in either part
    const auto half = std::sin(x.imag() / 2);
    const auto grown = std::expm1(x.real());
    return {grown * std::cos(x.imag()) - 2 * half * half, (grown + 1) * std::sin(x.imag())};
  } else {
    return std::expm1(x);
  }
}

template <Inexact T>
T log2(T x) {
  if constexpr (ComplexNumber<T>) {
    return std::log(x) / kLn2<T>;
  } else {
    return std::log2(x);
  }
}

template <Inexact T>
T log1p(T x) {
  if constexpr (ComplexNumber<T>) {  // |1 + x|^2 = 1 + (2 + a) a + b^2
    const auto a = x.real(), b = x.imag();
    const auto excess = (2 + a) * a + b * b;
    const bool near_one = std::abs(excess) < 1;
    return {near_one ? std::log1p(excess) / 2 : std::log(std::abs(x + decltype(a)(1))),
            std::atan2(b, 1 + a)};
  } else {
    return std::log1p(x);
  }
}

template <Inexact T>
T sinc(T x) {
  if (x == T(0)) {
    return T(1);
  }
  using R = typename RealPart<T>::type;
  const T angle = x * std::numbers::pi_v<R>;
  return divide(T(std::sin(angle)), angle);
}

constexpr auto exp = loops<1>([](Inexact auto x) { return std::exp(x); });
constexpr auto sqrt = loops<1>([](Inexact auto x) { return std::sqrt(x); });
constexpr auto reciprocal = loops<1>([]<Inexact T>(T x) { return divide(T(1), x); });
constexpr auto sigmoid = loops<1>([]<Inexact T>(T x) { return divide(T(1), T(1) + std::exp(-x)); });
constexpr auto asin = loops<1>([](Inexact auto x) { return std::asin(x); });
constexpr auto acos = loops<1>([](Inexact auto x) { return std::acos(x); });
constexpr auto atan = loops<1>([](Inexact auto x) { return std::atan(x); });
constexpr auto asinh = loops<1>([](Inexact auto x) { return std::asinh(x); });
constexpr auto acosh = loops<1>([](Inexact auto x) { return std::acosh(x); });
constexpr auto atanh = loops<1>([](Inexact auto x) { return std::atanh(x); });
constexpr auto exp_2 = loops<1>([](Inexact auto x) { return exp2(x); });
constexpr auto exp_m1 = loops<1>([](Inexact auto x) { return expm1(x); });
constexpr auto log_1p = loops<1>([](Inexact auto x) { return log1p(x); });
constexpr auto sin_c = loops<1>([](Inexact auto x) { return sinc(x); });
constexpr auto erf = loops<1>([](Floating auto x) { return std::erf(x); });
constexpr auto erfc = loops<1>([](Floating auto x) { return std::erfc(x); });
constexpr auto erf_inv = loops<1>([](Floating auto x) { return in_double(erfinv, x); });
constexpr auto lgamma = loops<1>([](Floating auto x) { return in_double(log_gamma, x); });
constexpr auto psi = loops<1>([](Floating auto x) { return in_double(digamma, x); });
constexpr auto i0 = loops<1>([](Floating auto x) { return in_double(bessel_i0, x); });
constexpr auto deg2rad =
    loops<1>([]<Floating T>(T x) { return x * (std::numbers::pi_v<T> / T(180)); });
constexpr auto rad2deg =
    loops<1>([]<Floating T>(T x) { return x * (T(180) / std::numbers::pi_v<T>); });

constexpr DTypes kAny = kFloats | kComplex;

constexpr Elementwise rows[] = {
    {"aten::exp.out", "t>t", exp, to_float, kAny},
    {"aten::exp2.out", "t>t", exp_2, to_float, kAny},
    {"aten::special_exp2.out", "t>t", exp_2, to_float, kAny},
    {"aten::expm1.out", "t>t", exp_m1, to_float, kAny},
    {"aten::special_expm1.out", "t>t", exp_m1, to_float, kAny},
    {"aten::log.out", "t>t", loops<1>([](Inexact auto x) { return std::log(x); }), to_float, kAny},
    {"aten::log2.out", "t>t", loops<1>([](Inexact auto x) { return log2(x); }), to_float, kAny},
    {"aten::log10.out", "t>t", loops<1>([](Inexact auto x) { return std::log10(x); }), to_float,
     kAny},
    {"aten::log1p.out", "t>t", log_1p, to_float, kAny},
    {"aten::special_log1p.out", "t>t", log_1p, to_float, kAny},
    {"aten::sqrt.out", "t>t", sqrt, to_float, kAny},
    {"aten::rsqrt.out", "t>t",
     loops<1>([]<Inexact T>(T x) { return divide(T(1), T(std::sqrt(x))); }), to_float, kAny},
    {"aten::reciprocal.out", "t>t", reciprocal, to_float, kAny},
    {"aten::sigmoid.out", "t>t", sigmoid, to_float, kAny},
    {"aten::special_expit.out", "t>t", sigmoid, to_float, kAny},
    {"aten::sin.out", "t>t", loops<1>([](Inexact auto x) { return std::sin(x); }), to_float, kAny},
    {"aten::cos.out", "t>t", loops<1>([](Inexact auto x) { return std::cos(x); }), to_float, kAny},
    {"aten::tan.out", "t>t", loops<1>([](Inexact auto x) { return std::tan(x); }), to_float, kAny},
    {"aten::sinh.out", "t>t", loops<1>([](Inexact auto x) { return std::sinh(x); }), to_float,
     kAny},
    {"aten::cosh.out", "t>t", loops<1>([](Inexact auto x) { return std::cosh(x); }), to_float,
     kAny},
    {"aten::tanh.out", "t>t", loops<1>([](Inexact auto x) { return std::tanh(x); }), to_float,
     kAny},
    {"aten::asin.out", "t>t", asin, to_float, kAny},
    {"aten::arcsin.out", "t>t", asin, to_float, kAny},
    {"aten::acos.out", "t>t", acos, to_float, kAny},
    {"aten::arccos.out", "t>t", acos, to_float, kAny},
    {"aten::atan.out", "t>t", atan, to_float, kAny},
    {"aten::arctan.out", "t>t", atan, to_float, kAny},
    {"aten::asinh.out", "t>t", asinh, to_float, kAny},
    {"aten::arcsinh.out", "t>t", asinh, to_float, kAny},
    {"aten::acosh.out", "t>t", acosh, to_float, kAny},
    {"aten::arccosh.out", "t>t", acosh, to_float, kAny},
    {"aten::atanh.out", "t>t", atanh, to_float, kAny},
    {"aten::arctanh.out", "t>t", atanh, to_float, kAny},
    {"aten::sinc.out", "t>t", sin_c, to_float, kAny},
    {"aten::special_sinc.out", "t>t", sin_c, to_float, kAny},
    {"aten::erf.out", "t>t", erf, to_float, kFloats},
    {"aten::special_erf.out", "t>t", erf, to_float, kFloats},
    {"aten::erfc.out", "t>t", erfc, to_float, kFloats},
    {"aten::special_erfc.out", "t>t", erfc, to_float, kFloats},
    {"aten::erfinv.out", "t>t", erf_inv, to_float, kFloats},
    {"aten::special_erfinv.out", "t>t", erf_inv, to_float, kFloats},
    {"aten::lgamma.out", "t>t", lgamma, to_float, kFloats},
    {"aten::special_gammaln.out", "t>t", lgamma, to_float, kFloats},
    {"aten::digamma.out", "t>t", psi, to_float, kFloats},
    {"aten::special_digamma.out", "t>t", psi, to_float, kFloats},
    {"aten::special_psi.out", "t>t", psi, to_float, kFloats},
    {"aten::i0.out", "t>t", i0, to_float, kFloats},
    {"aten::special_i0.out", "t>t", i0, to_float, kFloats},
    {"aten::deg2rad.out", "t>t", deg2rad, to_float, kFloats},
    {"aten::rad2deg.out", "t>t", rad2deg, to_float, kFloats},
};
constexpr auto table = entries(rows);

}  // namespace

extern const std::span<const Entry> unary_math_kernels = table;

}  // namespace backplane::portable
