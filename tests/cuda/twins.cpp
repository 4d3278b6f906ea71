// Kernels of the run time's tests.
#include "shim/twin.hpp"

namespace {

// to[i] = 2 · from[i]
void twice(const TwinLaunch&, const float* from, float* to, long long n) {
  for (long long i = 0; i < n; ++i) to[i] = 2 * from[i];
}

// y[i, j] = t[i, j] + w[0] + 100 · i + number; reports what is above a million.
void rows(const TwinLaunch&, const float* t, const float* w, float* y, long long num_rows,
          long long num_columns, double number, unsigned long long* fault,
          unsigned long long node) {
  for (long long i = 0; i < num_rows * num_columns; ++i) {
    const auto row = static_cast<float>(i / num_columns);
    y[i] = t[i] + w[0] + 100 * row + static_cast<float>(number);
    if (t[i] <= 1e6F || fault[0] != 0) continue;
    fault[0] = node;
    fault[1] = static_cast<unsigned long long>(t[i]);
  }
}

}  // namespace

TWIN(twice);
TWIN(rows);
