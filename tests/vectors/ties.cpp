#include "ties.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <vector>

#include "tensors/elements.hpp"

namespace backplane::vectors {
namespace {

bool equal_elements(const Tensor& input, int64_t a, int64_t b) {
  const size_t width = size_of(input.dtype());
  const std::byte* data = input.bytes().data();
  if (std::memcmp(data + static_cast<size_t>(a) * width, data + static_cast<size_t>(b) * width,
                  width) == 0)
    return true;
  // -0 and 0, and NaNs of other bits, are equal to the order that sorting uses.
  const std::string x = cli::format_element(input.dtype(), data, a);
  const std::string y = cli::format_element(input.dtype(), data, b);
  return x == y || ((x == "0" || x == "-0") && (y == "0" || y == "-0"));
}

// Along `dim`: output [outer, any, inner] names elements of input [outer, size, inner].
bool along(const Tensor& input, size_t dim, const Tensor& expected, const Tensor& actual) {
  const auto& sizes = input.sizes();
  int64_t outer = 1;
  int64_t inner = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d < dim) outer *= sizes[d];
    if (d > dim) inner *= sizes[d];
  }
  const int64_t size = sizes[dim];
  if (outer * inner == 0 || expected.numel() % (outer * inner) != 0) return false;
  const int64_t places = expected.numel() / (outer * inner);
  const auto* e = expected.data_as<int64_t>();
  const auto* a = actual.data_as<int64_t>();
  for (int64_t at = 0; at < expected.numel(); ++at) {
    if (e[at] < 0 || e[at] >= size || a[at] < 0 || a[at] >= size) return false;
    const int64_t row = at / (places * inner);
    const int64_t base = row * size * inner + at % inner;
    if (!equal_elements(input, base + e[at] * inner, base + a[at] * inner)) return false;
  }
  return true;
}

}  // namespace

bool names_places(std::string_view op) {
  constexpr std::string_view kOps[] = {"argmax",
                                       "argmin",
                                       "argsort",
                                       "cummax",
                                       "cummin",
                                       "kthvalue",
                                       "max_reduction_with_dim",
                                       "max",
                                       "median",
                                       "min",
                                       "min_reduction_with_dim",
                                       "mode",
                                       "msort",
                                       "nanmedian",
                                       "sort",
                                       "topk"};
  const std::string_view name = op.substr(0, op.find('.'));
  return std::find(std::begin(kOps), std::end(kOps), name) != std::end(kOps) ||
         std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

bool name_equal_elements(const Tensor& input, const Tensor& expected, const Tensor& actual) {
  if (expected.dtype() != DType::i64 || actual.dtype() != DType::i64 ||
      expected.sizes() != actual.sizes())
    return false;
  for (size_t dim = 0; dim < input.sizes().size(); ++dim) {
    if (along(input, dim, expected, actual)) return true;
  }
  if (expected.numel() != 1) return false;
  const int64_t e = *expected.data_as<int64_t>();
  const int64_t a = *actual.data_as<int64_t>();
  const bool inside = std::min(e, a) >= 0 && std::max(e, a) < input.numel();
  return inside && equal_elements(input, e, a);
}

}  // namespace backplane::vectors
