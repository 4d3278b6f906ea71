#include "run_results.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace backplane::cli {
namespace {

// "class 7: 0.999975", the largest first, for each row of the last dimension.
void print_classes(const Console& console, const TensorView& view, int64_t top) {
  if (view.dtype != DType::f32 || view.sizes.empty() || !view.is_contiguous()) return;
  const int64_t classes = view.sizes.back();
  const int64_t rows = classes == 0 ? 0 : view.numel() / classes;
  const auto* scores = static_cast<const float*>(view.data);
  std::vector<int64_t> order(static_cast<size_t>(classes));
  for (int64_t r = 0; r < rows; ++r, scores += classes) {
    std::iota(order.begin(), order.end(), 0);
    const auto count = static_cast<std::ptrdiff_t>(std::min(top, classes));
    std::partial_sort(order.begin(), order.begin() + count, order.end(),
                      [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const int64_t best = order[static_cast<size_t>(i)];
      console.print((rows > 1 ? "row " + std::to_string(r) + ": " : "") + "class " +
                    std::to_string(best) + ": " + std::to_string(scores[best]));
    }
  }
}

}  // namespace

void show_results(const Console& console, const MethodResult& result, int64_t top,
                  JsonWriter& json) {
  json.key("outputs");
  json.begin_array();
  for (const NamedTensor& named : result.tensors) {
    const TensorView view = named.tensor.view();
    const std::string type = std::string(name_of(view.dtype)) + format_sizes(view.sizes);
    console.print(named.name + "  " + type + "  " + preview(view));
    if (top > 0) print_classes(console, view, top);
    json.begin_object();
    json.member("key", named.name);
    json.member("type", type);
    json.end_object();
  }
  for (const NamedScalar& scalar : result.scalars) {
    console.print((scalar.name.empty() ? "output" : scalar.name) + "  " + scalar.text);
    json.begin_object();
    json.member("name", scalar.name);
    json.member("value", scalar.text);
    json.end_object();
  }
  json.end_array();
}

}  // namespace backplane::cli
