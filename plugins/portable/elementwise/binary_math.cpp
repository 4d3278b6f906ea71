// Powers, extremes and other binary functions.
#include <numeric>

#include "portable/elementwise/arithmetic.hpp"
#include "portable/elementwise/special_functions.hpp"
#include "portable/small_float.hpp"

namespace backplane::portable {
namespace {

// Repeated squaring; a negative exponent gives 0 unless the base is 1 or -1.
template <Integer T>
T integer_power(T base, T exponent) {
  if (exponent < 0) {
    const bool odd = exponent % 2 != 0;
    return base == 1 ? 1 : (base == T(-1) ? (odd ? base : 1) : 0);
  }
  T result = 1;
  for (; exponent != 0; exponent /= 2) {
    if (exponent % 2 != 0) {
      result *= base;
    }
    base *= base;
  }
  return result;
}

constexpr auto power = loops<2>([]<Number T>(T a, T b) {
  if constexpr (Integer<T>) {
    return integer_power(a, b);
  } else {
    return std::pow(a, b);
  }
});

Status check_integer_exponent(const Args& args, DType common) {
  if (!is_floating(common) && !is_complex(common) && args.scalar(1).to<double>() < 0) {
    return invalid({"integers to negative integer powers are not allowed"});
  }
  return Ok{};
}

constexpr auto maximum = loops<2>([](Real auto a, Real auto b) { return larger(a, b); });
constexpr auto minimum = loops<2>([](Real auto a, Real auto b) { return smaller(a, b); });
constexpr auto fmax =
    loops<2>([]<Real T>(T a, T b) { return is_nan(a) ? b : (is_nan(b) ? a : larger(a, b)); });
constexpr auto fmin =
    loops<2>([]<Real T>(T a, T b) { return is_nan(a) ? b : (is_nan(b) ? a : smaller(a, b)); });
constexpr auto copysign =
    loops<2>([](Floating auto a, Floating auto b) { return std::copysign(a, b); });
constexpr auto heaviside =
    loops<2>([]<Real T>(T x, T at_zero) { return x == 0 ? at_zero : static_cast<T>(x > 0); });
constexpr auto xlogy = loops<2>(
    []<Floating T>(T x, T y) { return std::isnan(y) ? y : (x == 0 ? T(0) : x * std::log(y)); });
constexpr auto xlog1py = loops<2>(
    []<Floating T>(T x, T y) { return std::isnan(y) ? y : (x == 0 ? T(0) : x * std::log1p(y)); });
constexpr auto logaddexp = loops<2>([]<Inexact T>(T a, T b) {
  if constexpr (ComplexNumber<T>) {
    const T high = a.real() >= b.real() ? a : b, low = a.real() >= b.real() ? b : a;
    return high + std::log(T(1) + std::exp(low - high));
  } else {
    const T high = larger(a, b);
    return std::isinf(a) && a == b ? a : high + std::log1p(std::exp(-std::abs(a - b)));
  }
});
constexpr auto logaddexp2 = loops<2>([]<Floating T>(T a, T b) {
  constexpr T kLog2E = static_cast<T>(1.4426950408889634074);
  return std::isinf(a) && a == b ? a
                                 : larger(a, b) + std::log1p(std::exp2(-std::abs(a - b))) * kLog2E;
});

// std::gcd has no answer for the minimum of int64_t.
template <Integer T>
T greatest_divisor(T a, T b) {
  while (b != 0) {
    const T rest = modulo(a, b);
    a = b;
    b = rest;
  }
  return static_cast<int64_t>(a) < 0 ? -a : a;
}
constexpr auto gcd =
    loops<2>([](Integer auto a, Integer auto b) { return greatest_divisor(a, b); });
constexpr auto lcm = loops<2>([]<Integer T>(T a, T b) {
  const T g = greatest_divisor(a, b);
  const T multiple = g == 0 ? 0 : divide(a, g) * b;
  return static_cast<int64_t>(multiple) < 0 ? -multiple : multiple;
});

constexpr auto complex_of_parts =
    loops<2>([]<Floating T>(T a, T b) { return std::complex<T>(a, b); });
constexpr auto polar = loops<2>([]<Floating T>(T length, T angle) {
  return std::complex<T>(length * std::cos(angle), length * std::sin(angle));
});

Status check_parts(const Args& args, DType) {
  if (args.tensor(0).dtype() != args.tensor(1).dtype()) {
    return invalid({"expected object of scalar type ", args.tensor(0).dtype(), " but got ",
                    args.tensor(1).dtype(), " for second argument"});
  }
  return Ok{};
}

constexpr auto zeta =
    loops<2>([](Floating auto a, Floating auto b) { return in_double(hurwitz_zeta, a, b); });
constexpr auto igamma =
    loops<2>([](Floating auto a, Floating auto b) { return in_double(gamma_lower, a, b); });
constexpr auto igammac =
    loops<2>([](Floating auto a, Floating auto b) { return in_double(gamma_upper, a, b); });

constexpr DTypes kPower = kReals | kComplex;
constexpr DTypes kSingles = set_of(DType::f32, DType::f64);

constexpr Elementwise rows[] = {
    {"aten::pow.Tensor_Tensor_out", "oo>t", power, same, kPower},
    {"aten::pow.Tensor_Scalar_out", "os>t", power, same, kPower, nullptr, false,
     check_integer_exponent},
    {"aten::pow.Scalar_out", "so>t", power, same, kPower},
    {"aten::maximum.out", "oo>t", maximum, same, kReals | kBool},
    {"aten::max.out", "oo>t", maximum, same, kReals | kBool},
    {"aten::minimum.out", "oo>t", minimum, same, kReals | kBool},
    {"aten::min.out", "oo>t", minimum, same, kReals | kBool},
    {"aten::fmax.out", "oo>t", fmax, same, kReals | kBool},
    {"aten::fmin.out", "oo>t", fmin, same, kReals | kBool},
    {"aten::atan2.out", "oo>t",
     loops<2>([](Floating auto a, Floating auto b) { return std::atan2(a, b); }), to_float,
     kFloats},
    {"aten::hypot.out", "oo>t",
     loops<2>([](Floating auto a, Floating auto b) { return std::hypot(a, b); }), same, kFloats},
    {"aten::copysign.out", "oo>t", copysign, to_float, kFloats},
    {"aten::copysign.Scalar_out", "oo>t", copysign, to_float, kFloats},
    {"aten::xlogy.OutTensor", "oo>t", xlogy, to_float, kFloats},
    {"aten::xlogy.OutScalar_Self", "oo>t", xlogy, to_float, kFloats},
    {"aten::xlogy.OutScalar_Other", "oo>t", xlogy, to_float, kFloats},
    {"aten::special_xlogy.out", "oo>t", xlogy, to_float, kFloats},
    {"aten::special_xlogy.self_scalar_out", "oo>t", xlogy, to_float, kFloats},
    {"aten::special_xlogy.other_scalar_out", "oo>t", xlogy, to_float, kFloats},
    {"aten::special_xlog1py.out", "oo>t", xlog1py, to_float, kFloats},
    {"aten::special_xlog1py.self_scalar_out", "oo>t", xlog1py, to_float, kFloats},
    {"aten::special_xlog1py.other_scalar_out", "oo>t", xlog1py, to_float, kFloats},
    {"aten::logaddexp.out", "oo>t", logaddexp, same, kFloats | kComplex},
    {"aten::logaddexp2.out", "oo>t", logaddexp2, same, kFloats},
    {"aten::gcd.out", "oo>t", gcd, same, kInts},
    {"aten::lcm.out", "oo>t", lcm, same, kInts},
    {"aten::complex.out", "tt>t", complex_of_parts, same, kFloats - set_of(DType::bf16), nullptr,
     false, check_parts},
    {"aten::polar.out", "tt>t", polar, same, kFloats - set_of(DType::bf16), nullptr, false,
     check_parts},
    {"aten::special_zeta.out", "oo>t", zeta, to_float, kSingles},
    {"aten::special_zeta.self_scalar_out", "oo>t", zeta, to_float, kSingles},
    {"aten::special_zeta.other_scalar_out", "oo>t", zeta, to_float, kSingles},
    {"aten::igamma.out", "oo>t", igamma, same, kFloats},
    {"aten::special_gammainc.out", "oo>t", igamma, same, kFloats},
    {"aten::igammac.out", "oo>t", igammac, same, kFloats},
    {"aten::special_gammaincc.out", "oo>t", igammac, same, kFloats},
};
constexpr auto row_entries = entries(rows);

// heaviside does not promote.
Status check_heaviside(const Args& args) {
  if (args.tensor(0).dtype() != args.tensor(1).dtype()) {
    return invalid({"heaviside is not yet implemented for tensors with different dtypes"});
  }
  return Ok{};
}

Status run_heaviside(Context& ctx, const Args& args) {
  const Operand operands[] = {{args.tensor(0), {}}, {args.tensor(1), {}}};
  return map(ctx, {heaviside, args.tensor(0).dtype(), operands}, args.out(0));
}

// The neighbour in the tensor's own precision: halves step in their bits.
template <class Precision>
struct NextAfter {
  template <Floating T>
  T operator()(T from, T to) const {
    if (std::isnan(from) || std::isnan(to)) {
      return from + to;
    }
    if (from == to) {
      return to;
    }
    Precision p(static_cast<float>(from));
    if (from == 0) {
      p.bits = static_cast<uint16_t>(to > 0 ? 0x0001 : 0x8001);
    } else {
      p.bits = static_cast<uint16_t>(p.bits + ((to > from) == (from > 0) ? 1 : -1));
    }
    return static_cast<T>(static_cast<float>(p));
  }
};

Status check_nextafter(const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType dtype, common_dtype(args, 0, 2));
  return kFloats.has(dtype) ? check_cast(dtype, args.out(0)) : Status(not_implemented(dtype));
}

Status run_nextafter(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType dtype, common_dtype(args, 0, 2));
  const Loops* chosen =
      loops<2>([](Floating auto a, Floating auto b) { return std::nextafter(a, b); });
  if (dtype == DType::f16 || dtype == DType::bf16) {
    chosen = dtype == DType::f16 ? loops<2>(NextAfter<Half>{}) : loops<2>(NextAfter<BFloat16>{});
  }
  const Operand operands[] = {{args.tensor(0), {}}, {args.tensor(1), {}}};
  return map(ctx, {chosen, dtype, operands}, args.out(0));
}

// self * 2^other, where the power is made first, in a type of its own.
Result<DType> power_of_two_dtype(const Tensor& other) {
  const DType dtype = other.dtype();
  return is_floating(dtype) || is_complex(dtype) ? dtype : DType::f32;
}

Result<DType> ldexp_dtype(const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType power_dtype, power_of_two_dtype(args.tensor(1)));
  ResultType type;
  BP_TRY(type.add(args.tensor(0)));
  BP_TRY(args.tensor(1).dim() > 0 ? type.add(power_dtype) : type.add_zero_dim(power_dtype));
  return type.get();
}

Status check_ldexp(const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType dtype, ldexp_dtype(args));
  return (kFloats | kComplex).has(dtype) ? check_cast(dtype, args.out(0))
                                         : Status(not_implemented(dtype));
}

Status run_ldexp(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType dtype, ldexp_dtype(args));
  const Operand operands[] = {{args.tensor(0), {}}, {args.tensor(1), {}}};
  constexpr auto scaled =
      loops<2>([]<Inexact T>(T a, T b) { return multiply(a, T(std::pow(T(2), b))); });
  return map(ctx, {scaled, dtype, operands}, args.out(0));
}

// In double, or complex double, whatever the operands are; out must be just that.
Result<DType> float_power_dtype(const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType common, common_dtype(args, 0, 2));
  return is_complex(common) ? DType::c128 : DType::f64;
}

Status check_float_power(const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType dtype, float_power_dtype(args));
  if (args.out(0).dtype() != dtype) {
    return invalid({"the output given to float_power has dtype ", args.out(0).dtype(),
                    " but the operation's result requires dtype ", dtype});
  }
  return Ok{};
}

Status run_float_power(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType dtype, float_power_dtype(args));
  const Operand operands[] = {operand_of(args, 0), operand_of(args, 1)};
  return map(ctx, {power, dtype, operands}, args.out(0));
}

constexpr Entry others[] = {
    {"aten::heaviside.out", "tt>t", run_heaviside, kReals | kBool, BP_KERNEL_MAY_ALIAS,
     check_heaviside},
    {"aten::nextafter.out", "tt>t", run_nextafter, kAll, BP_KERNEL_MAY_ALIAS, check_nextafter},
    {"aten::ldexp.out", "tt>t", run_ldexp, kAll, BP_KERNEL_MAY_ALIAS, check_ldexp},
    {"aten::ldexp.Tensor_out", "tt>t", run_ldexp, kAll, BP_KERNEL_MAY_ALIAS, check_ldexp},
    {"aten::float_power.Tensor_Tensor_out", "oo>t", run_float_power, kAll, BP_KERNEL_MAY_ALIAS,
     check_float_power},
    {"aten::float_power.Tensor_Scalar_out", "oo>t", run_float_power, kAll, BP_KERNEL_MAY_ALIAS,
     check_float_power},
    {"aten::float_power.Scalar_out", "oo>t", run_float_power, kAll, BP_KERNEL_MAY_ALIAS,
     check_float_power},
};

}  // namespace

extern const std::span<const Entry> binary_math_kernels = row_entries;
extern const std::span<const Entry> power_kernels = others;

}  // namespace backplane::portable
