// Activations.
#include <numbers>

#include "portable/elementwise/arithmetic.hpp"

namespace backplane::portable {
namespace {

template <Floating T>
T logistic(T x) {
  return 1 / (1 + std::exp(-x));
}

constexpr auto relu = loops<1>([]<Real T>(T x) { return x < 0 ? T(0) : x; });
constexpr auto relu6 = loops<1>([]<Real T>(T x) { return x < 0 ? T(0) : (x > 6 ? T(6) : x); });
constexpr auto hardtanh =
    loops<1>([]<Real T>(T x, const T* p) { return x < p[0] ? p[0] : (x > p[1] ? p[1] : x); });
constexpr auto silu = loops<1>([]<Inexact T>(T x) { return divide(x, T(1) + std::exp(-x)); });
constexpr auto mish =
    loops<1>([](Floating auto x) { return x * std::tanh(std::log1p(std::exp(x))); });
constexpr auto hardsigmoid =
    loops<1>([]<Floating T>(T x) { return smaller(larger(x + 3, T(0)), T(6)) / 6; });
constexpr auto hardswish =
    loops<1>([]<Floating T>(T x) { return x * smaller(larger(x + 3, T(0)), T(6)) / 6; });
constexpr auto leaky_relu =
    loops<1>([]<Floating T>(T x, const T* p) { return x > 0 ? x : x * p[0]; });
// p: alpha, scale, input scale
constexpr auto elu = loops<1>([]<Floating T>(T x, const T* p) {
  return x < 0 ? std::expm1(x * p[2]) * (p[0] * p[1]) : x * p[1];
});
constexpr auto softplus = loops<1>([]<Floating T>(T x, const T* p) {
  return x * p[0] > p[1] ? x : std::log1p(std::exp(x * p[0])) / p[0];
});
constexpr auto softshrink = loops<1>([]<Floating T>(T x, const T* p) {
  return x > p[0] ? x - p[0] : (x < -p[0] ? x + p[0] : x * 0);
});
constexpr auto hardshrink =
    loops<1>([]<Floating T>(T x, const T* p) { return x >= -p[0] && x <= p[0] ? T(0) : x; });
constexpr auto threshold = loops<1>([]<Real T>(T x, const T* p) { return x <= p[0] ? p[1] : x; });
constexpr auto log_sigmoid =
    loops<1>([]<Floating T>(T x) { return smaller(x, T(0)) - std::log1p(std::exp(-std::abs(x))); });
constexpr auto gelu = loops<1>(
    []<Floating T>(T x) { return x * T(0.5) * (1 + std::erf(x / std::numbers::sqrt2_v<T>)); });
constexpr auto gelu_tanh = loops<1>([]<Floating T>(T x) {
  const T scale = std::numbers::sqrt2_v<T> * std::numbers::inv_sqrtpi_v<T>;
  return T(0.5) * x * (1 + std::tanh(scale * (x + T(0.044715) * x * x * x)));
});
constexpr auto prelu = loops<2>([]<Floating T>(T x, T weight) { return x > 0 ? x : x * weight; });

Status check_hardtanh(const Args& args, DType common) {
  if (common == DType::u8 && (args.scalar(1).to<double>() < 0 || args.scalar(2).to<double>() < 0)) {
    return invalid({"cannot do hardtanh on an unsigned type with negative limits"});
  }
  return Ok{};
}

Status check_softshrink(const Args& args, DType) {
  const double lambda = args.scalar(1).to<double>();
  return lambda >= 0
             ? Status(Ok{})
             : Status(invalid({"lambda must be greater or equal to 0, but found to be ", lambda}));
}

Status check_real_params(const Args& args, DType common) {
  for (int64_t i = 1; i < args.num_inputs(); ++i) {
    if (args.is_number(i) && !args.scalar(i).fits(common)) {
      return invalid({"value cannot be converted to type ", common, " without overflow"});
    }
  }
  return Ok{};
}

constexpr Elementwise rows[] = {
    {"aten::relu.out", "t>t", relu, same, kReals},
    {"aten::relu6.out", "t>t", relu6, same, kReals},
    {"aten::hardtanh.out", "tss>t", hardtanh, same, kReals, nullptr, false, check_hardtanh},
    {"aten::silu.out", "t>t", silu, same, kFloats | kComplex},
    {"aten::mish.out", "t>t", mish, same, kFloats},
    {"aten::hardsigmoid.out", "t>t", hardsigmoid, same, kFloats},
    {"aten::hardswish.out", "t>t", hardswish, same, kFloats},
    {"aten::leaky_relu.out", "ts>t", leaky_relu, same, kFloats},
    {"aten::elu.out", "tsss>t", elu, same, kFloats},
    {"aten::softplus.out", "tss>t", softplus, same, kFloats},
    {"aten::softshrink.out", "ts>t", softshrink, same, kFloats, nullptr, false, check_softshrink},
    {"aten::hardshrink.out", "ts>t", hardshrink, same, kFloats},
    {"aten::threshold.out", "tss>t", threshold, same, kReals, nullptr, false, check_real_params},
    {"aten::log_sigmoid.out", "t>t", log_sigmoid, same, kFloats},
    {"aten::_prelu_kernel.out", "tt>t", prelu, same, kFloats},
};
constexpr auto row_entries = entries(rows);

Status activate(Context& ctx, const Args& args, const Loops* loops, const Params& params) {
  const Operand operands[] = {{args.tensor(0), {}}};
  return map(ctx, {loops, args.tensor(0).dtype(), operands, params.data()}, args.out(0));
}

Status check_gelu(const Args& args) {
  const std::string_view how = args.string(1);
  return how == "none" || how == "tanh"
             ? Status(Ok{})
             : Status(
                   invalid({"approximate argument must be either none or tanh, not '", how, "'"}));
}

Status run_gelu(Context& ctx, const Args& args) {
  return activate(ctx, args, args.string(1) == "tanh" ? gelu_tanh : gelu, {DType::f32, {}});
}

Status run_selu(Context& ctx, const Args& args) {
  const Params params(args.tensor(0).dtype(),
                      {Scalar(1.6732632423543772848170429916717),
                       Scalar(1.0507009873554804934193349852946), Scalar(1.0)});
  return activate(ctx, args, elu, params);
}

Status check_celu(const Args& args) {
  return args.scalar(1).to<double>() != 0
             ? Status(Ok{})
             : Status(invalid({"ZeroDivisionError: alpha cannot be 0 for CELU"}));
}

Status run_celu(Context& ctx, const Args& args) {
  const double alpha = args.scalar(1).to<double>();
  return activate(ctx, args, elu,
                  {args.tensor(0).dtype(), {Scalar(alpha), Scalar(1.0), Scalar(1 / alpha)}});
}

// PyTorch's second result is what its backward wants: exp(-|x|).
Status run_log_sigmoid_forward(Context& ctx, const Args& args) {
  BP_TRY(activate(ctx, args, log_sigmoid, {DType::f32, {}}));
  constexpr auto buffer = loops<1>([](Floating auto x) { return std::exp(-std::abs(x)); });
  const Operand operands[] = {{args.tensor(0), {}}};
  return map(ctx, {buffer, args.tensor(0).dtype(), operands}, args.out(1));
}

constexpr Entry others[] = {
    {"aten::gelu.out", "tz>t", run_gelu, kFloats, BP_KERNEL_MAY_ALIAS, check_gelu},
    {"aten::selu.out", "t>t", run_selu, kFloats, BP_KERNEL_MAY_ALIAS},
    {"aten::celu.out", "ts>t", run_celu, kFloats, BP_KERNEL_MAY_ALIAS, check_celu},
    {"aten::log_sigmoid_forward.output", "t>tt", run_log_sigmoid_forward, kFloats},
};

}  // namespace

extern const std::span<const Entry> activation_kernels = row_entries;
extern const std::span<const Entry> gelu_kernels = others;

}  // namespace backplane::portable
