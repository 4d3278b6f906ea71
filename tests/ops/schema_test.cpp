#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <thread>

#include "ops/schema.hpp"

namespace backplane::ops {
namespace {

constexpr const char* kKinds[] = {"tensor",    "scalar",  "integer", "floating",      "boolean",
                                  "string",    "dtype",   "layout",  "memory_format", "device",
                                  "generator", "dimname", "other"};

std::string number(double value) {
  char text[40];
  (void)std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

// As make/schemas.py writes defaults.
struct DefaultText {
  std::string operator()(const None&) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number(value); }
  std::string operator()(const std::string& value) const { return '"' + value + '"'; }
  std::string operator()(DType value) const { return std::to_string(static_cast<int>(value)); }
  std::string operator()(MemoryFormat value) const {
    return std::to_string(static_cast<int>(value));
  }
  std::string operator()(Layout value) const { return std::to_string(static_cast<int>(value)); }
  std::string operator()(const IntElement& value) const { return std::to_string(value.literal); }
  template <class T>
  std::string operator()(const std::vector<T>& list) const {
    std::string text;
    for (const T& element : list) text += (text.empty() ? "" : ",") + (*this)(element);
    return "[" + text + "]";
  }
  template <class T>
  std::string operator()(const T&) const {
    return "?";
  }
};

std::string kind_text(const Parameter& p) {
  std::string text = kKinds[static_cast<size_t>(p.kind)];
  if (p.list) {
    text += p.optional_elements ? "?[" : "[";
    text += (p.list_size > 0 ? std::to_string(p.list_size) : "") + "]";
  }
  return text + (p.optional ? "?" : "");
}

std::string line(const Schema& schema) {
  std::string text = schema.name + "\t";
  for (const Parameter& p : schema.parameters) {
    if (&p != schema.parameters.data()) text += ";";
    text += (p.keyword_only ? "*" : "") + kind_text(p) + " " + p.name + (p.written ? "!" : "");
    if (p.default_value) text += "=" + std::visit(DefaultText{}, *p.default_value);
  }
  text += "\t";
  for (const Return& r : schema.returns) {
    if (&r != schema.returns.data()) text += ";";
    text += kKinds[static_cast<size_t>(r.kind)];
    if (r.list) text += "[]";
  }
  return text;
}

}  // namespace

TEST_SUITE("core/schema") {
  TEST_CASE("schemas say what torch's own say") {
    const Table table;
    std::ifstream file("ops/schemas.txt");
    std::string expected;
    REQUIRE(std::getline(file, expected));
    const int count = std::stoi(expected);
    int compared = 0;
    while (std::getline(file, expected)) {
      const std::string name = expected.substr(0, expected.find('\t'));
      const Schema* schema = table.find(name);
      REQUIRE_MESSAGE(schema != nullptr, name);
      // Types that no graph has values of are not told apart.
      if (expected.find("other") == std::string::npos) CHECK(line(*schema) == expected);
      ++compared;
    }
    CHECK(compared == (count + 7) / 8);
  }

  TEST_CASE("every row parses, and out forms take what their functional form takes") {
    const Table table;
    int aten = 0;
    int with_out = 0;
    for (const std::string_view name : table.names()) {
      const Schema* schema = table.find(name);
      REQUIRE(schema != nullptr);
      CHECK(schema->name == name);
      aten += name.starts_with("aten::");
      for (const std::string* other : {&schema->functional, &schema->copy, &schema->out}) {
        if (!other->empty()) CHECK_MESSAGE(table.find(*other) != nullptr, name);
      }
      if (!schema->functional.empty()) CHECK(schema->mutates());
      if (schema->out.empty()) continue;
      ++with_out;
      const Schema* out = table.find_out(*schema);
      REQUIRE(out != nullptr);
      size_t outs = 0;
      for (const Parameter& p : out->parameters) {
        const bool known = p.is_out || schema->index_of(p.name) >= 0 || p.default_value.has_value();
        CHECK_MESSAGE(known, name, " ", p.name);
        outs += p.is_out;
      }
      CHECK_MESSAGE(outs == schema->returns.size(), name);
    }
    CHECK(aten > 3113);
    CHECK(with_out > 1400);
  }

  TEST_CASE("facts are those of torch's registry") {
    const Table table;
    struct Case {
      std::string_view name, out, functional, copy, flags;
    };
    const Case cases[] = {
        {"aten::add.Tensor", "aten::add.out", "", "", "c"},
        {"aten::add.Scalar", "aten::add.Scalar_out", "", "", "c"},
        {"aten::add_.Tensor", "", "aten::add.Tensor", "", ""},
        {"aten::relu", "aten::relu.out", "", "", "c"},
        {"aten::sum.dim_IntList", "aten::sum.IntList_out", "", "", "c"},
        {"aten::max.dim", "aten::max.dim_max", "", "", "c"},
        {"aten::max", "aten::max.unary_out", "", "", ""},
        {"aten::full", "aten::full.out", "", "", "c"},
        {"aten::arange.start_step", "aten::arange.start_out", "", "", "c"},
        {"aten::permute", "aten::permute.out", "", "aten::permute_copy", "c"},
        {"aten::permute_copy", "aten::permute_copy.out", "", "", ""},
        {"aten::split.Tensor", "aten::split.Tensor_out", "", "aten::split_copy.Tensor", ""},
        {"aten::slice.Tensor", "aten::slice.Tensor_out", "", "aten::slice_copy.Tensor", "c"},
        {"aten::reshape", "aten::reshape.out", "", "", "i"},
        {"aten::linear", "aten::linear.out", "", "", "i"},
        {"aten::bernoulli_.float", "", "aten::bernoulli.p", "", "r"},
        {"aten::__iand__.Tensor", "", "aten::__and__.Tensor", "", "i"},
        {"aten::native_dropout", "aten::native_dropout.out", "", "", "cr"},
        {"aten::sym_size.int", "", "", "", "ci"},
        {"prims::convert_element_type", "prims::convert_element_type.out", "", "", ""},
        {"et_copy::_h2d_copy", "et_copy::_h2d_copy.out", "", "", ""},
        {"executorch_prim::add.Scalar", "", "", "", ""},
    };
    for (const Case& c : cases) {
      const Schema* schema = table.find(c.name);
      REQUIRE_MESSAGE(schema != nullptr, c.name);
      INFO(c.name);
      CHECK(schema->out == c.out);
      CHECK(schema->functional == c.functional);
      CHECK(schema->copy == c.copy);
      const auto has = [&](char flag) { return c.flags.find(flag) != std::string_view::npos; };
      CHECK(schema->core == has('c'));
      CHECK(schema->composite == has('i'));
      CHECK(schema->random == has('r'));
    }
    CHECK(table.find("aten::no_such") == nullptr);
    const Schema* unbind = table.find("aten::unbind_copy.int_out");
    REQUIRE(unbind != nullptr);
    CHECK(line(*unbind) == "aten::unbind_copy.int_out\ttensor self;integer dim=0;*tensor[] out!\t");
  }

  TEST_CASE("schemas as people write them parse, with one value for a whole list spread") {
    const Result<Schema> schema = parse_schema(
        "my::conv.x(Tensor(a!)? self, Tensor?[] rest, SymInt[2]? stride=1, *, int reduction=Mean, "
        "MemoryFormat? f=contiguous_format, ScalarType t=long, str s='it''s'[0], float e=-1e-05) "
        "-> ()");
    CHECK_FALSE(schema.ok());
    const Result<Schema> good = parse_schema(
        "my::conv.x(Tensor(a!)? self, Tensor?[] rest, SymInt[2]? stride=1, *, int reduction=Mean, "
        "MemoryFormat? f=contiguous_format, ScalarType t=long, str s='x y', float e=-1e-05, "
        "bool[3] mask=[True, False, True]) -> (Tensor(a!) y, Tensor[] z, (int, str) w)");
    REQUIRE(good.ok());
    CHECK(line(*good) ==
          "my::conv.x\ttensor? self!;tensor?[] rest;integer[2]? stride=[1,1];*integer reduction=1;"
          "*memory_format? f=0;*dtype t=4;*string s=\"x y\";*floating e=-1.0000000000000001e-05;"
          "*boolean[3] mask=[True,False,True]\ttensor;tensor[];other");
    const Schema& s = *good;
    CHECK(s.parameters[0].alias == 'a');
    CHECK(s.mutates());
    CHECK(parse_schema("a::b(Tensor(a -> *) self) -> Tensor(a)[]")->parameters[0].alias == '*');
  }

  TEST_CASE("text that is no schema is refused and the place is named") {
    const std::string_view cases[] = {
        "",
        "add",
        "aten::",
        "aten::add(",
        "aten::add(Tensor)->Tensor",
        "aten::add(Tensor a, Tensor a) -> Tensor",
        "aten::add(Tensor a) -> ",
        "aten::add(Tensor a) Tensor",
        "aten::add(Tensor a, *, *, int b) -> Tensor",
        "aten::add(int[99999999999] a=1) -> Tensor",
        "aten::add(int a=1.5) -> Tensor",
        "aten::add(int a=\"1) -> Tensor",
        "aten::add(bool a=1) -> Tensor",
        "aten::add(Dict(((((((((((int a) -> Tensor",
        "aten::add(Tensor(a$) a) -> Tensor",
        "aten::add(Tensor a) -> Tensor Tensor, Tensor",
        "aten::add(ScalarType a=999) -> Tensor",
    };
    for (const std::string_view text : cases) {
      const Result<Schema> schema = parse_schema(text);
      REQUIRE_FALSE_MESSAGE(schema.ok(), text);
      CHECK(schema.error().code == Code::invalid_argument);
      CHECK(schema.error().message.find("at character") != std::string::npos);
    }
  }

  TEST_CASE("a library's operators are found with the form that it did not state") {
    Table table;
    REQUIRE(table.add("my::scale.out(Tensor self, float by=1.0, *, Tensor(a!) out) -> Tensor(a!)")
                .ok());
    const Schema* scale = table.find("my::scale");
    REQUIRE(scale != nullptr);
    CHECK(line(*scale) == "my::scale\ttensor self;floating by=1\ttensor");
    CHECK(scale->out == "my::scale.out");
    REQUIRE(table.add("my::mix.Two(Tensor a, Tensor b) -> (Tensor, Tensor)").ok());
    const Schema* mix = table.find("my::mix.Two_out");
    REQUIRE(mix != nullptr);
    CHECK(line(*mix) ==
          "my::mix.Two_out\ttensor a;tensor b;*tensor out0!;*tensor out1!\ttensor;tensor");
    REQUIRE(table.add("aten::relu(Tensor other) -> Tensor").ok());
    CHECK(table.find("aten::relu")->parameters[0].name == "self");
    CHECK_FALSE(table.add("nonsense").ok());
  }

  TEST_CASE("threads that look up together get the same schemas") {
    const Table table;
    std::vector<const Schema*> found[4];
    std::vector<std::thread> threads;
    for (auto& mine : found) {
      threads.emplace_back([&] {
        for (const std::string_view name : table.names()) mine.push_back(table.find(name));
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const auto& other : found) CHECK(other == found[0]);
  }
}

}  // namespace backplane::ops
