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

constexpr DTypes kPower = kReals | kComplex;

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
// 32-bit products wrap before their sign goes; narrower ones are made in 64 bits here and in 32 by
// PyTorch, which never overflow.
template <class Width>
struct Lcm {
  template <Integer T>
  T operator()(T a, T b) const {
    const T g = greatest_divisor(a, b);
    const auto multiple = static_cast<Width>(g == 0 ? 0 : divide(a, g) * b);
    return static_cast<T>(multiple < 0 ? -multiple : multiple);
  }
};

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

constexpr DTypes kSingles = set_of(DType::f32, DType::f64);

constexpr Elementwise rows[] = {
    {"aten::pow.Tensor_Tensor_out", "oo>t", power, same, kPower},
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

Status check_lcm(const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType dtype, common_dtype(args, 0, 2));
  return kInts.has(dtype) ? check_cast(dtype, args.out(0)) : Status(not_implemented(dtype));
}

Status run_lcm(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType dtype, common_dtype(args, 0, 2));
  const Operand operands[] = {{args.tensor(0), {}}, {args.tensor(1), {}}};
  return map(
      ctx,
      {dtype == DType::i32 ? loops<2>(Lcm<int32_t>{}) : loops<2>(Lcm<int64_t>{}), dtype, operands},
      args.out(0));
}

// self * 2^other, where the power is made first, in a type of its own: `Precision`, if not void.
template <class Precision>
struct Scaled {
  template <Inexact T>
  T operator()(T a, T b) const {
    const T scale = std::pow(T(2), b);
    if constexpr (std::is_void_v<Precision> || ComplexNumber<T>) {
      return multiply(a, scale);
    } else {
      return a * static_cast<T>(static_cast<float>(Precision(static_cast<float>(scale))));
    }
  }
};

DType power_of_two_dtype(const Tensor& other) {
  const DType dtype = other.dtype();
  return is_floating(dtype) || is_complex(dtype) ? dtype : DType::f32;
}

Result<DType> ldexp_dtype(const Args& args) {
  const DType power_dtype = power_of_two_dtype(args.tensor(1));
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
  const Loops* scaled = loops<2>(Scaled<void>{});
  if (kHalfs.has(power_of_two_dtype(args.tensor(1)))) {
    const bool half = args.tensor(1).dtype() == DType::f16;
    scaled = half ? loops<2>(Scaled<Half>{}) : loops<2>(Scaled<BFloat16>{});
  }
  return map(ctx, {scaled, dtype, operands}, args.out(0));
}

// In double, or complex double, whatever the operands are; out must be just that.
DType float_power_dtype(const Args& args) {
  for (int64_t i = 0; i < 2; ++i) {
    if (is_complex(args.is_tensor(i) ? args.tensor(i).dtype() : args.scalar(i).dtype())) {
      return DType::c128;
    }
  }
  return DType::f64;
}

Status check_float_power(const Args& args) {
  const DType dtype = float_power_dtype(args);
  if (args.out(0).dtype() != dtype) {
    return invalid({"the output given to float_power has dtype ", args.out(0).dtype(),
                    " but the operation's result requires dtype ", dtype});
  }
  return Ok{};
}

Status run_float_power(Context& ctx, const Args& args) {
  const Operand operands[] = {operand_of(args, 0), operand_of(args, 1)};
  return map(ctx, {power, float_power_dtype(args), operands}, args.out(0));
}

// Exponents that PyTorch computes otherwise than by pow: the results differ at -0 and -inf.
constexpr auto one = loops<1>([]<Number T>(T) { return T(1); });
constexpr auto identity = loops<1>([](Number auto x) { return x; });
constexpr auto square = loops<1>([](Number auto x) { return multiply(x, x); });
constexpr auto cube = loops<1>([](Number auto x) { return multiply(multiply(x, x), x); });
constexpr auto root = loops<1>([](Inexact auto x) { return std::sqrt(x); });
constexpr auto inverse = loops<1>([]<Inexact T>(T x) { return divide(T(1), x); });
constexpr auto inverse_root =
    loops<1>([]<Inexact T>(T x) { return divide(T(1), T(std::sqrt(x))); });
constexpr auto inverse_square =
    loops<1>([]<Inexact T>(T x) { return divide(T(1), multiply(x, x)); });

struct Exponent {
  double value;
  const Loops* loops;
};
constexpr Exponent exponents[] = {
    {0, one},    {1, identity}, {2, square},          {3, cube},
    {0.5, root}, {-1, inverse}, {-0.5, inverse_root}, {-2, inverse_square}};

// The loops for a number as exponent; null if pow itself is to be used.
const Loops* power_by(const Scalar& exponent, DType dtype) {
  for (const Exponent& e : exponents) {
    const bool fractional = e.value != std::trunc(e.value);  // float16 takes no roots
    if (exponent.to<Complex128>() == Complex128(e.value) && !(fractional && dtype == DType::f16)) {
      return e.loops;
    }
  }
  return nullptr;
}

Status check_power(const Args& args) {
  const Scalar exponent = args.scalar(1);
  BP_ASSIGN_OR_RETURN(const DType dtype, common_dtype(args, 0, 2));
  const Loops* const special = power_by(exponent, dtype);
  if (special != one && special != identity) {
    if (!kPower.has(dtype)) {
      return not_implemented(dtype);
    }
    if (is_integral(dtype) && exponent.to<double>() < 0) {
      return invalid({"integers to negative integer powers are not allowed"});
    }
    if (!exponent.fits(dtype)) {
      return invalid({"value cannot be converted to type ", dtype, " without overflow"});
    }
  }
  return check_cast(dtype, args.out(0));
}

Status run_power(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType dtype, common_dtype(args, 0, 2));
  if (const Loops* const special = power_by(args.scalar(1), dtype); special != nullptr) {
    const Operand operands[] = {operand_of(args, 0)};
    return map(ctx, {special, dtype, operands}, args.out(0));
  }
  const Operand operands[] = {operand_of(args, 0), operand_of(args, 1)};
  return map(ctx, {power, dtype, operands}, args.out(0));
}

constexpr Entry others[] = {
    {"aten::pow.Tensor_Scalar_out", "ts>t", run_power, kAll, BP_KERNEL_MAY_ALIAS, check_power},
    {"aten::lcm.out", "tt>t", run_lcm, kAll, BP_KERNEL_MAY_ALIAS, check_lcm},
    {"aten::heaviside.out", "tt>t", run_heaviside, kReals | kBool, BP_KERNEL_MAY_ALIAS,
     check_heaviside},
    {"aten::nextafter.out", "tt>t", run_nextafter, kAll, BP_KERNEL_MAY_ALIAS, check_nextafter},
    {"aten::ldexp.out", "tt>t", run_ldexp, kAll, BP_KERNEL_MAY_ALIAS, check_ldexp},
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
