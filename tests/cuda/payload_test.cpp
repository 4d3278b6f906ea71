// The payload: written and read, and every kind of damage refused.
#include <doctest/doctest.h>

#include <backplane/graph.h>

#include <cstring>
#include <random>

#include "cuda/payload.hpp"
#include "cuda/sizes.hpp"
#include "sample_plan.hpp"

namespace backplane::cuda {
namespace {

// Bytes at an address that is aligned to 16.
struct Aligned {
  explicit Aligned(std::span<const std::byte> bytes) : words(bytes.size() / 16 + 1) {
    size = bytes.size();
    if (size != 0) std::memcpy(words.data(), bytes.data(), size);
  }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(words.data()), size};
  }
  struct alignas(16) Word {
    std::byte bytes[16];
  };
  std::vector<Word> words;
  size_t size = 0;
};

TEST_SUITE("cuda/payload") {
  TEST_CASE("what is written is read, and written again has the same bytes") {
    const Plan plan = sample_plan();
    const auto bytes = write_payload(plan);
    const Aligned held(bytes);
    const auto read = read_payload(held.bytes());
    REQUIRE_MESSAGE(read.ok(), read.error().message);
    CHECK(text_of(*read, read->summary[0].compiler) == "nvrtc 13.0");
    CHECK(read->steps.size() == plan.steps.size());
    CHECK(read->steps[1].debug_id == 7);
    CHECK(text_of(*read, read->parts[0].key) == "layer.weight");
    CHECK(read->convolutions[0].epilogue == Epilogue::relu);
    CHECK(write_payload(plan) == bytes);
  }

  TEST_CASE("a payload cut off at any byte is refused") {
    const auto bytes = write_payload(sample_plan());
    for (size_t size = 0; size < bytes.size(); ++size) {
      const Aligned held(std::span<const std::byte>(bytes).first(size));
      CHECK_FALSE(read_payload(held.bytes()).ok());
    }
  }

  TEST_CASE("a flipped bit is refused wherever it is") {
    const auto bytes = write_payload(sample_plan());
    Aligned held(bytes);
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      auto* at = reinterpret_cast<std::byte*>(held.words.data()) + bit / 8;
      *at ^= std::byte{1} << (bit % 8);
      CHECK_FALSE(read_payload(held.bytes()).ok());
      *at ^= std::byte{1} << (bit % 8);
    }
    CHECK(read_payload(held.bytes()).ok());
  }

  TEST_CASE("records that name what is not there are refused") {
    Plan plan = sample_plan();
    size_t refused = 0;
    size_t tried = 0;
    // Each 32-bit word of each record in turn, as an index far away.
    for_each_array(plan, [&](auto& array) {
      using T = typename std::remove_cvref_t<decltype(array)>::value_type;
      if constexpr (sizeof(T) >= 4) {
        auto* words = reinterpret_cast<char*>(array.data());
        for (size_t at = 0; at + 4 <= array.size() * sizeof(T); at += 4) {
          uint32_t old = 0;
          std::memcpy(&old, words + at, 4);
          constexpr uint32_t kFar = 0x7ffffff0;
          std::memcpy(words + at, &kFar, 4);
          ++tried;
          if (!check_plan(view_of(plan)).ok()) ++refused;
          std::memcpy(words + at, &old, 4);
        }
      }
    });
    CHECK(check_plan(view_of(plan)).ok());
    CHECK(tried > 300);
    CHECK(refused > tried / 2);  // the others are numbers that may have any value
  }

  TEST_CASE("steps that touch what they may not are refused") {
    const auto refuses = [](auto change) {
      Plan plan = sample_plan();
      change(plan);
      return !check_plan(view_of(plan)).ok();
    };
    CHECK(refuses([](Plan& p) { p.copies[1].to = 0; }));          // an input is written
    CHECK(refuses([](Plan& p) { p.copies[1].to = 2; }));          // a weight is written
    CHECK(refuses([](Plan& p) { p.copies[1].to = 3; }));          // derived, after the setup
    CHECK(refuses([](Plan& p) { p.copies[0].from = 0; }));        // an input during the setup
    CHECK(refuses([](Plan& p) { p.buffers[4].last_step = 4; }));  // an arena buffer is dead
    CHECK(refuses([](Plan& p) { p.arguments[1].kind = ParameterKind::u32; }));
    CHECK(refuses([](Plan& p) { p.tokens.back().op = 99; }));
    CHECK(refuses([](Plan& p) { p.tokens[2].count = 2; }));        // a dimension too many
    CHECK(refuses([](Plan& p) { p.sizes[3].tokens.count = 2; }));  // two values are left
    CHECK(refuses([](Plan& p) { p.bytes[1] = std::byte{1}; }));    // PTX without its end
  }

  TEST_CASE("another version of the format is told apart") {
    auto bytes = write_payload(sample_plan());
    bytes[7] = std::byte{2};
    const Aligned held(bytes);
    const auto read = read_payload(held.bytes());
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().code == Code::incompatible);
  }
}

TEST_SUITE("cuda/sizes") {
  int64_t value_of(std::initializer_list<Token> tokens, int64_t bound = INT64_MAX) {
    Plan plan;
    plan.summary.push_back({});
    plan.tokens = tokens;
    plan.sizes.push_back({{0, static_cast<uint32_t>(tokens.size())}, bound});
    REQUIRE(check_plan(view_of(plan)).ok());
    const auto values = evaluate_sizes(view_of(plan), {});
    return values.ok() ? (*values)[0] : -1000;
  }

  TEST_CASE("expressions round to minus infinity and notice overflow") {
    const auto two = [](int64_t a, int64_t b, uint32_t op) {
      return value_of({{BP_SYM_CONSTANT, 0, a}, {BP_SYM_CONSTANT, 0, b}, {op, 2, 0}});
    };
    CHECK(two(-7, 2, BP_SYM_FLOOR_DIV) == -4);
    CHECK(two(-7, 2, BP_SYM_CEIL_DIV) == -3);
    CHECK(two(-7, 2, BP_SYM_MOD) == 1);
    CHECK(two(7, -2, BP_SYM_MOD) == -1);
    CHECK(two(3, 4, BP_SYM_POW) == 81);
    CHECK(two(3, 4, BP_SYM_MAX) == 4);
    CHECK(two(3, 4, BP_SYM_LT) == 1);
    CHECK(two(3, 0, BP_SYM_MOD) == -1000);
    CHECK(two(INT64_MAX, 2, BP_SYM_MUL) == -1000);
    CHECK(two(INT64_MIN, -1, BP_SYM_FLOOR_DIV) == -1000);
    CHECK(value_of({{BP_SYM_CONSTANT, 0, 5}}, 4) == -1000);  // above its bound
    CHECK(value_of({{BP_SYM_CONSTANT, 0, -5}}, -10) == -5);  // a step backwards has no bound
  }

  TEST_CASE("sizes come from the inputs") {
    const Plan plan = sample_plan();
    const int64_t shape[] = {3, 4};
    const InputFacts input{shape};
    const auto values = evaluate_sizes(view_of(plan), {&input, 1});
    REQUIRE(values.ok());
    CHECK(*values == std::vector<int64_t>{1, 4, 3, 48, 1});
    CHECK_FALSE(evaluate_sizes(view_of(plan), {}).ok());
    const InputFacts other{std::span(shape).first(1)};
    CHECK_FALSE(evaluate_sizes(view_of(plan), {&other, 1}).ok());
  }
}

}  // namespace
}  // namespace backplane::cuda
