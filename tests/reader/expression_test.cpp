#include "reader/expression.hpp"

#include <doctest/doctest.h>

#include "reader/symbolic.hpp"

using namespace backplane;

namespace {

constexpr const char* kS0 = "Symbol('s0', positive=True, integer=True)";

std::string with_s0(std::string text) {
  for (size_t at; (at = text.find('$')) != std::string::npos;) text.replace(at, 1, kS0);
  return text;
}

struct Reading {
  SymbolTable symbols;
  SymbolicReader reader{symbols};

  SymInt read(const std::string& text) {
    auto value = reader.read(with_s0(text), std::nullopt);
    REQUIRE_MESSAGE(value.ok(), value.error().message);
    return *value;
  }
  // The value at s0 = `size`, s1 = 10.
  std::optional<int64_t> at(SymInt value, int64_t size) {
    SymbolValues given(symbols.num_symbols());
    if (const auto s0 = symbols.find("s0")) given[*symbols.as_symbol(*s0)] = size;
    if (const auto s1 = symbols.find("s1")) given[*symbols.as_symbol(*s1)] = 10;
    return symbols.evaluate(value, given);
  }
};

}  // namespace

TEST_SUITE("core/reader/expression") {
  TEST_CASE("both spellings have the values that Python gives") {
    struct Row {
      const char* text;
      int64_t at_7;
    };
    const Row rows[] = {
        {"Integer(5)", 5},
        {"-5", -5},
        {"$", 7},
        {"s0", 7},
        {"Add(Mul(Integer(16), $), Integer(-3))", 109},
        {"2*s0 + 1", 15},
        {"s0 - s1 - 1", -4},
        {"2*(s0 - 3)*s1", 80},
        {"s0**2", 49},
        {"-s0**2", -49},
        {"Pow($, Integer(3))", 343},
        {"PowByNatural($, Integer(2))", 49},
        {"FloorDiv($, Integer(2))", 3},
        {"s0//2", 3},
        {"(s0 + 1)//2*3", 12},
        {"s0 % 4", 3},
        {"Mod($, Integer(4))", 3},
        {"PythonMod(Add($, Integer(-10)), Integer(4))", 1},
        {"ModularIndexing($, Integer(2), Integer(2))", 1},
        {"CleanDiv(Mul(Integer(4), $), Integer(2))", 14},
        {"CeilDiv($, Integer(2))", 4},
        {"Max(Integer(1), $, s1)", 10},
        {"Min(1, s0)", 1},
        {"LShift($, Integer(2))", 28},
        {"RShift($, Integer(1))", 3},
        {"BitwiseFn_bitwise_and($, Integer(6))", 6},
        {"BitwiseFn_bitwise_or($, Integer(8))", 15},
        {"Equality($, Integer(7))", 1},
        {"Eq(s0, 8)", 0},
        {"Ne(s0, 8)", 1},
        {"s0 >= 7", 1},
        {"s0 > 7", 0},
        {"s0 < 8", 1},
        {"StrictGreaterThan($, Integer(6))", 1},
        {"GreaterThan($, Integer(8))", 0},
        {"(s0 < 8) & (s1 == 10)", 1},
        {"And(LessThan($, Integer(8)), Not(Equality($, Integer(7))))", 0},
        {"Or(false, True)", 1},
        {"~(s0 < 8) | (s0 == 7)", 1},
        {"Where(StrictLessThan($, Integer(8)), Integer(4), Integer(5))", 4},
        {"Identity($)", 7},
        {"TruncToInt(IntTrueDiv($, Integer(2)))", 3},
        {"FloorToInt(Mul(Rational(1, 2), $))", 3},
        {"floor(s0/2)", 3},
        {"CeilToInt(IntTrueDiv($, Integer(2)))", 4},
        {"TruncToInt(IntTrueDiv(Add($, Integer(-10)), Integer(2)))", -1},
        {"TruncToInt(Mul(Float('2.5', precision=53), ToFloat($)))", 17},
        {"FloorToInt(FloatTrueDiv(ToFloat($), Float('4.0', precision=53)))", 1},
        {"RoundToInt(ToFloat($))", 7},
        {"Symbol('s0', integer=True) + 1", 8},
    };
    for (const Row& row : rows) {
      CAPTURE(row.text);
      Reading reading;
      CHECK(reading.at(reading.read(row.text), 7) == row.at_7);
    }
  }

  TEST_CASE("equal expressions are equal, however they are spelled") {
    Reading reading;
    CHECK(reading.read("Add($, $)") == reading.read("2*s0"));
    CHECK(reading.read("Mul($, Add(s1, Integer(1)))") == reading.read("s1*s0 + s0"));
  }

  TEST_CASE("what floats decide becomes a symbol with the range and hint that follow") {
    Reading reading;
    REQUIRE(reading.reader.constrain("s0", {4, 96}).ok());
    REQUIRE(reading.reader.read("s0", 8).ok());
    const SymInt value =
        reading.read("Mul(Integer(3), TruncToInt(Mul(Float('1.7', precision=53), ToFloat($))))");
    CHECK(reading.symbols.range(value) == Range{18, 489});
    const std::string again = "TruncToInt(Mul(Float('1.7', precision=53), ToFloat($)))*3";
    CHECK(reading.read(again) == value);
    reading.reader.finish();
    CHECK(reading.symbols.hint(value) == 39);
    // Half to even, and functions that nobody knows.
    CHECK(reading.symbols.range(reading.read("RoundToInt(IntTrueDiv($, Integer(8)))")) ==
          Range{0, 12});
    CHECK(reading.symbols.range(reading.read("Mystery($)")) == Range{-kUnbounded, kUnbounded});
  }

  TEST_CASE("sizes are not negative, values may be, until ranges say otherwise") {
    Reading reading;
    CHECK(reading.symbols.range(reading.read("s0")) == Range{0, kUnbounded});
    CHECK(reading.symbols.range(reading.read("u0")) == Range{-kUnbounded, kUnbounded});
    REQUIRE(reading.reader.constrain("u1", {0, 60}).ok());
    CHECK(reading.symbols.range(reading.read("u1")) == Range{0, 60});
    REQUIRE(reading.reader.constrain("2*s2", {4, 60}).ok());
    CHECK_FALSE(reading.reader.constrain("s3", {5, 4}).ok());
  }

  TEST_CASE("malformed expressions are refused, deep and long ones too") {
    std::string nested = "s0";
    for (int i = 0; i < 200; ++i) nested = "(" + nested + ")";
    std::string quotient = "s0";
    for (int i = 0; i < 200; ++i) quotient += "//2";
    std::string many = "s0";
    for (int i = 0; i < 20000; ++i) many += "+1";
    for (const std::string& text :
         {std::string(), std::string("("), std::string("s0 +"), std::string("Add(s0"),
          std::string("s0 s1"), std::string("Symbol('s0)"), std::string("99999999999999999999"),
          std::string("Add('x')"), std::string("Symbol('')"), std::string("f(a=)"),
          std::string("1..2"), std::string("\xff"), nested, quotient, many}) {
      CAPTURE(text.substr(0, 30));
      CHECK_FALSE(parse_expression(text).ok());
    }
    std::string sum = "s0";
    for (int i = 0; i < 4000; ++i) sum += "+s" + std::to_string(i);
    CHECK(parse_expression(sum).ok());
  }
}
