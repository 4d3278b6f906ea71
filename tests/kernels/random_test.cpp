// Random kernels: their values are not PyTorch's, but their range, their mean and what they refuse
// are.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "call.hpp"
#include "portable/library.hpp"

namespace {

using namespace backplane;
using namespace backplane::testing;

constexpr int64_t kMany = 4000;
constexpr bp_dtype_t kInt64 = {0, 64, 1};

Call call(const char* name) {
  return {*portable::library(), name};
}

std::vector<float> drawn(const char* name, double a, double b) {
  HostTensor like = HostTensor::of({kMany}, std::vector<float>(kMany)), out;
  Call c = call(name);
  c.tensor(like).number(a).number(b).none().out(out);
  REQUIRE(c.run() == BP_OK);
  return out.values<float>();
}

double mean(const std::vector<float>& x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

TEST_SUITE("plugins/portable") {
  // Five standard errors: chance fails one run in a million, and the generator here is fixed.
  TEST_CASE("uniform values fill their range and nothing else") {
    const std::vector<float> x = drawn("aten::uniform.out", -2, 4);
    const auto [low, high] = std::minmax_element(x.begin(), x.end());
    CHECK(*low >= -2);
    CHECK(*high < 4);
    CHECK(*high - *low > 5.9);
    CHECK(std::abs(mean(x) - 1) < 5 * 6 / std::sqrt(12.0 * kMany));
  }

  TEST_CASE("normal values have the mean and the deviation asked for") {
    std::vector<float> x = drawn("aten::normal_functional.out", 3, 2);
    CHECK(std::abs(mean(x) - 3) < 5 * 2 / std::sqrt(double{kMany}));
    for (float& v : x) v = (v - 3) * (v - 3);
    CHECK(std::abs(mean(x) - 4) < 5 * 4 * std::sqrt(2.0 / kMany));
  }

  TEST_CASE("a permutation has each number once, and is not the first one") {
    HostTensor out;
    out.dtype = kInt64;
    Call c = call("aten::randperm.out");
    c.number(int64_t{100}).out(out);
    REQUIRE(c.run() == BP_OK);
    std::vector<int64_t> x = out.values<int64_t>();
    CHECK_FALSE(std::is_sorted(x.begin(), x.end()));
    std::sort(x.begin(), x.end());
    for (int64_t i = 0; i < 100; ++i) CHECK(x[static_cast<size_t>(i)] == i);
  }

  TEST_CASE("integers reach both ends of their range and no further") {
    HostTensor out;
    out.dtype = kInt64;
    Call c = call("aten::randint.low_out");
    c.number(int64_t{-3}).number(int64_t{4}).ints({kMany}).out(out);
    REQUIRE(c.run() == BP_OK);
    const std::vector<int64_t> x = out.values<int64_t>();
    CHECK(*std::min_element(x.begin(), x.end()) == -3);
    CHECK(*std::max_element(x.begin(), x.end()) == 3);
  }

  TEST_CASE("chances of 0 and 1 leave nothing to chance") {
    HostTensor p = HostTensor::of({4}, {0, 1, 0, 1}), out;
    Call c = call("aten::bernoulli.out");
    c.tensor(p).none().out(out);
    REQUIRE(c.run() == BP_OK);
    CHECK(out.values<float>() == std::vector<float>{0, 1, 0, 1});
  }

  TEST_CASE("dropout scales what it keeps, and does nothing outside of training") {
    for (const bool train : {true, false}) {
      HostTensor x = HostTensor::of({kMany}, std::vector<float>(kMany, 3)), out, mask;
      mask.dtype = {6, 8, 1};
      Call c = call("aten::native_dropout.out");
      c.tensor(x).number(0.25).number(train).out(out).out(mask);
      REQUIRE(c.run() == BP_OK);
      const std::vector<float> y = out.values<float>();
      const std::vector<uint8_t> kept = mask.values<uint8_t>();
      for (size_t i = 0; i < y.size(); ++i)
        CHECK(y[i] == (kept[i] == 0 ? 0.0F : train ? 4.0F : 3.0F));
      const auto share = static_cast<double>(std::count(kept.begin(), kept.end(), 1)) / kMany;
      CHECK(std::abs(share - (train ? 0.75 : 1)) < 5 * std::sqrt(0.25 * 0.75 / kMany));
    }
  }

  TEST_CASE("samples without replacement differ, and never have a weight of 0") {
    HostTensor weights = HostTensor::of({5}, {1, 0, 2, 0, 3}), out;
    out.dtype = kInt64;
    Call c = call("aten::multinomial.out");
    c.tensor(weights).number(int64_t{3}).number(false).none().out(out);
    REQUIRE(c.run() == BP_OK);
    std::vector<int64_t> x = out.values<int64_t>();
    std::sort(x.begin(), x.end());
    CHECK(x == std::vector<int64_t>{0, 2, 4});
  }

  TEST_CASE("empty ranges, chances above 1 and more samples than there are get refused") {
    HostTensor x = HostTensor::of({2}, {0.5, 1.5}), out;
    Call range = call("aten::randint.low_out");
    range.number(int64_t{3}).number(int64_t{3}).ints({2}).out(out);
    CHECK(range.run() == BP_INVALID_ARGUMENT);
    Call chance = call("aten::bernoulli.out");
    chance.tensor(x).none().out(out);
    CHECK(chance.run() == BP_INVALID_ARGUMENT);
    CHECK(chance.error().find("1.5") != std::string::npos);
    Call samples = call("aten::multinomial.out");
    samples.tensor(x).number(int64_t{3}).number(false).none().out(out);
    CHECK(samples.run() == BP_INVALID_ARGUMENT);
    Call uniform = call("aten::uniform.out");
    uniform.tensor(x).number(2.0).number(1.0).none().out(out);
    CHECK(uniform.run() == BP_INVALID_ARGUMENT);
  }
}

}  // namespace
