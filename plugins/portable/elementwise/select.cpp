// Choosing, clamping and blending: operators of three operands, or with bounds that may be absent.
#include "portable/elementwise/arithmetic.hpp"

namespace backplane::portable {
namespace {

constexpr auto lerp = loops<3>([]<Inexact T>(T a, T b, T w) {
  return std::abs(w) < decltype(std::abs(w))(0.5) ? a + multiply(w, b - a)
                                                  : b - multiply(b - a, T(1) - w);
});
constexpr auto addcmul =
    loops<3>([]<Number T>(T a, T b, T c, const T* p) { return a + multiply(multiply(*p, b), c); });
constexpr auto addcdiv =
    loops<3>([]<Inexact T>(T a, T b, T c, const T* p) { return a + divide(multiply(*p, b), c); });

Status check_addcdiv(const Args&, DType common) {
  if (!is_floating(common) && !is_complex(common)) {
    return invalid({"integer division with addcdiv is no longer supported"});
  }
  return Ok{};
}

// All tensors of one dtype; lerp does not promote.
Status check_lerp(const Args& args, DType) {
  const DType dtype = args.tensor(0).dtype();
  if (!is_floating(dtype) && !is_complex(dtype)) {
    return not_implemented(dtype);
  }
  for (int64_t i = 1; i < 3; ++i) {
    if (args.is_tensor(i) && args.tensor(i).dtype() != dtype) {
      return invalid({"expected dtype ", dtype, " for argument ", i, " but got dtype ",
                      args.tensor(i).dtype()});
    }
  }
  return Ok{};
}

constexpr DTypes kScalable = kReals | kComplex;

constexpr Elementwise rows[] = {
    {"aten::lerp.Scalar_out", "tts>t", lerp, same, kFloats | kComplex, nullptr, false, check_lerp},
    {"aten::lerp.Tensor_out", "ttt>t", lerp, same, kFloats | kComplex, nullptr, false, check_lerp},
    {"aten::addcmul.out", "ttts>t", addcmul, same, kScalable},
    {"aten::addcdiv.out", "ttts>t", addcdiv, same, kFloats | kComplex, nullptr, false,
     check_addcdiv},
};
constexpr auto row_entries = entries(rows);

// A condition chooses; it takes no part in the promotion.
constexpr auto choose =
    loops<3>([]<Number T>(T condition, T a, T b) { return condition != T(0) ? a : b; });

struct Choice {
  Operand condition, chosen, otherwise;
  DType dtype = DType::f32;
};

Status run_choice(Context& ctx, const Choice& choice, const Tensor& out) {
  Operand condition = choice.condition;
  condition.as = choice.dtype;  // true is 1 in every type
  const Operand operands[] = {condition, choice.chosen, choice.otherwise};
  return map(ctx, {choose, choice.dtype, operands}, out);
}

Status check_where(const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType dtype, common_dtype(args, 1, 2));
  if (args.tensor(0).dtype() != DType::boolean && args.tensor(0).dtype() != DType::u8) {
    return invalid({"where expected condition to be a boolean tensor, but got a tensor with dtype ",
                    args.tensor(0).dtype()});
  }
  return check_cast(dtype, args.out(0));
}

Status run_where(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType dtype, common_dtype(args, 1, 2));
  return run_choice(ctx, {{args.tensor(0), {}}, operand_of(args, 1), operand_of(args, 2), dtype},
                    args.out(0));
}

Status check_masked_fill(const Args& args) {
  if (args.tensor(1).dtype() != DType::boolean) {
    return invalid({"masked_fill only supports boolean masks, but got mask with dtype ",
                    args.tensor(1).dtype()});
  }
  const DType dtype = args.tensor(0).dtype();
  if ((kUnsigned | kFloat8s).has(dtype)) {
    return not_implemented(dtype);
  }
  if (args.is_tensor(2)) {
    if (args.tensor(2).dim() != 0) {
      return invalid(
          {"masked_fill only supports a 0-dimensional value tensor, but got tensor with ",
           args.tensor(2).dim(), " dimension(s)"});
    }
    return Ok{};
  }
  return args.scalar(2).fits(dtype)
             ? Status(Ok{})
             : Status(invalid({"value cannot be converted to type ", dtype, " without overflow"}));
}

Status run_masked_fill(Context& ctx, const Args& args) {
  return run_choice(
      ctx,
      {{args.tensor(1), {}}, operand_of(args, 2), {args.tensor(0), {}}, args.tensor(0).dtype()},
      args.out(0));
}

// Bounds come as numbers or tensors, each may be absent; a NaN wins over everything.
constexpr auto clamp = loops<3>(
    [](Real auto x, Real auto low, Real auto high) { return smaller(larger(x, low), high); });
constexpr auto at_least = loops<2>([](Real auto x, Real auto low) { return larger(x, low); });
constexpr auto at_most = loops<2>([](Real auto x, Real auto high) { return smaller(x, high); });

Result<DType> clamp_dtype(const Args& args) {
  ResultType type;
  for (int64_t i = 0; i < args.num_inputs(); ++i) {
    if (args.has(i)) {
      BP_TRY(args.is_tensor(i) ? type.add(args.tensor(i)) : type.add(args.scalar(i)));
    }
  }
  return type.get();
}

Status check_clamp(const Args& args) {
  bool bounded = false;
  for (int64_t i = 1; i < args.num_inputs(); ++i) {
    bounded = bounded || args.has(i);
  }
  if (!bounded) {
    return invalid({"clamp: at least one of min or max must not be None"});
  }
  BP_ASSIGN_OR_RETURN(const DType dtype, clamp_dtype(args));
  const bool both = args.num_inputs() == 3 && args.is_tensor(1) && args.is_tensor(2);
  if (!(both ? kReals : kReals | kBool).has(dtype)) {
    return not_implemented(dtype);
  }
  for (int64_t i = 1; i < args.num_inputs(); ++i) {
    if (args.is_number(i) && !args.scalar(i).fits(dtype)) {
      return invalid({"value cannot be converted to type ", dtype, " without overflow"});
    }
  }
  return check_cast(dtype, args.out(0));
}

Status run_clamp(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType dtype, clamp_dtype(args));
  const Operand self = operand_of(args, 0);
  if (args.has(1) && args.has(2)) {
    const Operand operands[] = {self, operand_of(args, 1), operand_of(args, 2)};
    return map(ctx, {clamp, dtype, operands}, args.out(0));
  }
  const Operand operands[] = {self, operand_of(args, args.has(1) ? 1 : 2)};
  return map(ctx, {args.has(1) ? at_least : at_most, dtype, operands}, args.out(0));
}

Status run_bound(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const DType dtype, clamp_dtype(args));
  const Operand operands[] = {operand_of(args, 0), operand_of(args, 1)};
  return map(ctx, {static_cast<const Loops*>(args.entry().data), dtype, operands}, args.out(0));
}

constexpr Entry bound(std::string_view name, std::string_view signature, const Loops* loops) {
  return {name, signature, run_bound, kAll, BP_KERNEL_MAY_ALIAS, check_clamp, loops};
}

// |a - b| <= atol + rtol |b|; p: rtol, atol, equal_nan.
constexpr auto close = loops<2>([]<Number T>(T a, T b, const T* p) {
  if constexpr (Integer<T>) {
    return a == b;
  } else {
    if (a == b || (p[2] != T(0) && a != a && b != b)) {
      return true;
    }
    const auto miss = std::abs(a - b);
    return std::isfinite(miss) && miss <= std::abs(p[1]) + std::abs(multiply(p[0], b));
  }
});
// Integers differ by a whole number; the tolerance is a float.
constexpr auto close_double = loops<2>([](double a, double b, const double* p) {
  return std::abs(a - b) <= p[1] + std::abs(p[0] * b);
});

Status check_isclose(const Args& args) {
  if (args.tensor(0).dtype() != args.tensor(1).dtype()) {
    return invalid({args.tensor(0).dtype(), " did not match ", args.tensor(1).dtype()});
  }
  if (args.floating(2) < 0 || args.floating(3) < 0) {
    return invalid({"rtol and atol must be at least zero, but got ", args.floating(2), " and ",
                    args.floating(3)});
  }
  return Ok{};
}

Status run_isclose(Context& ctx, const Args& args) {
  const DType dtype = args.tensor(0).dtype();
  const bool inexact = is_floating(dtype) || is_complex(dtype);
  const DType compute = inexact ? dtype : DType::f64;
  const Params params(compute, {args.scalar(2), args.scalar(3), Scalar(args.boolean(4))});
  const Operand operands[] = {{args.tensor(0), {}}, {args.tensor(1), {}}};
  return map(ctx, {inexact ? close : close_double, compute, operands, params.data()}, args.out(0));
}

constexpr Entry others[] = {
    {"aten::where.self_out", "too>t", run_where, kAll, 0, check_where},
    {"aten::where.ScalarOther_out", "too>t", run_where, kAll, 0, check_where},
    {"aten::where.ScalarSelf_out", "too>t", run_where, kAll, 0, check_where},
    {"aten::where.Scalar_out", "too>t", run_where, kAll, 0, check_where},
    {"aten::masked_fill.Scalar_out", "tto>t", run_masked_fill, kAll, BP_KERNEL_MAY_ALIAS,
     check_masked_fill},
    {"aten::masked_fill.Tensor_out", "tto>t", run_masked_fill, kAll, BP_KERNEL_MAY_ALIAS,
     check_masked_fill},
    {"aten::clamp.out", "tSS>t", run_clamp, kAll, BP_KERNEL_MAY_ALIAS, check_clamp},
    {"aten::clip.out", "tSS>t", run_clamp, kAll, BP_KERNEL_MAY_ALIAS, check_clamp},
    {"aten::clamp.Tensor_out", "tTT>t", run_clamp, kAll, BP_KERNEL_MAY_ALIAS, check_clamp},
    {"aten::clip.Tensor_out", "tTT>t", run_clamp, kAll, BP_KERNEL_MAY_ALIAS, check_clamp},
    bound("aten::clamp_min.out", "ts>t", at_least),
    bound("aten::clamp_min.Tensor_out", "tt>t", at_least),
    bound("aten::clamp_max.out", "ts>t", at_most),
    bound("aten::clamp_max.Tensor_out", "tt>t", at_most),
    {"aten::isclose.out", "ttffb>t", run_isclose, kAll - kFloat8s, 0, check_isclose},
};

}  // namespace

extern const std::span<const Entry> blend_kernels = row_entries;
extern const std::span<const Entry> select_kernels = others;

}  // namespace backplane::portable
