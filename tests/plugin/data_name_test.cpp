// The rules of names of data files, each at its boundary.
#include <doctest/doctest.h>

#include <string>

#include "plugin/option_values.hpp"

using backplane::check_data_name;

namespace {

std::string with_case(std::string word, unsigned upper) {
  for (size_t i = 0; i < word.size(); ++i) {
    const bool letter = word[i] >= 'a' && word[i] <= 'z';
    if (letter && (upper >> i & 1) != 0) word[i] = static_cast<char>(word[i] - 'a' + 'A');
  }
  return word;
}

}  // namespace

TEST_SUITE("core/plugin") {
  TEST_CASE("a data name has 1 to 200 characters") {
    CHECK_FALSE(check_data_name("").ok());
    CHECK(check_data_name("a").ok());
    CHECK(check_data_name(std::string(200, 'a')).ok());
    CHECK_FALSE(check_data_name(std::string(201, 'a')).ok());
  }

  TEST_CASE("of all bytes, ASCII letters, digits, '_', '-' and '.' are allowed and no others") {
    for (int byte = 0; byte < 256; ++byte) {
      CAPTURE(byte);
      const char c = static_cast<char>(byte);
      const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                           (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
      CHECK(check_data_name(std::string("x") + c + "y").ok() == allowed);
      const bool first = allowed && c != '.' && c != '-';
      CHECK(check_data_name(std::string(1, c) + "xy").ok() == first);
    }
  }

  TEST_CASE("characters that look like letters are refused and shown as bytes") {
    const auto said = check_data_name("mod\xc3\xa8le");
    REQUIRE_FALSE(said.ok());
    CHECK(
        said.error().message ==
        "data_name can't be 'mod\\xc3\\xa8le': it consists of ASCII letters, digits, '_', '-' and "
        "'.', not '\\xc3'");
    CHECK_FALSE(check_data_name("\xef\xbc\xa1").ok());
  }

  TEST_CASE("a data name does not end in .ptd, in any case of letters") {
    for (unsigned upper = 0; upper < 16; ++upper) {
      const std::string extension = with_case(".ptd", upper);
      CAPTURE(extension);
      CHECK_FALSE(check_data_name("model" + extension).ok());
      CHECK(check_data_name("model" + extension + "x").ok());
    }
    CHECK(check_data_name("ptd").ok());
    CHECK(check_data_name("modelptd").ok());
    CHECK(check_data_name("a.ptd.b").ok());
  }

  TEST_CASE("a data name is no device of Windows, alone or with an extension") {
    std::string devices[24] = {"con", "prn", "aux", "nul"};
    for (size_t n = 0; n < 10; ++n) {
      devices[4 + n] = "com" + std::to_string(n);
      devices[14 + n] = "lpt" + std::to_string(n);
    }
    for (const std::string& device : devices) {
      for (unsigned upper = 0; upper < 8; ++upper) {
        const std::string name = with_case(device, upper);
        CAPTURE(name);
        CHECK_FALSE(check_data_name(name).ok());
        CHECK_FALSE(check_data_name(name + ".tar").ok());
        CHECK_FALSE(check_data_name(name + ".").ok());
        CHECK(check_data_name(name + "x").ok());
        CHECK(check_data_name("x" + name).ok());
        CHECK(check_data_name(name + "-1").ok());
      }
    }
    CHECK(check_data_name("com").ok());
    CHECK(check_data_name("com10").ok());
    CHECK(check_data_name("model.nul").ok());
  }
}
