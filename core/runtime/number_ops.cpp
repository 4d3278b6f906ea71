// Arithmetic with the semantics of Python's numbers, except that integers have 64 bits: what does
// not fit is an error, never a wrong size.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "runtime/prim_ops.hpp"

namespace backplane::runtime {
namespace {

// Integer operations return false where the result is undefined or does not fit.
using IntOp = bool (*)(int64_t a, int64_t b, int64_t& result);
using FloatOp = double (*)(double a, double b);

std::string text(const bp_boxed_t& box) {
  return box.kind == BP_BOX_DOUBLE ? std::to_string(box.v.f) : std::to_string(box.v.i);
}

Status check_numbers(std::span<bp_boxed_t* const> operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!is_number(*operands[i])) {
      return Error{Code::invalid_argument, "argument " + std::to_string(i) + " is " +
                                               std::string(kind_name(operands[i]->kind)) +
                                               ", not a number"};
    }
  }
  return Ok{};
}

Status undefined(std::span<bp_boxed_t* const> operands) {
  std::string message = "no 64-bit result for";
  for (const bp_boxed_t* operand : operands) message += ' ' + text(*operand);
  return Error{Code::invalid_argument, std::move(message)};
}

template <IntOp Ints, FloatOp Floats>
Status arithmetic(const PrimCall& call) {
  const bp_boxed_t& a = *call.args[0];
  const bp_boxed_t& b = *call.args[1];
  BP_TRY(check_numbers(call.args.first(2)));
  if (is_integer(a) && is_integer(b)) {
    int64_t result = 0;
    if (!Ints(a.v.i, b.v.i, result)) return undefined(call.args.first(2));
    *call.args[2] = boxed(result);
    return Ok{};
  }
  if (Floats == nullptr) return undefined(call.args.first(2));
  *call.args[2] = boxed(Floats(as_double(a), as_double(b)));
  return Ok{};
}

bool add(int64_t a, int64_t b, int64_t& r) {
  return !__builtin_add_overflow(a, b, &r);
}
bool sub(int64_t a, int64_t b, int64_t& r) {
  return !__builtin_sub_overflow(a, b, &r);
}
bool mul(int64_t a, int64_t b, int64_t& r) {
  return !__builtin_mul_overflow(a, b, &r);
}
double add(double a, double b) {
  return a + b;
}
double sub(double a, double b) {
  return a - b;
}
double mul(double a, double b) {
  return a * b;
}

// Rounds to minus infinity, as Python does.
bool floordiv(int64_t a, int64_t b, int64_t& r) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return false;
  r = a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
  return true;
}
double floordiv(double a, double b) {
  return std::floor(a / b);
}
bool mod(int64_t a, int64_t b, int64_t& r) {
  if (b == 0) return false;
  r = b == -1 ? 0 : a % b;
  if (r != 0 && (r < 0) != (b < 0)) r += b;
  return true;
}
double mod(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
bool power(int64_t base, int64_t exponent, int64_t& r) {
  if (exponent < 0) return false;
  r = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0 && !mul(r, base, r)) return false;
    if (exponent > 1 && !mul(base, base, base)) return false;
  }
  return true;
}
double power(double a, double b) {
  return std::pow(a, b);
}
bool larger(int64_t a, int64_t b, int64_t& r) {
  return r = std::max(a, b), true;
}
bool smaller(int64_t a, int64_t b, int64_t& r) {
  return r = std::min(a, b), true;
}
double larger(double a, double b) {
  return std::max(a, b);
}
double smaller(double a, double b) {
  return std::min(a, b);
}
bool shift_left(int64_t a, int64_t b, int64_t& r) {
  return b >= 0 && b < 63 && mul(a, int64_t{1} << b, r);
}
bool shift_right(int64_t a, int64_t b, int64_t& r) {
  return r = a >> std::min<int64_t>(b, 63), b >= 0;
}

// Of two bools a bool, of integers bit by bit.
template <class Op>
Status bitwise(const PrimCall& call) {
  const bp_boxed_t& a = *call.args[0];
  const bp_boxed_t& b = *call.args[1];
  if (!is_integer(a) || !is_integer(b)) return undefined(call.args.first(2));
  const int64_t result = Op{}(a.v.i, b.v.i);
  const bool bools = a.kind == BP_BOX_BOOL && b.kind == BP_BOX_BOOL;
  *call.args[2] = bools ? boxed(result != 0) : boxed(result);
  return Ok{};
}

template <class Op>
Status compare(const PrimCall& call) {
  const bp_boxed_t& a = *call.args[0];
  const bp_boxed_t& b = *call.args[1];
  BP_TRY(check_numbers(call.args.first(2)));
  const bool result =
      is_integer(a) && is_integer(b) ? Op{}(a.v.i, b.v.i) : Op{}(as_double(a), as_double(b));
  *call.args[2] = boxed(result);
  return Ok{};
}

Status true_divide(const PrimCall& call) {
  BP_TRY(check_numbers(call.args.first(2)));
  const double divisor = as_double(*call.args[1]);
  if (divisor == 0) return undefined(call.args.first(2));
  *call.args[2] = boxed(as_double(*call.args[0]) / divisor);
  return Ok{};
}

Status negate(const PrimCall& call) {
  const bp_boxed_t& a = *call.args[0];
  BP_TRY(check_numbers(call.args.first(1)));
  if (a.kind == BP_BOX_DOUBLE) {
    *call.args[1] = boxed(-a.v.f);
    return Ok{};
  }
  int64_t result = 0;
  if (!sub(0, a.v.i, result)) return undefined(call.args.first(1));
  *call.args[1] = boxed(result);
  return Ok{};
}

Status absolute(const PrimCall& call) {
  BP_TRY(check_numbers(call.args.first(1)));
  if (as_double(*call.args[0]) < 0) return negate(call);
  const bp_boxed_t& a = *call.args[0];
  *call.args[1] = a.kind == BP_BOX_DOUBLE ? boxed(a.v.f) : boxed(a.v.i);
  return Ok{};
}

// To an integer, by a rule that integers pass unchanged.
template <FloatOp Round>
Status to_integer(const PrimCall& call) {
  const bp_boxed_t& a = *call.args[0];
  BP_TRY(check_numbers(call.args.first(1)));
  if (is_integer(a)) {
    *call.args[1] = boxed(a.v.i);
    return Ok{};
  }
  const double rounded = Round(a.v.f, 0);
  if (!(rounded >= -0x1p63 && rounded < 0x1p63)) return undefined(call.args.first(1));
  *call.args[1] = boxed(static_cast<int64_t>(rounded));
  return Ok{};
}
double truncated(double a, double) {
  return std::trunc(a);
}
double ceiling(double a, double) {
  return std::ceil(a);
}
double floored(double a, double) {
  return std::floor(a);
}
double to_even(double a, double) {
  return std::nearbyint(a);
}

template <double (*F)(double)>
Status function(const PrimCall& call) {
  BP_TRY(check_numbers(call.args.first(1)));
  *call.args[1] = boxed(F(as_double(*call.args[0])));
  return Ok{};
}
double identity(double a) {
  return a;
}

Status logical_not(const PrimCall& call) {
  BP_TRY(check_numbers(call.args.first(1)));
  *call.args[1] = boxed(as_double(*call.args[0]) == 0);
  return Ok{};
}

Status to_bool(const PrimCall& call) {
  BP_TRY(check_numbers(call.args.first(1)));
  *call.args[1] = boxed(as_double(*call.args[0]) != 0);
  return Ok{};
}

Status if_then_else(const PrimCall& call) {
  BP_TRY(check_numbers(call.args.first(3)));
  *call.args[3] = *call.args[as_double(*call.args[0]) != 0 ? 1 : 2];
  return Ok{};
}

Status copy_number(const PrimCall& call) {
  BP_TRY(check_numbers(call.args.first(1)));
  *call.args[1] = *call.args[0];
  return Ok{};
}

constexpr PrimOp unary(std::string_view name, Status (*run)(const PrimCall&)) {
  return {.name = name, .min_args = 2, .num_args = 2, .written = 1, .run = run};
}
constexpr PrimOp binary(std::string_view name, Status (*run)(const PrimCall&)) {
  return {.name = name, .min_args = 3, .num_args = 3, .written = 2, .run = run};
}

constexpr PrimOp kOps[] = {
    binary("add", arithmetic<add, add>),
    binary("sub", arithmetic<sub, sub>),
    binary("mul", arithmetic<mul, mul>),
    binary("floordiv", arithmetic<floordiv, floordiv>),
    binary("mod", arithmetic<mod, mod>),
    binary("pow", arithmetic<power, power>),
    binary("max", arithmetic<larger, larger>),
    binary("min", arithmetic<smaller, smaller>),
    binary("lshift", arithmetic<shift_left, nullptr>),
    binary("rshift", arithmetic<shift_right, nullptr>),
    binary("truediv", true_divide),
    binary("and", bitwise<std::bit_and<int64_t>>),
    binary("or", bitwise<std::bit_or<int64_t>>),
    binary("xor", bitwise<std::bit_xor<int64_t>>),
    binary("eq", compare<std::equal_to<>>),
    binary("ne", compare<std::not_equal_to<>>),
    binary("lt", compare<std::less<>>),
    binary("le", compare<std::less_equal<>>),
    binary("gt", compare<std::greater<>>),
    binary("ge", compare<std::greater_equal<>>),
    unary("neg", negate),
    unary("pos", copy_number),
    unary("abs", absolute),
    unary("int", to_integer<truncated>),
    unary("trunc", to_integer<truncated>),
    unary("ceil", to_integer<ceiling>),
    unary("floor", to_integer<floored>),
    unary("round", to_integer<to_even>),
    unary("float", function<identity>),
    unary("bool", to_bool),
    unary("not", logical_not),
    unary("sqrt", function<std::sqrt>),
    unary("exp", function<std::exp>),
    unary("log", function<std::log>),
    unary("log2", function<std::log2>),
    unary("sin", function<std::sin>),
    unary("cos", function<std::cos>),
    unary("tan", function<std::tan>),
    unary("asin", function<std::asin>),
    unary("acos", function<std::acos>),
    unary("atan", function<std::atan>),
    unary("sinh", function<std::sinh>),
    unary("cosh", function<std::cosh>),
    unary("tanh", function<std::tanh>),
    {.name = "ite", .min_args = 4, .num_args = 4, .written = 3, .run = if_then_else},
};

}  // namespace

std::span<const PrimOp> number_ops() {
  return kOps;
}

}  // namespace backplane::runtime
