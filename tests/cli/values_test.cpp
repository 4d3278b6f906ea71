#include "values.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace backplane::cli {
namespace {

const std::vector<std::string> kBackends = {"cuda", "cpu"};

TEST_SUITE("cli/values") {
  TEST_CASE("a spec is split at the first = and a plugin counts only if it was asked for") {
    struct Case {
      const char* text;
      const char* plugin;
      const char* key;
      const char* value;
    };
    const Case cases[] = {
        {"data_name=x", "", "data_name", "x"},
        {"cuda:precision=fp16", "cuda", "precision", "fp16"},
        {"metal:precision=fp16", "", "metal:precision", "fp16"},
        {"cuda:a:b=c", "cuda", "a:b", "c"},
        {"key=cuda:x=y", "", "key", "cuda:x=y"},
        {"key==", "", "key", "="},
        {"key=", "", "key", ""},
        {":key=v", "", ":key", "v"},
    };
    for (const Case& c : cases) {
      CAPTURE(c.text);
      const auto spec = parse_spec(c.text, kBackends);
      REQUIRE(spec.ok());
      CHECK(spec->plugin == c.plugin);
      CHECK(spec->key == c.key);
      CHECK(spec->value == c.value);
    }
    for (const char* text : {"", "=", "=v", "key", "cuda:=v"}) {
      CAPTURE(text);
      CHECK_FALSE(parse_spec(text, kBackends).ok());
    }
    CHECK(parse_spec("key", kBackends).error().message ==
          "--spec is 'key'; it must be [PLUGIN:]KEY=VALUE");
  }

  TEST_CASE("a method spec goes to its method, and a wrong name gets the nearest") {
    std::vector<MethodSource> methods = {{.name = "prefill"}, {.name = "decode"}};
    REQUIRE(add_method_spec("decode:cuda:graphs=false", kBackends, methods).ok());
    REQUIRE(add_method_spec("decode:a=b=c", kBackends, methods).ok());
    CHECK(methods[0].specs.empty());
    REQUIRE(methods[1].specs.size() == 2);
    CHECK(methods[1].specs[0].plugin == "cuda");
    CHECK(methods[1].specs[0].key == "graphs");
    CHECK(methods[1].specs[1].value == "b=c");
    CHECK(add_method_spec("decod:a=b", kBackends, methods).error().message ==
          "--method-spec 'decod:a=b': there is no method 'decod'; did you mean 'decode'?");
    for (const char* text : {"decode", "decode:", "decode:x", "a=b", ":a=b", ""}) {
      CAPTURE(text);
      CHECK_FALSE(add_method_spec(text, kBackends, methods).ok());
    }
  }

  TEST_CASE("methods, inputs and bounds are split where the command's rules say") {
    CHECK(parse_method("decode=a=b.pt2")->name == "decode");
    CHECK(parse_method("decode=a=b.pt2")->path == "a=b.pt2");
    for (const char* text : {"decode", "=x", "decode=", ""}) CHECK_FALSE(parse_method(text).ok());

    CHECK(parse_input("x.npy")->key.empty());
    CHECK(parse_input("in.1=x.npy")->key == "in.1");
    CHECK(parse_input("in.1=x=y.npy")->path == "x=y.npy");
    CHECK(parse_input("./in.1=x.npy")->path == "./in.1=x.npy");
    CHECK(parse_input("a/b=c.npy")->key.empty());
    CHECK_FALSE(parse_input("in.1=").ok());

    std::map<std::string, int64_t> bounds;
    REQUIRE(add_bound("s0=128", bounds).ok());
    REQUIRE(add_bound("x.1=7", bounds).ok());
    CHECK(bounds == std::map<std::string, int64_t>{{"s0", 128}, {"x.1", 7}});
    for (const char* text : {"s1", "s1=", "s1=0", "s1=-4", "s1=1.5", "s1=1x", "=4", "s0=9",
                             "s1=99999999999999999999"}) {
      CAPTURE(text);
      CHECK_FALSE(add_bound(text, bounds).ok());
    }
  }

  TEST_CASE("an image size is height and width, of what a JPEG can have") {
    CHECK(parse_image_size("224x320")->height == 224);
    CHECK(parse_image_size("224x320")->width == 320);
    CHECK(parse_image_size("1x65535").ok());
    for (const char* text : {"", "x", "224", "224x", "x224", "0x1", "1x0", "-1x1", "1x65536",
                             "1x2x3", "1 x2", "1X2"}) {
      CAPTURE(text);
      CHECK_FALSE(parse_image_size(text).ok());
    }
  }

  TEST_CASE("numbers are whole texts") {
    CHECK(parse_integer("-12") == -12);
    CHECK_FALSE(parse_integer("12 "));
    CHECK_FALSE(parse_integer("+12"));
    CHECK_FALSE(parse_integer(""));
    CHECK(parse_real("1e-3") == 1e-3);
    CHECK_FALSE(parse_real("1e-3x"));
  }
}

}  // namespace
}  // namespace backplane::cli
