// backplane.signature/1: what is written is read back, and what is wrong is named.
#include "runtime/signature.hpp"

#include <doctest/doctest.h>

using namespace backplane;
using namespace backplane::runtime;

namespace {

Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

}  // namespace

TEST_SUITE("core/runtime/signature") {
  TEST_CASE("a signature is read back as it was written") {
    MethodSignature method{.name = "prefill", .symbols = {}, .inputs = {}, .outputs = {}};
    method.symbols = {{"s0", 1, 512, 8}, {"s1", -3, std::numeric_limits<int64_t>::max(), 1}, {}};
    method.inputs = {{"x", {{0, 2, -1}, {}, {1, 1, 0}}, {}, -1},
                     {"cache", {}, {}, 12},
                     {"n", {}, DimRule{0, 1, 0}, -1},
                     {"f", {}, DimRule{}, -1},
                     {}};
    method.outputs = {{"y \"q\"", {{0, 1, 0}}, {}, -1}};
    const Signature signature{
        {method, {.name = "decode", .symbols = {}, .inputs = {}, .outputs = {}}}};
    const std::string json = write(signature);
    CAPTURE(json);
    const auto read = read_signature(bytes_of(json));
    REQUIRE(read.ok());
    CHECK(*read == signature);
    CHECK(*read_signature(bytes_of(write(Signature{}))) == Signature{});
  }

  TEST_CASE("the text is the one that the header shows") {
    const MethodSignature method{
        "forward", {{"s0", 1, 512, 8}}, {{"x", {{0, 2, 1}, DimRule::fixed(8), {}}, {}, -1}}, {}};
    CHECK(
        write(Signature{{method}}) ==
        R"({"methods":[{"name":"forward","symbols":[{"name":"s0","min":1,"max":512,"multiple":8}],)"
        R"("inputs":[{"name":"x","dims":[{"symbol":0,"scale":2,"offset":1},8,null]}]}]})");
    CHECK(*read_signature(bytes_of(write(Signature{{method}}))) == Signature{{method}});
  }

  TEST_CASE("a signature that is wrong is refused with the place and the reason") {
    struct Case {
      std::string_view json;
      std::string_view says;
    };
    constexpr Case kCases[] = {
        {"{", "not valid JSON"},
        {R"({"methods":{}})", "methods: is not a JSON array"},
        {R"({"methods":[3]})", "methods[0]: is not a JSON object"},
        {R"({"methods":[{"name":3}]})", "methods[0].name: is not a string"},
        {R"({"methods":[{"symbols":[{"multiple":0}]}]})", "symbols[0].multiple: is 0, less than 1"},
        {R"({"methods":[{"symbols":[{"max":1e9}]}]})", "is not a 64-bit integer"},
        {R"({"methods":[{"inputs":[{"dims":[{"symbol":0}]}]}]})", "names symbol 0 of 0"},
        {R"({"methods":[{"inputs":[{"written":99999999999}]}]})", "too large"},
    };
    for (const Case& c : kCases) {
      CAPTURE(c.json);
      const auto read = read_signature(bytes_of(c.json));
      REQUIRE_FALSE(read.ok());
      CHECK(read.error().message.find(c.says) != std::string::npos);
    }
  }
}
