#include "tensors/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <limits>

#include "tensors/elements.hpp"

namespace backplane::cli {
namespace {

using Complex = std::complex<double>;

constexpr double kElementFactor = 20;

// Two dense tensors of one type and shape.
struct Pair {
  DType dtype;
  const std::vector<int64_t>& sizes;
  int64_t numel;
  const std::byte* expected;
  const std::byte* actual;
};

// Calls f(index, expected, actual) for each element.
template <class F>
void for_each_element(const Pair& pair, F&& f) {
  constexpr int64_t kBlock = 512;
  std::array<Complex, kBlock> expected;
  std::array<Complex, kBlock> actual;
  for (int64_t first = 0; first < pair.numel; first += kBlock) {
    const auto count = static_cast<size_t>(std::min(kBlock, pair.numel - first));
    read_elements(pair.dtype, pair.expected, first, std::span(expected).first(count));
    read_elements(pair.dtype, pair.actual, first, std::span(actual).first(count));
    for (size_t i = 0; i < count; ++i) f(first + static_cast<int64_t>(i), expected[i], actual[i]);
  }
}

bool is_finite(Complex z) {
  return std::isfinite(z.real()) && std::isfinite(z.imag());
}

bool same_kind(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return true;
}

bool same_kind(Complex a, Complex b) {
  return same_kind(a.real(), b.real()) && same_kind(a.imag(), b.imag());
}

void count_difference(Comparison& result, int64_t index) {
  if (result.num_different++ == 0) result.first_different = index;
}

void compare_exactly(const Pair& pair, Comparison& result) {
  const size_t width = size_of(pair.dtype);
  for (int64_t i = 0; i < pair.numel; ++i) {
    const size_t at = static_cast<size_t>(i) * width;
    if (std::memcmp(pair.expected + at, pair.actual + at, width) != 0) count_difference(result, i);
  }
}

double ratio(double a, double b) {
  if (a == 0) return 0;
  return b == 0 ? std::numeric_limits<double>::infinity() : a / b;
}

void compare_numbers(const Pair& pair, Comparison& result) {
  // Everything is divided by the largest number first, so that squares neither overflow nor vanish.
  double largest = 0;
  for_each_element(pair, [&](int64_t, Complex e, Complex a) {
    if (!is_finite(e) || !is_finite(a)) return;
    for (const double part : {e.real(), e.imag(), a.real(), a.imag()}) {
      largest = std::max(largest, std::fabs(part));
    }
  });
  if (largest == 0) largest = 1;
  double sum_expected = 0;
  double sum_error = 0;
  int64_t count = 0;
  for_each_element(pair, [&](int64_t, Complex e, Complex a) {
    if (!is_finite(e) || !is_finite(a)) return;
    sum_expected += std::norm(e / largest);
    sum_error += std::norm(a / largest - e / largest);
    ++count;
  });
  result.relative_error = ratio(std::sqrt(sum_error), std::sqrt(sum_expected));
  const double rms = count == 0 ? 0 : std::sqrt(sum_expected / static_cast<double>(count));
  for_each_element(pair, [&](int64_t i, Complex e, Complex a) {
    if (!is_finite(e) || !is_finite(a)) {
      if (!same_kind(e, a)) count_difference(result, i);
      return;
    }
    const double allowed = kElementFactor * result.tolerance * (std::abs(e / largest) + rms);
    const double worst = ratio(std::abs(a / largest - e / largest), allowed);
    result.worst_element = std::max(result.worst_element, worst);
    if (worst > 1) count_difference(result, i);
  });
}

std::string format_number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  return text;
}

std::string format_index(const std::vector<int64_t>& sizes, int64_t flat) {
  std::vector<int64_t> index(sizes.size());
  for (size_t d = sizes.size(); d-- > 0;) {
    index[d] = flat % sizes[d];
    flat /= sizes[d];
  }
  return format_sizes(index);
}

std::string format_result(const Pair& pair, const Comparison& result) {
  std::string text = std::string(name_of(pair.dtype)) + format_sizes(pair.sizes);
  text += result.same ? ": same" : ": different";
  if (result.num_different > 0) {
    const int64_t at = result.first_different;
    text += ": " + std::to_string(result.num_different) + " of " + std::to_string(pair.numel) +
            " elements, first " + format_index(pair.sizes, at) + ": expected " +
            format_element(pair.dtype, pair.expected, at) + ", got " +
            format_element(pair.dtype, pair.actual, at);
  }
  if (is_floating(pair.dtype) || is_complex(pair.dtype)) {
    text += ", relative error " + format_number(result.relative_error) + " (" +
            format_number(result.tolerance) + " allowed)";
  }
  return text;
}

}  // namespace

double default_tolerance(DType dtype) {
  switch (dtype) {
    using enum DType;
    case f64:
    case c128:
      return 1e-12;
    case f32:
    case c64:
      return 1e-5;
    case f16:
    case c32:
      return 5e-3;
    case bf16:
      return 2e-2;
    default:
      return is_floating(dtype) ? 0.2 : 0;
  }
}

Result<Comparison> compare(const TensorView& expected, const TensorView& actual,
                           std::optional<double> tolerance) {
  Comparison result;
  if (expected.dtype != actual.dtype || expected.sizes != actual.sizes) {
    result.text = "different: expected " + std::string(name_of(expected.dtype)) +
                  format_sizes(expected.sizes) + ", got " + std::string(name_of(actual.dtype)) +
                  format_sizes(actual.sizes);
    return result;
  }
  BP_ASSIGN_OR_RETURN(const Tensor dense_expected, Tensor::copy_of(expected));
  BP_ASSIGN_OR_RETURN(const Tensor dense_actual, Tensor::copy_of(actual));
  const Pair pair{expected.dtype, expected.sizes, expected.numel(), dense_expected.bytes().data(),
                  dense_actual.bytes().data()};
  if (is_floating(pair.dtype) || is_complex(pair.dtype)) {
    result.tolerance = tolerance.value_or(default_tolerance(pair.dtype));
    compare_numbers(pair, result);
  } else {
    compare_exactly(pair, result);
  }
  result.same = result.num_different == 0 && result.relative_error <= result.tolerance;
  result.text = format_result(pair, result);
  return result;
}

}  // namespace backplane::cli
