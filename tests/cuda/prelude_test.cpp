// The part of the kernels' prelude that both a GPU and the CPU run, on fibres.
#include <doctest/doctest.h>

#include "shim/host_prelude.hpp"

#include "cuda/kernels/prelude_common.cuh"

namespace {

template <int kWidth>
void row_kernel(float* sums, long long* places, const float* x, int columns) {
  const int row = static_cast<int>(blockIdx.x);
  const int lane = static_cast<int>(threadIdx.x);
  Sum<float> sum;
  ArgMax<float> place;
  for (int j = lane; j < columns; j += kWidth) {
    sum.take(x[row * columns + j]);
    place.take(x[row * columns + j], j);
  }
  reduce_row<kWidth>(sum);
  reduce_row<kWidth>(place);
  // Every thread has the result: the last one writes it.
  if (lane == kWidth - 1) {
    sums[row] = sum.result();
    places[row] = place.result();
  }
}

template <int kWidth>
void check_rows() {
  constexpr int kColumns = 1000;
  std::vector<float> x(3 * kColumns);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 7919 % 1009);
  x[2 * kColumns + 500] = kNan;  // larger than all
  float sums[3] = {};
  long long places[3] = {};
  float* to = sums;
  long long* at = places;
  const float* from = x.data();
  int columns = kColumns;
  void* params[] = {&to, &at, &from, &columns};
  run_twin<true>(&row_kernel<kWidth>, {{3, 1, 1}, {kWidth, 1, 1}, 0}, params);
  for (int row = 0; row < 2; ++row) {
    float sum = 0;
    int best = 0;
    for (int j = 0; j < kColumns; ++j) {
      sum += x[static_cast<size_t>(row * kColumns + j)];
      if (from[row * kColumns + j] > from[row * kColumns + best]) best = j;
    }
    CHECK(sums[row] == sum);  // whole numbers below 2^24: exact in any order
    CHECK(places[row] == best);
  }
  CHECK(sums[2] != sums[2]);
  CHECK(places[2] == 500);
}

TEST_SUITE("cuda/prelude") {
  TEST_CASE("the threads of a row join what each has") {
    check_rows<32>();
    check_rows<256>();
  }

  TEST_CASE("divisions round as PyTorch's do") {
    CHECK(floor_divide(-7LL, 2LL) == -4);
    CHECK(floor_divide(-7.0f, 2.0f) == -4.0f);
    CHECK(remainder_of(-7LL, 3LL) == 2);
    CHECK(remainder_of(7.5, -2.0) == -0.5);
    CHECK(math_pow(3LL, 4LL) == 81);
    CHECK(math_pow(2LL, -1LL) == 0);
    CHECK(clamped_index(-1, 5) == 4);
    CHECK(clamped_index(7, 5) == 4);
  }

  TEST_CASE("halves are rounded to even, and NaN passes through") {
    CHECK(round_to<half_t>(2049.0f) == 2048.0f);
    CHECK(round_to<half_t>(2051.0f) == 2052.0f);
    CHECK(round_to<bfloat16_t>(257.0f) == 256.0f);
    CHECK(round_to<bfloat16_t>(259.0f) == 260.0f);
    CHECK(math_max(kNan, 1.0f) != math_max(kNan, 1.0f));
    CHECK(math_max(1.0f, kNan) != math_max(1.0f, kNan));
  }
}

}  // namespace
