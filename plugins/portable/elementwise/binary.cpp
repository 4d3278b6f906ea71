// Addition, multiplication and the divisions. Integer division looks for zeros before it starts.
#include <algorithm>

#include "portable/elementwise/arithmetic.hpp"
#include "portable/walk.hpp"

namespace backplane::portable {
namespace {

// What alpha may be, given the operands' type.
Status check_alpha(const Args& args, DType common) {
  const Scalar alpha = args.scalar(2);
  if (alpha.is_bool() && common != DType::boolean) {
    return invalid({"boolean alpha only supported for boolean results"});
  }
  const bool inexact = is_floating(common) || is_complex(common);
  if (!inexact && !alpha.is_integral() && !alpha.is_bool()) {
    return invalid({"for integral input tensors, alpha must not be a floating point number"});
  }
  if (alpha.is_complex() && !is_complex(common)) {
    return invalid({"for non-complex input tensors, alpha must not be a complex number"});
  }
  return Ok{};
}

Status check_sub(const Args& args, DType common) {
  for (int64_t i = 0; i < 2; ++i) {
    const DType dtype = args.is_tensor(i) ? args.tensor(i).dtype() : args.scalar(i).dtype();
    if (dtype == DType::boolean) {
      return invalid(
          {"subtraction with a bool tensor is not supported; use logical_xor, or "
           "bitwise_not to invert a mask"});
    }
  }
  return check_alpha(args, common);
}

constexpr auto add = loops<2>([]<Number T>(T a, T b, const T* p) { return a + multiply(*p, b); });
constexpr auto either = loops<2>([]<Integer T>(T a, T b, const T* p) { return a | (b & *p); });
constexpr auto sub = loops<2>([]<Number T>(T a, T b, const T* p) { return a - multiply(*p, b); });
constexpr auto rsub = loops<2>([]<Number T>(T a, T b, const T* p) { return b - multiply(*p, a); });
constexpr auto mul = loops<2>([](Number auto a, Number auto b) { return multiply(a, b); });
constexpr auto div = loops<2>([](Inexact auto a, Inexact auto b) { return divide(a, b); });
constexpr auto div_trunc = loops<2>([]<Real T>(T a, T b) {
  if constexpr (Floating<T>) {
    return std::trunc(a / b);
  } else {
    return divide(a, b);
  }
});
constexpr auto div_floor = loops<2>([]<Real T>(T a, T b) { return floor_quotient(a, b); });
constexpr auto fmod = loops<2>([]<Real T>(T a, T b) { return modulo(a, b); });
constexpr auto remainder = loops<2>([]<Real T>(T a, T b) { return floor_remainder(a, b); });

constexpr DTypes kAddable = kNumbers | set_of(DType::c32);

// Operators that take tensor or number on the right, in two overloads.
constexpr Elementwise rows[] = {
    {"aten::add.out", "oos>t", add, same, kAddable, either, false, check_alpha},
    {"aten::add.Scalar_out", "oos>t", add, same, kAddable, either, false, check_alpha},
    {"aten::sub.out", "oos>t", sub, same, kAddable, nullptr, false, check_sub},
    {"aten::sub.Scalar_out", "oos>t", sub, same, kAddable, nullptr, false, check_sub},
    {"aten::rsub.Tensor_out", "oos>t", rsub, same, kAddable, nullptr, false, check_sub},
    {"aten::rsub.Scalar_out", "oos>t", rsub, same, kAddable, nullptr, false, check_sub},
    {"aten::mul.out", "oo>t", mul, same, kAll, nullptr, true},
    {"aten::mul.Scalar_out", "oo>t", mul, same, kAll - kFloat8s, nullptr, true},
    {"aten::div.out", "oo>t", div, to_float, kFloats | kComplex, nullptr, true},
    {"aten::div.Scalar_out", "oo>t", div, to_float, kFloats | kComplex, nullptr, true},
    {"aten::true_divide.out", "oo>t", div, to_float, kFloats | kComplex, nullptr, true},
    {"aten::divide.out", "oo>t", div, to_float, kFloats | kComplex, nullptr, true},
};
constexpr auto row_entries = entries(rows);

// ZeroDivisionError, if the right operand, as integers of `dtype`, has a zero.
Status check_divisor(const Args& args, DType dtype) {
  if (is_floating(dtype)) {
    return Ok{};
  }
  if (args.is_tensor(0) && args.tensor(0).numel() == 0) {
    return Ok{};
  }
  const Error refusal = invalid({"ZeroDivisionError: the divisor has a zero"});
  if (!args.is_tensor(1)) {
    int64_t value = args.scalar(1).to<int64_t>();
    round_to(dtype, &value, 1);
    return value == 0 ? Status(refusal) : Status(Ok{});
  }
  const Tensor divisor = args.tensor(1);
  bool has_zero = false;
  for_strips<int64_t>(divisor, [&](int64_t* strip, int64_t n) {
    round_to(dtype, strip, n);
    has_zero = has_zero || std::find(strip, strip + n, 0) != strip + n;
  });
  return has_zero ? Status(refusal) : Status(Ok{});
}

constexpr Elementwise quotient_trunc = {"", "", div_trunc, same, kReals, nullptr, true};
constexpr Elementwise quotient_floor = {"", "", div_floor, same, kReals, nullptr, true};
constexpr Elementwise quotient = {"", "", div, to_float, kFloats | kComplex, nullptr, true};
constexpr Elementwise rest_trunc = {"", "", fmod, same, kReals};
constexpr Elementwise rest_floor = {"", "", remainder, same, kReals};

// By the argument rounding_mode, if there is one, else by the entry.
Result<const Elementwise*> operator_of(const Args& args) {
  if (args.entry().data != nullptr) {
    return static_cast<const Elementwise*>(args.entry().data);
  }
  if (!args.has(2)) {
    return &quotient;
  }
  const std::string_view mode = args.string(2);
  if (mode == "trunc" || mode == "floor") {
    return mode == "trunc" ? &quotient_trunc : &quotient_floor;
  }
  return invalid(
      {"div expected rounding_mode to be one of None, 'trunc' or 'floor' but found '", mode, "'"});
}

Status check_division(const Args& args) {
  BP_ASSIGN_OR_RETURN(const Elementwise* op, operator_of(args));
  return check_elementwise(args, *op);
}

Status run_division(Context& ctx, const Args& args) {
  BP_ASSIGN_OR_RETURN(const Elementwise* op, operator_of(args));
  BP_ASSIGN_OR_RETURN(const DType common, common_dtype(args, 0, 2));
  if (op->rule == Rule::same) {
    BP_TRY(check_divisor(args, common));
  }
  return run_elementwise(ctx, args, *op);
}

constexpr Entry division(std::string_view name, const Elementwise* op) {
  return {name,
          op == nullptr ? "ooZ>t" : "oo>t",
          run_division,
          kAll,
          BP_KERNEL_MAY_ALIAS,
          check_division,
          op};
}

constexpr Entry divisions[] = {
    division("aten::div.out_mode", nullptr),
    division("aten::div.Scalar_mode_out", nullptr),
    division("aten::floor_divide.out", &quotient_floor),
    division("aten::floor_divide.Scalar_out", &quotient_floor),
    division("aten::fmod.Tensor_out", &rest_trunc),
    division("aten::fmod.Scalar_out", &rest_trunc),
    division("aten::remainder.Tensor_out", &rest_floor),
    division("aten::remainder.Scalar_out", &rest_floor),
    division("aten::remainder.Scalar_Tensor_out", &rest_floor),
};

}  // namespace

extern const std::span<const Entry> arithmetic_kernels = row_entries;
extern const std::span<const Entry> division_kernels = divisions;

}  // namespace backplane::portable
