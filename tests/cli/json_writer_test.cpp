#include "json_writer.hpp"

#include <doctest/doctest.h>
#include <simdjson.h>

#include <cmath>
#include <limits>
#include <string>

namespace backplane::cli {
namespace {

TEST_SUITE("cli/json_writer") {
  TEST_CASE("documents have their commas in the right places") {
    JsonWriter json;
    json.begin_object();
    json.member("a", 1);
    json.key("b");
    json.begin_array();
    json.value(true);
    json.null();
    json.begin_object();
    json.end_object();
    json.begin_array();
    json.end_array();
    json.value(-1.5);
    json.end_array();
    json.member("c", "x");
    json.member("d", std::numeric_limits<uint64_t>::max());
    json.member("e", std::nan(""));
    json.end_object();
    CHECK(
        json.text() ==
        R"({"a": 1, "b": [true, null, {}, [], -1.5], "c": "x", "d": 18446744073709551615, "e": null})");
  }

  TEST_CASE("any bytes give JSON that a parser takes, and UTF-8 comes back") {
    std::string all;
    for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
    const std::string texts[] = {
        all,        "ä€𝄞\"\\/\n\t", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
        "\xE2\x82", "\xF0\x9D\x84", "\x7F",     "\xE0\x80\x80"};
    for (const std::string& text : texts) {
      JsonWriter json;
      json.begin_array();
      json.value(text);
      json.end_array();
      simdjson::dom::parser parser;
      std::string_view back;
      const auto error = parser.parse(json.text()).at(0).get(back);
      CAPTURE(json.text());
      CHECK(error == simdjson::SUCCESS);
      if (text == texts[1] || text == "\x7F") CHECK(back == text);
    }
  }
}

}  // namespace
}  // namespace backplane::cli
