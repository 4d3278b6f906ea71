// Unary operators with a meaning for integers: signs, rounding, parts of numbers, predicates.
#include "portable/elementwise/arithmetic.hpp"
#include "portable/small_float.hpp"

namespace backplane::portable {
namespace {

constexpr DTypes kNoBool = kNumbers - kBool;
constexpr DTypes kWhole = kReals | kUnsigned;

constexpr auto identity = loops<1>([](Number auto x) { return x; });
constexpr auto absolute = loops<1>([]<Number T>(T x) {
  if constexpr (Integer<T>) {
    return static_cast<int64_t>(x) < 0 ? -x : x;
  } else {
    return std::abs(x);
  }
});
constexpr auto negative = loops<1>([](Number auto x) { return -x; });
constexpr auto sign = loops<1>([]<Real T>(T x) { return static_cast<T>((x > 0) - (x < 0)); });
constexpr auto sgn = loops<1>([]<Number T>(T x) {
  if constexpr (ComplexNumber<T>) {
    const auto magnitude = std::abs(x);
    return magnitude == 0 ? T(0) : T(x.real() / magnitude, x.imag() / magnitude);
  } else {
    return static_cast<T>((x > 0) - (x < 0));
  }
});
constexpr auto signbit = loops<1>([]<Real T>(T x) {
  if constexpr (Floating<T>) {
    return std::signbit(x);
  } else {
    return x < 0;
  }
});
constexpr auto square = loops<1>([](Number auto x) { return multiply(x, x); });

// Integers are whole already.
template <class F>
struct WholeUnlessFloating {
  template <Real T>
  T operator()(T x) const {
    if constexpr (Floating<T>) {
      return F{}(x);
    } else {
      return x;
    }
  }
};
template <class F>
constexpr const Loops* rounding(F) {
  return loops<1>(WholeUnlessFloating<F>{});
}
constexpr auto ceiling = rounding([](auto x) { return std::ceil(x); });
constexpr auto floor = rounding([](auto x) { return std::floor(x); });
constexpr auto trunc = rounding([](auto x) { return std::trunc(x); });
constexpr auto round = rounding([](auto x) { return std::nearbyint(x); });  // ties to even
constexpr auto frac = loops<1>([](Floating auto x) { return x - std::trunc(x); });

constexpr auto real = loops<1>([]<Number T>(T x) {
  if constexpr (ComplexNumber<T>) {
    return x.real();
  } else {
    return x;
  }
});
constexpr auto imag = loops<1>([](ComplexNumber auto x) { return x.imag(); });
constexpr auto conjugate = loops<1>([]<Number T>(T x) {
  if constexpr (ComplexNumber<T>) {
    return std::conj(x);
  } else {
    return x;
  }
});
constexpr auto angle = loops<1>([]<Inexact T>(T x) {
  if constexpr (ComplexNumber<T>) {
    return std::arg(x);
  } else {
    return std::isnan(x) ? x : (x < 0 ? static_cast<T>(M_PI) : T(0));
  }
});

// A predicate of floats; integers answer `Otherwise`, complex numbers by combining their parts.
template <class F, bool Otherwise, bool All>
struct Predicate {
  template <Number T>
  bool operator()(T x) const {
    if constexpr (Floating<T>) {
      return F{}(x);
    } else if constexpr (ComplexNumber<T>) {
      return All ? F{}(x.real()) && F{}(x.imag()) : F{}(x.real()) || F{}(x.imag());
    } else {
      return Otherwise;
    }
  }
};
template <bool Otherwise, bool All, class F>
constexpr const Loops* predicate(F) {
  return loops<1>(Predicate<F, Otherwise, All>{});
}
constexpr auto isnan = predicate<false, false>([](auto x) { return std::isnan(x); });
constexpr auto isinf = predicate<false, false>([](auto x) { return std::isinf(x); });
constexpr auto isfinite = predicate<true, true>([](auto x) { return std::isfinite(x); });
constexpr auto isposinf = predicate<false, false>([](auto x) { return std::isinf(x) && x > 0; });
constexpr auto isneginf = predicate<false, false>([](auto x) { return std::isinf(x) && x < 0; });
constexpr auto isreal = loops<1>([]<Number T>(T x) {
  if constexpr (ComplexNumber<T>) {
    return x.imag() == 0;
  } else {
    return true;
  }
});

constexpr DTypes kPredicate = kAll - set_of(DType::f8e8m0fnu);
constexpr DTypes kInfinite = (kPredicate - kFloat8s) | set_of(DType::f8e5m2);
constexpr DTypes kSigned = kReals | kBool | kUnsigned;

constexpr Elementwise rows[] = {
    {"aten::abs.out", "t>t", absolute, same, kNoBool | kFloat8s | set_of(DType::c32)},
    {"aten::neg.out", "t>t", negative, same, kNoBool | set_of(DType::c32)},
    {"aten::negative.out", "t>t", negative, same, kNoBool | set_of(DType::c32)},
    {"aten::positive.out", "t>t", identity, same, kAll - kBool},
    {"aten::sign.out", "t>t", sign, same, kReals | kBool},
    {"aten::sgn.out", "t>t", sgn, same, kNumbers | set_of(DType::c32)},
    {"aten::signbit.out", "t>t", signbit, same, kSigned},
    {"aten::ceil.out", "t>t", ceiling, same, kWhole},
    {"aten::floor.out", "t>t", floor, same, kWhole},
    {"aten::trunc.out", "t>t", trunc, same, kWhole},
    {"aten::fix.out", "t>t", trunc, same, kWhole},
    {"aten::round.out", "t>t", round, same, kWhole},
    {"aten::frac.out", "t>t", frac, same, kFloats},
    {"aten::real.out", "t>t", real, same, kAll},
    {"aten::imag.out", "t>t", imag, same, kComplex | set_of(DType::c32)},
    {"aten::conj_physical.out", "t>t", conjugate, same, kAll},
    {"aten::_conj_physical.out", "t>t", conjugate, same, kAll - kUnsigned - kFloat8s},
    {"aten::_conj_copy.out", "t>t", conjugate, same, kAll},
    {"aten::_conj.out", "t>t", conjugate, same, kAll},
    {"aten::conj.out", "t>t", conjugate, same, kAll},
    {"aten::angle.out", "t>t", angle, to_float, kFloats | kComplex},
    {"aten::isnan.out", "t>t", isnan, same, kPredicate},
    {"aten::isinf.out", "t>t", isinf, same, kInfinite},
    {"aten::isfinite.out", "t>t", isfinite, same, kInfinite},
    {"aten::isposinf.out", "t>t", isposinf, same, kSigned},
    {"aten::isneginf.out", "t>t", isneginf, same, kSigned},
    {"aten::isreal.out", "t>t", isreal, same, kAll},
};
constexpr auto row_entries = entries(rows);

// Decimal rounding computes each step in the tensor's own precision, so halves need loops of
// their own. p: {10^|decimals|, decimals < 0}.
template <class Precision>
struct RoundDecimals {
  template <Floating T>
  T operator()(T x, const T* p) const {
    const auto own = [](T value) {
      return static_cast<T>(static_cast<float>(Precision(static_cast<float>(value))));
    };
    return p[1] != 0 ? own(own(std::nearbyint(own(x / p[0]))) * p[0])
                     : own(own(std::nearbyint(own(x * p[0]))) / p[0]);
  }
};
template <>
struct RoundDecimals<void> {
  template <Floating T>
  T operator()(T x, const T* p) const {
    return p[1] != 0 ? std::nearbyint(x / p[0]) * p[0] : std::nearbyint(x * p[0]) / p[0];
  }
};

const Loops* round_loops(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return loops<1>(RoundDecimals<Half>{});
    case DType::bf16:
      return loops<1>(RoundDecimals<BFloat16>{});
    default:
      return loops<1>(RoundDecimals<void>{});
  }
}

Status run_round(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const int64_t decimals = args.integer(1);
  float power = std::pow(10.0F, std::fabs(static_cast<float>(decimals)));
  round_to(self.dtype(), &power, self.dtype() == DType::f64 ? 0 : 1);
  const double wide = std::pow(10.0, std::fabs(static_cast<double>(decimals)));
  const Params params(self.dtype(), {Scalar(self.dtype() == DType::f64 ? wide : double{power}),
                                     Scalar(decimals < 0)});
  const Operand operands[] = {{self, {}}};
  return map(
      ctx,
      {decimals == 0 ? round : round_loops(self.dtype()), self.dtype(), operands, params.data()},
      args.out(0));
}

// A power in PyTorch: the exponent is the number 2, which makes an integer of a bool.
Status run_square(Context& ctx, const Args& args) {
  const Tensor self = args.tensor(0);
  const Operand operands[] = {{self, {}}};
  return map(ctx, {square, self.dtype() == DType::boolean ? DType::i64 : self.dtype(), operands},
             args.out(0));
}

constexpr Entry others[] = {
    {"aten::round.decimals_out", "ti>t", run_round, kFloats, BP_KERNEL_MAY_ALIAS},
    {"aten::special_round.out", "ti>t", run_round, kFloats, BP_KERNEL_MAY_ALIAS},
    {"aten::square.out", "t>t", run_square, kNumbers, BP_KERNEL_MAY_ALIAS},
};

}  // namespace

extern const std::span<const Entry> unary_kernels = row_entries;
extern const std::span<const Entry> rounding_kernels = others;

}  // namespace backplane::portable
