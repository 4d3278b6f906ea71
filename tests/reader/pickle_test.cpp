#include "reader/pickle.hpp"

#include <doctest/doctest.h>

#include <array>

#include "zip_writer.hpp"

using namespace backplane;
using namespace backplane::testing;
using namespace std::string_literals;

namespace {

constexpr std::array<std::string_view, 1> kAllowed = {"m.f"};

Result<Pickle> read(const std::string& bytes) {
  return read_pickle(bytes_of(bytes), kAllowed);
}

}  // namespace

TEST_SUITE("core/reader/pickle") {
  // The bytes below are what Python's pickle.dumps gives.
  TEST_CASE("values of every kind are read") {
    // {'a': (1, -2, 300, 70000, 2**40, 1.5, None, True, False), 'b': ['x', []]}, protocol 2
    const std::string bytes =
        "\x80\x02}q\x00(X\x01\x00\x00\x00"
        "aq\x01(K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00\x8a\x06\x00\x00\x00\x00\x00\x01"
        "G?\xf8\x00\x00\x00\x00\x00\x00N\x88\x89tq\x02X\x01\x00\x00\x00"
        "bq\x03]q\x04(X\x01\x00\x00\x00xq\x05]q\x06"
        "eu."s;
    const auto pickle = read(bytes);
    REQUIRE_MESSAGE(pickle.ok(), pickle.error().message);
    const PickleValue& dict = pickle->top();
    REQUIRE(dict.kind == PickleKind::dict);
    REQUIRE(dict.items.size() == 4);
    CHECK((*pickle)[dict.items[0]].text == "a");
    const PickleValue& tuple = (*pickle)[dict.items[1]];
    REQUIRE(tuple.items.size() == 9);
    const int64_t integers[] = {1, -2, 300, 70000, int64_t{1} << 40};
    for (size_t i = 0; i < std::size(integers); ++i) {
      CHECK((*pickle)[tuple.items[i]].integer == integers[i]);
    }
    CHECK((*pickle)[tuple.items[5]].real == 1.5);
    CHECK((*pickle)[tuple.items[6]].kind == PickleKind::none);
    CHECK((*pickle)[tuple.items[7]].integer == 1);
    CHECK((*pickle)[tuple.items[8]].kind == PickleKind::boolean);
    const PickleValue& list = (*pickle)[dict.items[3]];
    REQUIRE(list.items.size() == 2);
    CHECK((*pickle)[list.items[0]].text == "x");
    CHECK((*pickle)[list.items[1]].kind == PickleKind::list);
  }

  TEST_CASE("protocol 4 with frames and memoized texts is read") {
    // ('ab', 'ab'), protocol 4
    const auto pickle =
        read("\x80\x04\x95\x0a\x00\x00\x00\x00\x00\x00\x00\x8c\x02"s + "ab\x94h\x00\x86\x94."s);
    REQUIRE_MESSAGE(pickle.ok(), pickle.error().message);
    REQUIRE(pickle->top().items.size() == 2);
    CHECK(pickle->top().items[0] == pickle->top().items[1]);
  }

  TEST_CASE("calls of allowed globals are recorded, an OrderedDict is a dict") {
    const auto call = read("\x80\x02"s + "cm\nf\nK\x05\x85R.");
    REQUIRE(call.ok());
    CHECK(call->top().kind == PickleKind::call);
    CHECK((*call)[call->top().items[0]].text == "m.f");
    CHECK((*call)[call->top().items[1]].integer == 5);
    const auto dict = read("ccollections\nOrderedDict\n)R(K\x01K\x02u}b.");
    REQUIRE(dict.ok());
    CHECK(dict->top().kind == PickleKind::dict);
    CHECK(dict->top().items.size() == 2);
  }

  TEST_CASE("what could run code is refused by its name") {
    for (const std::string& bytes :
         {"cposix\nsystem\n(X\x02\x00\x00\x00idtR."s, "\x8c\x05posix\x8c\x06system\x93."s}) {
      const auto pickle = read(bytes);
      REQUIRE_FALSE(pickle.ok());
      CHECK(pickle.error().code == Code::unsupported);
      CHECK(pickle.error().message.find("posix.system") != std::string::npos);
    }
  }

  TEST_CASE("malformed pickles are refused") {
    const std::string deep_mark(100000, '(');
    for (const std::string& bytes : {""s,
                                     "."s,
                                     "K"s,
                                     "K\x01"s,
                                     "a."s,
                                     "(."s,
                                     "]a."s,
                                     "K\x01K\x02"s + "a.",
                                     "]K\x01K\x02s."s,
                                     "}K\x01s."s,
                                     "}(K\x01u."s,
                                     "e."s,
                                     "t."s,
                                     "K\x01\x86."s,
                                     "(K\x01(\x86."s,
                                     "h\x05."s,
                                     "q\x05."s,
                                     "K\x01K\x02R."s,
                                     "cm\nf\nK\x01R."s,
                                     "K\x01}b."s,
                                     "Q."s,
                                     "0."s,
                                     "X\xff\xff\xff\xffx."s,
                                     "\x8a\x09\x01\x02\x03\x04\x05\x06\x07\x08\x09."s,
                                     "cm"s,
                                     "\x80\x63."s,
                                     "\x8d\xff\xff\xff\xff\xff\xff\xff\xffx."s,
                                     "i."s,
                                     deep_mark,
                                     "K\x01K\x02\x93."s}) {
      CAPTURE(bytes.substr(0, 20));
      CHECK_FALSE(read(bytes).ok());
    }
  }

  TEST_CASE("a list that holds itself is read") {
    const auto pickle = read("]q\x00h\x00"s + "a.");
    REQUIRE(pickle.ok());
    CHECK(pickle->top().items == std::vector<uint32_t>{pickle->root});
  }

  TEST_CASE("a long tuple can't be copied into many calls") {
    std::string bytes = "(";
    for (int i = 0; i < 20000; ++i) bytes += "N";
    bytes += "tq\x01"s + "0cm\nf\nq\x02"s;
    bytes += "0";
    for (int i = 0; i < 5000; ++i) bytes += "h\x02h\x01R0"s;
    bytes += "N.";
    const auto pickle = read(bytes);
    REQUIRE_FALSE(pickle.ok());
    CHECK(pickle.error().message.find("too many arguments") != std::string::npos);
  }
}
