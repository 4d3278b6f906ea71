// Unary operators with a meaning for integers: signs, rounding, predicates.
#include <cmath>

#include "portable/elementwise.hpp"

namespace backplane::portable {
namespace {

constexpr DTypes kNoBool = kNumbers - kBool;

constexpr auto negative = loops<1>([](Number auto x) { return -x; });
constexpr auto absolute = loops<1>([]<Number T>(T x) {
  if constexpr (Integer<T>) {
    return static_cast<int64_t>(x) < 0 ? -x : x;
  } else {
    return std::abs(x);
  }
});

constexpr Elementwise rows[] = {
    {"aten::abs.out", "t>t", absolute, same, kNoBool | kFloat8s},
    {"aten::neg.out", "t>t", negative, same, kNoBool},
    {"aten::exp.out", "t>t", loops<1>([](Inexact auto x) { return std::exp(x); }), to_float},
};
constexpr auto table = entries(rows);

}  // namespace

extern const std::span<const Entry> unary_kernels = table;

}  // namespace backplane::portable
