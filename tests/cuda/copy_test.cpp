// Copies between tensors of all strides.
#include <doctest/doctest.h>

#include <array>
#include <numeric>
#include <vector>

#include "cuda/runtime/copy.hpp"
#include "cuda/standin_fixture.hpp"

namespace backplane::cuda {
namespace {

// A tensor over `storage`, of float.
struct Tensor {
  std::vector<float> storage;
  std::vector<int64_t> shape, strides;
  int64_t start = 0;

  bp_tensor_t view() {
    return {storage.data(),
            {BP_DEV_CUDA, 0},
            static_cast<int32_t>(shape.size()),
            {BP_DT_FLOAT, 32, 1},
            shape.data(),
            strides.data(),
            static_cast<uint64_t>(start) * sizeof(float)};
  }
  float& at(const std::vector<int64_t>& index) {
    int64_t place = start;
    for (size_t d = 0; d < index.size(); ++d) place += index[d] * strides[d];
    return storage[static_cast<size_t>(place)];
  }
};

template <class F>
void each(const std::vector<int64_t>& shape, F&& visit) {
  std::vector<int64_t> index(shape.size(), 0);
  for (const int64_t size : shape) {
    if (size == 0) return;
  }
  while (true) {
    visit(index);
    size_t d = shape.size();
    while (d-- > 0) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
    if (d == SIZE_MAX) return;
  }
}

TEST_SUITE_BEGIN("cuda/copy");

TEST_CASE("every element arrives, and nothing else is written") {
  struct Case {
    const char* name;
    std::vector<int64_t> shape, to, from;
    int64_t to_start, from_start;
  };
  const std::vector<Case> cases = {
      {"a scalar", {}, {}, {}, 0, 3},
      {"dense", {2, 3, 4}, {12, 4, 1}, {12, 4, 1}, 0, 0},
      {"channels last from contiguous", {2, 3, 4, 5}, {60, 1, 15, 3}, {60, 20, 5, 1}, 0, 0},
      {"contiguous from channels last", {2, 3, 4, 5}, {60, 20, 5, 1}, {60, 1, 15, 3}, 0, 0},
      {"rows out of wider rows", {7, 3}, {3, 1}, {9, 1}, 0, 2},
      {"rows into wider rows", {7, 3}, {10, 1}, {3, 1}, 4, 0},
      {"every other element", {5}, {1}, {2}, 0, 0},
      {"one element for all", {4, 3}, {3, 1}, {0, 0}, 0, 5},
      {"a row for all", {4, 3}, {3, 1}, {0, 1}, 0, 1},
      {"transposed", {6, 7}, {7, 1}, {1, 6}, 0, 0},
      {"sizes of one", {1, 4, 1}, {99, 1, 77}, {4, 1, 1}, 0, 0},
      {"nothing", {3, 0}, {1, 1}, {1, 1}, 0, 0},
  };
  standin::Fixture fixture;
  const auto driver = fixture.libraries.driver();
  REQUIRE(driver.ok());
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Tensor from{std::vector<float>(200), c.shape, c.from, c.from_start};
    std::iota(from.storage.begin(), from.storage.end(), 1.0F);
    Tensor to{std::vector<float>(200, -1), c.shape, c.to, c.to_start};
    Tensor expected = to;
    each(c.shape, [&](const auto& index) { expected.at(index) = from.at(index); });
    REQUIRE(copy_tensor(**driver, to.view(), from.view(), nullptr).ok());
    CHECK(to.storage == expected.storage);
  }
}

TEST_CASE("tensors of other shapes are refused") {
  standin::Fixture fixture;
  const auto driver = fixture.libraries.driver();
  REQUIRE(driver.ok());
  Tensor a{std::vector<float>(6), {2, 3}, {3, 1}};
  Tensor b{std::vector<float>(6), {3, 2}, {2, 1}};
  const Status status = copy_tensor(**driver, a.view(), b.view(), nullptr);
  REQUIRE(!status.ok());
  CHECK(status.error().code == Code::invalid_argument);
}

TEST_SUITE_END();

}  // namespace
}  // namespace backplane::cuda
