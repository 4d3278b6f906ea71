// torch.special, and functions with parameters of other kinds than numbers.
#include <limits>
#include <numbers>

#include "portable/elementwise/arithmetic.hpp"
#include "portable/elementwise/special_functions.hpp"
#include "portable/small_float.hpp"

namespace backplane::portable {
namespace {

using Function = double (*)(double);

template <Function F>
constexpr auto in_doubles = loops<1>([](Floating auto x) { return in_double(F, x); });

constexpr DTypes kSingles = set_of(DType::f32, DType::f64);

constexpr Elementwise rows[] = {
    {"aten::special_i0e.out", "t>t", in_doubles<bessel_i0e>, to_float, kFloats},
    {"aten::special_i1.out", "t>t", in_doubles<bessel_i1>, to_float, kFloats},
    {"aten::special_i1e.out", "t>t", in_doubles<bessel_i1e>, to_float, kFloats},
    {"aten::special_ndtri.out", "t>t", in_doubles<normal_quantile>, to_float, kSingles},
    {"aten::special_log_ndtr.out", "t>t", in_doubles<log_normal_cdf>, to_float, kSingles},
    {"aten::special_entr.out", "t>t", in_doubles<entropy>, to_float, kFloats},
    {"aten::special_erfcx.out", "t>t", in_doubles<erfcx>, to_float, kSingles},
    {"aten::special_bessel_j0.out", "t>t", in_doubles<bessel_j0>, to_float, kSingles},
    {"aten::special_bessel_j1.out", "t>t", in_doubles<bessel_j1>, to_float, kSingles},
    {"aten::special_bessel_y0.out", "t>t", in_doubles<bessel_y0>, to_float, kSingles},
    {"aten::special_bessel_y1.out", "t>t", in_doubles<bessel_y1>, to_float, kSingles},
    {"aten::special_modified_bessel_i0.out", "t>t", in_doubles<bessel_i0>, to_float, kSingles},
    {"aten::special_modified_bessel_i1.out", "t>t", in_doubles<bessel_i1>, to_float, kSingles},
    {"aten::special_modified_bessel_k0.out", "t>t", in_doubles<bessel_k0>, to_float, kSingles},
    {"aten::special_modified_bessel_k1.out", "t>t", in_doubles<bessel_k1>, to_float, kSingles},
    {"aten::special_scaled_modified_bessel_k0.out", "t>t", in_doubles<bessel_k0e>, to_float,
     kSingles},
    {"aten::special_scaled_modified_bessel_k1.out", "t>t", in_doubles<bessel_k1e>, to_float,
     kSingles},
    {"aten::special_spherical_bessel_j0.out", "t>t", in_doubles<spherical_j0>, to_float, kSingles},
    {"aten::special_airy_ai.out", "t>t", in_doubles<airy_ai>, to_float, kSingles},
};
constexpr auto row_entries = entries(rows);

// The dtype of a function that makes floats of integers.
DType floating(DType dtype) {
  return is_floating(dtype) ? dtype : DType::f32;
}

Status check_floating(const Args& args, int64_t self) {
  const DType dtype = floating(args.tensor(self).dtype());
  if (!kFloats.has(dtype) || is_complex(args.tensor(self).dtype())) {
    return not_implemented(args.tensor(self).dtype());
  }
  return check_cast(dtype, args.out(0));
}

Status run_floating(Context& ctx, const Args& args, int64_t self, const Loops* loops,
                    std::initializer_list<Scalar> numbers) {
  const DType dtype = floating(args.tensor(self).dtype());
  const Params params(dtype, numbers);
  const Operand operands[] = {{args.tensor(self), {}}};
  return map(ctx, {loops, dtype, operands, params.data()}, args.out(0));
}

// PyTorch composes the normal distribution of three operators, each of which rounds: its lower
// tail is coarse, and halves make it coarser.
template <class Precision>
struct NormalSteps {
  template <Floating T>
  T operator()(T x) const {
    const auto own = [](T value) {
      if constexpr (std::is_void_v<Precision>) {
        return value;
      } else {
        return static_cast<T>(static_cast<float>(Precision(static_cast<float>(value))));
      }
    };
    const T scaled = own(x / std::numbers::sqrt2_v<T>);
    return own(1 + own(std::erf(scaled))) * T(0.5);
  }
};
Status check_ndtr(const Args& args) {
  return check_floating(args, 0);
}
Status run_ndtr(Context& ctx, const Args& args) {
  const Loops* chosen = loops<1>(NormalSteps<void>{});
  if (kHalfs.has(args.tensor(0).dtype())) {
    chosen = args.tensor(0).dtype() == DType::f16 ? loops<1>(NormalSteps<Half>{})
                                                  : loops<1>(NormalSteps<BFloat16>{});
  }
  return run_floating(ctx, args, 0, chosen, {});
}

// p: eps, or less than 0 for none
constexpr auto log_odds = loops<1>([]<Floating T>(T x, const T* p) {
  const T z = p[0] < 0 ? x : (x < p[0] ? p[0] : (x > 1 - p[0] ? 1 - p[0] : x));
  return std::log(z / (1 - z));
});
Status check_logit(const Args& args) {
  return check_floating(args, 0);
}
Status run_logit(Context& ctx, const Args& args) {
  return run_floating(ctx, args, 0, log_odds, {Scalar(args.floating_or(1, -1.0))});
}

constexpr auto polygamma_n = loops<1>([]<Floating T>(T x, const T* p) {
  return static_cast<T>(polygamma(static_cast<double>(p[0]), static_cast<double>(x)));
});
Status check_polygamma(const Args& args) {
  if (args.integer(0) < 0) {
    return invalid({"polygamma(n, x) does not support negative n, got ", args.integer(0)});
  }
  return check_floating(args, 1);
}
Status run_polygamma(Context& ctx, const Args& args) {
  return run_floating(ctx, args, 1, polygamma_n, {Scalar(args.integer(0))});
}

// The multivariate log gamma of p dimensions.
constexpr auto multigamma = loops<1>([]<Floating T>(T x, const T* p) {
  const auto dimensions = static_cast<double>(p[0]);
  double sum = dimensions * (dimensions - 1) / 4 * std::log(M_PI);
  for (double j = 0; j < dimensions; ++j) {
    sum += log_gamma(static_cast<double>(x) - j / 2);
  }
  return static_cast<T>(sum);
});
Status check_multigamma(const Args& args) {
  if (args.integer(1) < 1 || args.integer(1) > 1 << 20) {
    return invalid({"p has to be at least 1 (and at most 1048576), got ", args.integer(1)});
  }
  if (args.tensor(0).dtype() == DType::boolean) {
    return not_implemented(DType::boolean);
  }
  return check_floating(args, 0);
}
Status run_multigamma(Context& ctx, const Args& args) {
  return run_floating(ctx, args, 0, multigamma, {Scalar(args.integer(1))});
}

// p: what stands for NaN, infinity, minus infinity
constexpr auto replace = loops<1>([]<Inexact T>(T x, const T* p) {
  const auto part = [p](auto v) -> decltype(v) {
    if (std::isnan(v)) {
      return std::real(p[0]);
    }
    return std::isinf(v) ? std::real(v > 0 ? p[1] : p[2]) : v;
  };
  if constexpr (ComplexNumber<T>) {
    return T(part(x.real()), part(x.imag()));
  } else {
    return part(x);
  }
});
constexpr auto keep = loops<1>([](Integer auto x) { return x; });

double largest_of(DType dtype) {
  switch (real_of(dtype)) {
    case DType::f16:
      return 65504;
    case DType::bf16:
      return 0x1.fep127;
    case DType::f32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

Status run_nan_to_num(Context& ctx, const Args& args) {
  const DType dtype = args.tensor(0).dtype();
  const bool inexact = is_floating(dtype) || is_complex(dtype);
  const double largest = largest_of(dtype);
  const Params params(dtype,
                      {Scalar(args.floating_or(1, 0.0)), Scalar(args.floating_or(2, largest)),
                       Scalar(args.floating_or(3, -largest))});
  const Operand operands[] = {{args.tensor(0), {}}};
  return map(ctx, {inexact ? replace : keep, dtype, operands, params.data()}, args.out(0));
}

constexpr auto mantissa = loops<1>([](Floating auto x) {
  int exponent = 0;
  return std::frexp(x, &exponent);
});
constexpr auto exponent = loops<1>([]<Floating T>(T x) {
  int result = 0;
  static_cast<void>(std::frexp(x, &result));
  return static_cast<T>(std::isfinite(x) ? result : 0);
});
Status run_frexp(Context& ctx, const Args& args) {
  const Operand operands[] = {{args.tensor(0), {}}};
  BP_TRY(map(ctx, {mantissa, args.tensor(0).dtype(), operands}, args.out(0)));
  return map(ctx, {exponent, args.tensor(0).dtype(), operands}, args.out(1));
}

constexpr DTypes kNanable = kNumbers | kUnsigned;
constexpr uint32_t kAlias = BP_KERNEL_MAY_ALIAS;

constexpr Entry others[] = {
    {"aten::special_ndtr.out", "t>t", run_ndtr, kAll, kAlias, check_ndtr},
    {"aten::logit.out", "tF>t", run_logit, kAll, kAlias, check_logit},
    {"aten::special_logit.out", "tF>t", run_logit, kAll, kAlias, check_logit},
    {"aten::polygamma.out", "it>t", run_polygamma, kAll, kAlias, check_polygamma},
    {"aten::special_polygamma.out", "it>t", run_polygamma, kAll, kAlias, check_polygamma},
    {"aten::mvlgamma.out", "ti>t", run_multigamma, kAll, kAlias, check_multigamma},
    {"aten::special_multigammaln.out", "ti>t", run_multigamma, kAll, kAlias, check_multigamma},
    {"aten::nan_to_num.out", "tFFF>t", run_nan_to_num, kNanable, kAlias},
    {"aten::frexp.Tensor_out", "t>tt", run_frexp, kFloats},
};

}  // namespace

extern const std::span<const Entry> special_kernels = row_entries;
extern const std::span<const Entry> special_parameter_kernels = others;

}  // namespace backplane::portable
