// Comparisons, logical and bitwise operators.
#include "portable/elementwise/arithmetic.hpp"

namespace backplane::portable {
namespace {

constexpr auto eq = loops<2>([](Number auto a, Number auto b) { return a == b; });
constexpr auto ne = loops<2>([](Number auto a, Number auto b) { return a != b; });
constexpr auto lt = loops<2>([](Real auto a, Real auto b) { return a < b; });
constexpr auto le = loops<2>([](Real auto a, Real auto b) { return a <= b; });
constexpr auto gt = loops<2>([](Real auto a, Real auto b) { return a > b; });
constexpr auto ge = loops<2>([](Real auto a, Real auto b) { return a >= b; });

constexpr auto logical_and = loops<2>([]<Number T>(T a, T b) { return a != T(0) && b != T(0); });
constexpr auto logical_or = loops<2>([]<Number T>(T a, T b) { return a != T(0) || b != T(0); });
constexpr auto logical_xor =
    loops<2>([]<Number T>(T a, T b) { return (a != T(0)) != (b != T(0)); });
constexpr auto logical_not = loops<1>([]<Number T>(T x) { return x == T(0); });

constexpr auto bit_and = loops<2>([](Integer auto a, Integer auto b) { return a & b; });
constexpr auto bit_or = loops<2>([](Integer auto a, Integer auto b) { return a | b; });
constexpr auto bit_xor = loops<2>([](Integer auto a, Integer auto b) { return a ^ b; });
constexpr auto bit_not = loops<1>([](Integer auto x) { return ~x; });
constexpr auto bit_not_bool = loops<1>([](Integer auto x) { return x == 0; });
// By a negative number or by the width and more: all bits go, the sign stays.
constexpr auto shift_left =
    loops<2>([]<Integer T>(T a, T b) { return b < 0 || b > 63 ? T(0) : a << b; });
constexpr auto shift_right =
    loops<2>([]<Integer T>(T a, T b) { return b < 0 || b > 63 ? (a < 0 ? T(-1) : T(0)) : a >> b; });

constexpr DTypes kOrdered = kReals | kBool;
constexpr DTypes kLogical = kNumbers;
constexpr DTypes kBits = kInts | kBool | kUnsigned;

constexpr Elementwise rows[] = {
    {"aten::eq.Tensor_out", "oo>t", eq, same, kAll},
    {"aten::eq.Scalar_out", "oo>t", eq, same, kAll},
    {"aten::ne.Tensor_out", "oo>t", ne, same, kAll},
    {"aten::ne.Scalar_out", "oo>t", ne, same, kAll},
    {"aten::lt.Tensor_out", "oo>t", lt, same, kOrdered},
    {"aten::lt.Scalar_out", "oo>t", lt, same, kOrdered},
    {"aten::le.Tensor_out", "oo>t", le, same, kOrdered},
    {"aten::le.Scalar_out", "oo>t", le, same, kOrdered},
    {"aten::gt.Tensor_out", "oo>t", gt, same, kOrdered},
    {"aten::gt.Scalar_out", "oo>t", gt, same, kOrdered},
    {"aten::ge.Tensor_out", "oo>t", ge, same, kOrdered},
    {"aten::ge.Scalar_out", "oo>t", ge, same, kOrdered},

    {"aten::logical_and.out", "oo>t", logical_and, same, kLogical},
    {"aten::logical_or.out", "oo>t", logical_or, same, kLogical},
    {"aten::logical_xor.out", "oo>t", logical_xor, same, kLogical},
    {"aten::logical_not.out", "t>t", logical_not, same, kLogical},

    {"aten::bitwise_and.Tensor_out", "oo>t", bit_and, same, kBits},
    {"aten::bitwise_and.Scalar_out", "oo>t", bit_and, same, kBits},
    {"aten::bitwise_and.Scalar_Tensor_out", "oo>t", bit_and, same, kBits},
    {"aten::bitwise_or.Tensor_out", "oo>t", bit_or, same, kBits},
    {"aten::bitwise_or.Scalar_out", "oo>t", bit_or, same, kBits},
    {"aten::bitwise_or.Scalar_Tensor_out", "oo>t", bit_or, same, kBits},
    {"aten::bitwise_xor.Tensor_out", "oo>t", bit_xor, same, kBits},
    {"aten::bitwise_xor.Scalar_out", "oo>t", bit_xor, same, kBits},
    {"aten::bitwise_xor.Scalar_Tensor_out", "oo>t", bit_xor, same, kBits},
    {"aten::__and__.Tensor_out", "oo>t", bit_and, same, kBits},
    {"aten::__and__.Scalar_out", "oo>t", bit_and, same, kBits},
    {"aten::__or__.Tensor_out", "oo>t", bit_or, same, kBits},
    {"aten::__or__.Scalar_out", "oo>t", bit_or, same, kBits},
    {"aten::__xor__.Tensor_out", "oo>t", bit_xor, same, kBits},
    {"aten::__xor__.Scalar_out", "oo>t", bit_xor, same, kBits},
    {"aten::bitwise_not.out", "t>t", bit_not, same, kInts | kBool, bit_not_bool},
    {"aten::bitwise_left_shift.Tensor_out", "oo>t", shift_left, same, kInts},
    {"aten::bitwise_left_shift.Tensor_Scalar_out", "oo>t", shift_left, same, kInts},
    {"aten::bitwise_left_shift.Scalar_Tensor_out", "oo>t", shift_left, same, kInts},
    {"aten::bitwise_right_shift.Tensor_out", "oo>t", shift_right, same, kInts},
    {"aten::bitwise_right_shift.Tensor_Scalar_out", "oo>t", shift_right, same, kInts},
    {"aten::bitwise_right_shift.Scalar_Tensor_out", "oo>t", shift_right, same, kInts},
    {"aten::__lshift__.Tensor_out", "oo>t", shift_left, same, kInts},
    {"aten::__lshift__.Scalar_out", "oo>t", shift_left, same, kInts},
    {"aten::__rshift__.Tensor_out", "oo>t", shift_right, same, kInts},
    {"aten::__rshift__.Scalar_out", "oo>t", shift_right, same, kInts},
};
constexpr auto table = entries(rows);

}  // namespace

extern const std::span<const Entry> comparison_kernels = table;

}  // namespace backplane::portable
