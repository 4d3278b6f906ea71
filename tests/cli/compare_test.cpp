#include "tensors/compare.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

namespace backplane::cli {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <class T>
TensorView view_of(DType dtype, std::vector<T>& values) {
  return TensorView::contiguous(values.data(), dtype, {static_cast<int64_t>(values.size())});
}

Comparison compare_doubles(std::vector<double> expected, std::vector<double> actual,
                           double tolerance = 1e-3) {
  const auto result =
      compare(view_of(DType::f64, expected), view_of(DType::f64, actual), tolerance);
  REQUIRE(result.ok());
  return *result;
}

TEST_SUITE("cli/compare") {
  TEST_CASE("floats are the same within the norm's and the elements' tolerance alone") {
    struct Case {
      const char* why;
      std::vector<double> expected;
      std::vector<double> actual;
      bool same;
    };
    // A hundred ones, of which one is off: the norm's error is a tenth of the element's.
    std::vector<double> ones(100, 1.0);
    std::vector<double> off_a_bit = ones;
    std::vector<double> off_much = ones;
    off_a_bit[7] += 0.0099;
    off_much[7] += 0.0101;
    // Ten thousand: the norm lets 0.1 pass, the element rule 0.04.
    std::vector<double> many(10000, 1.0);
    std::vector<double> many_near = many;
    std::vector<double> many_off = many;
    many_near[7] += 0.0399;
    many_off[7] += 0.0401;
    const Case cases[] = {
        {"equal", {1, -2, 3}, {1, -2, 3}, true},
        {"zeros of both signs", {0.0, 0.0}, {-0.0, 0.0}, true},
        {"norm just inside", ones, off_a_bit, true},
        {"norm just outside", ones, off_much, false},
        {"element just inside", many, many_near, true},
        {"element just outside", many, many_off, false},
        {"zero expected, zero got", {0, 0}, {0, 0}, true},
        {"zero expected, anything else got", {0, 0}, {0, 1e-300}, false},
        {"a small number where a large one is elsewhere", {1, 0}, {1, 1e-4}, true},
        {"nothing", {}, {}, true},
        {"NaN in the same places", {kNan, 1}, {kNan, 1}, true},
        {"NaN everywhere", {kNan, kNan}, {kNan, kNan}, true},
        {"NaN where a number belongs", {1, 2}, {kNan, 2}, false},
        {"a number where NaN belongs", {kNan, 2}, {1, 2}, false},
        {"infinities in the same places", {kInf, -kInf, 1}, {kInf, -kInf, 1}, true},
        {"an infinity of the other sign", {kInf, 1}, {-kInf, 1}, false},
        {"NaN where an infinity belongs", {kInf, 1}, {kNan, 1}, false},
        {"squares that overflow", {1e300, 1e300}, {1e300, 1.0001e300}, true},
        {"squares that overflow, off", {1e300, 1e300}, {1e300, 1.1e300}, false},
        {"a difference that overflows", {1.7e308, 1}, {-1.7e308, 1}, false},
        {"squares that vanish", {1e-300, 1e-300}, {1e-300, 1.0001e-300}, true},
        {"squares that vanish, off", {1e-300, 1e-300}, {1e-300, 1.1e-300}, false},
        {"denormal numbers", {5e-324, 5e-324}, {5e-324, 5e-324}, true},
        {"denormal numbers, off", {5e-324, 5e-324}, {5e-324, 1e-323}, false},
    };
    for (const Case& c : cases) {
      CAPTURE(c.why);
      const Comparison result = compare_doubles(c.expected, c.actual);
      CAPTURE(result.text);
      CHECK(result.same == c.same);
    }
  }

  TEST_CASE("the numbers of a comparison are those of the rule") {
    const Comparison result = compare_doubles({3, 4, kNan}, {3, 4.5, kNan}, 1e-2);
    CHECK(result.relative_error == doctest::Approx(0.1));
    // 0.5 by 20 * 0.01 * (4 + sqrt(25 / 2))
    CHECK(result.worst_element == doctest::Approx(0.5 / (0.2 * (4 + std::sqrt(12.5)))));
    CHECK(result.num_different == 0);
    CHECK(result.text == "float64[3]: different, relative error 0.1 (0.01 allowed)");
    const Comparison other = compare_doubles({1, 2, 3}, {1, 2, 30}, 1e-2);
    CHECK(other.num_different == 1);
    CHECK(other.first_different == 2);
    CHECK(other.text ==
          "float64[3]: different: 1 of 3 elements, first [2]: expected 3, got 30, relative error "
          "7.22 (0.01 allowed)");
  }

  TEST_CASE("integers and booleans must be equal, also beyond what a double holds") {
    std::vector<int64_t> a = {1, (int64_t{1} << 53) + 1};
    std::vector<int64_t> b = {1, int64_t{1} << 53};
    CHECK(compare(view_of(DType::i64, a), view_of(DType::i64, a))->same);
    const auto result = compare(view_of(DType::i64, a), view_of(DType::i64, b), 0.5);
    CHECK_FALSE(result->same);
    CHECK(result->text ==
          "int64[2]: different: 1 of 2 elements, first [1]: expected 9007199254740993, got "
          "9007199254740992");
    std::vector<uint8_t> t = {1, 0};
    std::vector<uint8_t> f = {1, 1};
    CHECK_FALSE(compare(view_of(DType::boolean, t), view_of(DType::boolean, f))->same);
  }

  TEST_CASE("complex numbers count by magnitude, and by kind where not finite") {
    using C = std::complex<float>;
    const auto same = [](std::vector<C> a, std::vector<C> b) {
      return compare(view_of(DType::c64, a), view_of(DType::c64, b))->same;
    };
    const float inf = std::numeric_limits<float>::infinity();
    CHECK(same({{1, 0}, {0, 1e-7F}}, {{1, 0}, {0, 2e-7F}}));
    CHECK_FALSE(same({{1, 0}}, {{1, 1e-3F}}));
    CHECK(same({{inf, 1}}, {{inf, 2}}));
    CHECK_FALSE(same({{inf, 1}}, {{inf, inf}}));
    CHECK_FALSE(same({{inf, 1}}, {{-inf, 1}}));
  }

  TEST_CASE("other shapes and other types differ, and the text says which") {
    std::vector<float> values(6);
    const TensorView a = TensorView::contiguous(values.data(), DType::f32, {2, 3});
    const TensorView b = TensorView::contiguous(values.data(), DType::f32, {3, 2});
    const TensorView c = TensorView::contiguous(values.data(), DType::i32, {2, 3});
    CHECK(compare(a, b)->text == "different: expected float32[2, 3], got float32[3, 2]");
    CHECK(compare(a, c)->text == "different: expected float32[2, 3], got int32[2, 3]");
    CHECK_FALSE(compare(a, c)->same);
  }

  TEST_CASE("strides are looked through") {
    std::vector<float> rows = {1, 2, 3, 4, 5, 6};
    std::vector<float> columns = {1, 4, 2, 5, 3, 6};
    const TensorView a = TensorView::contiguous(rows.data(), DType::f32, {2, 3});
    TensorView b = TensorView::contiguous(columns.data(), DType::f32, {2, 3});
    CHECK_FALSE(compare(a, b)->same);
    b.strides = {1, 2};
    CHECK(compare(a, b)->same);
    columns[3] = 9;
    CHECK(compare(a, b)->text.find("first [1, 1]: expected 5, got 9") != std::string::npos);
  }

  TEST_CASE("half floats have tolerances of their own") {
    std::vector<uint16_t> one = {0x3C00};
    std::vector<uint16_t> near = {0x3C04};  // 1.0039
    std::vector<uint16_t> off = {0x3C06};   // 1.0059
    CHECK(compare(view_of(DType::f16, one), view_of(DType::f16, near))->same);
    CHECK_FALSE(compare(view_of(DType::f16, one), view_of(DType::f16, off))->same);
    std::vector<uint16_t> bone = {0x3F80};
    std::vector<uint16_t> bnear = {0x3F82};  // 1.0156
    std::vector<uint16_t> boff = {0x3F83};   // 1.0234
    CHECK(compare(view_of(DType::bf16, bone), view_of(DType::bf16, bnear))->same);
    CHECK_FALSE(compare(view_of(DType::bf16, bone), view_of(DType::bf16, boff))->same);
  }
}

}  // namespace
}  // namespace backplane::cli
