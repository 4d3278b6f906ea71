// Compile specs and other options, against the tables of two backends that differ in what they
// allow.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "plugin/option_values.hpp"
#include "plugin/options.hpp"

using namespace backplane;

namespace {

constexpr bp_option_t kOptions[] = {
    {.name = BP_TEXT("precision"),
     .doc = BP_TEXT("of matrix products"),
     .dflt = BP_TEXT("ieee"),
     .choices = BP_TEXT("ieee|tf32|fp16"),
     .type = BP_OPT_ENUM,
     .phases = BP_PHASE_COMPILE},
    {.name = BP_TEXT("level"),
     .dflt = BP_TEXT("1"),
     .type = BP_OPT_INT,
     .phases = BP_PHASE_COMPILE | BP_PHASE_LOAD,
     .min = -2,
     .max = 3},
    {.name = BP_TEXT("share"),
     .type = BP_OPT_FLOAT,
     .phases = BP_PHASE_COMPILE,
     .min = 0,
     .max = 1},
    {.name = BP_TEXT("fast_math"),
     .dflt = BP_TEXT("false"),
     .type = BP_OPT_BOOL,
     .phases = BP_PHASE_COMPILE},
    {.name = BP_TEXT("note"),
     .type = BP_OPT_STRING,
     .phases = BP_PHASE_COMPILE,
     .min = 0,
     .max = 5},
    {.name = BP_TEXT("seed_bytes"), .type = BP_OPT_BYTES, .phases = BP_PHASE_COMPILE},
    {.name = BP_TEXT("arena"), .type = BP_OPT_INT, .phases = BP_PHASE_LOAD},
};
constexpr bp_device_kind_t kKinds[] = {{BP_TEXT("cuda"), BP_DEV_CUDA, 0},
                                       {BP_TEXT("cpu"), BP_DEV_CPU, 0}};
constexpr bp_device_kind_t kMetal[] = {{BP_TEXT("metal"), BP_DEV_METAL, 0}};

bp_plugin_t cuda() {
  bp_plugin_t plugin = {};
  plugin.name = BP_TEXT("cuda");
  plugin.data_placement = BP_DATA_INLINE | BP_DATA_EXTERNAL;
  plugin.options = BP_ARRAY(kOptions);
  plugin.device_kinds = BP_ARRAY(kKinds);
  return plugin;
}

bp_plugin_t metal() {
  bp_plugin_t plugin = {};
  plugin.name = BP_TEXT("metal");
  plugin.data_placement = BP_DATA_INLINE;
  plugin.device_kinds = BP_ARRAY(kMetal);
  return plugin;
}

std::string message(const bp_plugin_t& plugin, const Options& given) {
  const auto specs = check_compile_specs(plugin, given, "forward");
  if (specs.ok()) return "ok";
  CHECK(specs.error().code == Code::invalid_argument);
  return specs.error().message;
}

}  // namespace

TEST_SUITE("core/plugin") {
  TEST_CASE("without specs there are the defaults, in the order of the schema") {
    const auto specs = check_compile_specs(cuda(), {}, "forward");
    REQUIRE(specs.ok());
    const Options expected = {{"precision", "ieee"}, {"level", "1"}, {"fast_math", "false"}};
    CHECK(specs->options == expected);
    CHECK(specs->target_device == "cuda");
    CHECK(specs->device.type == BP_DEV_CUDA);
    CHECK(specs->device.index == 0);
    CHECK(specs->data_name.empty());
    CHECK(specs->data_placement == BP_DATA_EXTERNAL);
  }

  TEST_CASE("given values take the defaults' places") {
    const auto specs = check_compile_specs(cuda(),
                                           {{"share", "0.5"},
                                            {"level", "-2"},
                                            {"data_name", "encoder"},
                                            {"target_device", "cpu"},
                                            {"method_name", "forward"}},
                                           "forward");
    REQUIRE(specs.ok());
    const Options expected = {
        {"precision", "ieee"}, {"level", "-2"}, {"share", "0.5"}, {"fast_math", "false"}};
    CHECK(specs->options == expected);
    CHECK(specs->target_device == "cpu");
    CHECK(specs->device.type == BP_DEV_CPU);
    CHECK(specs->data_name == "encoder");
  }

  TEST_CASE("each value is checked against its type, range and choices") {
    const struct {
      Options given;
      std::string expected;  // "ok", or a part of the message
    } cases[] = {
        {{{"precision", "fp16"}}, "ok"},
        {{{"precision", "fp61"}},
         "'precision' can't be 'fp61': it is one of ieee, tf32, fp16; did "
         "you mean 'fp16'?"},
        {{{"precision", ""}}, "one of"},
        {{{"precision", "ieee|tf32"}}, "one of"},
        {{{"level", "3"}}, "ok"},
        {{{"level", "4"}}, "'level' can't be '4': it is a whole number from -2 to 3"},
        {{{"level", "-3"}}, "from -2 to 3"},
        {{{"level", "1.5"}}, "whole number"},
        {{{"level", ""}}, "whole number"},
        {{{"level", " 1"}}, "whole number"},
        {{{"level", "+1"}}, "whole number"},
        {{{"level", "0x1"}}, "whole number"},
        {{{"level", "9223372036854775808"}}, "whole number"},
        {{{"share", "1"}}, "ok"},
        {{{"share", "1e-3"}}, "ok"},
        {{{"share", "1.01"}}, "from 0 to 1"},
        {{{"share", "nan"}}, "it is a number"},
        {{{"share", "inf"}}, "it is a number"},
        {{{"share", "half"}}, "it is a number"},
        {{{"fast_math", "true"}}, "ok"},
        {{{"fast_math", "yes"}}, "it is true or false"},
        {{{"fast_math", "True"}}, "it is true or false"},
        {{{"note", "12345"}}, "ok"},
        {{{"note", "123456"}}, "length in bytes from 0 to 5"},
        {{{"note", "\xc3\xa9"}}, "ok"},
        {{{"note", "\xc3"}}, "UTF-8"},
        {{{"note", "\xc0\x80"}}, "UTF-8"},
        {{{"note", "\xed\xa0\x80"}}, "UTF-8"},
        {{{"note", "\xf4\x90\x80\x80"}}, "UTF-8"},
        {{{"seed_bytes", std::string("\xff\x00", 2)}}, "ok"},
        {{{"data_placement", "inline"}}, "ok"},
        {{{"data_placement", "external"}}, "ok"},
        {{{"data_placement", "Inline"}}, "it is one of inline, external"},
        {{{"method_name", "encode"}}, "these are the specs of 'forward'"},
    };
    for (const auto& [given, expected] : cases) {
      CAPTURE(given[0].first);
      CAPTURE(given[0].second);
      const std::string said = message(cuda(), given);
      CHECK_MESSAGE(said.find(expected) != std::string::npos, said);
    }
  }

  TEST_CASE("an unknown key is refused with the nearest one and all there are") {
    const std::string said = message(cuda(), {{"precisoin", "fp16"}});
    CHECK(
        said ==
        "backend 'cuda': no option is called 'precisoin'; did you mean 'precision'? (for lowering: "
        "precision, level, share, fast_math, note, seed_bytes, method_name, target_device, "
        "data_name, data_placement)");
    CHECK(message(cuda(), {{"dataname", "x"}}).find("'data_name'") != std::string::npos);
  }

  TEST_CASE("an option of another phase is refused, and its phase named") {
    CHECK(message(cuda(), {{"arena", "1"}}) ==
          "backend 'cuda': option 'arena' is not for lowering, but for loading");
    CHECK(check_options(cuda(), BP_PHASE_LOAD, {{"arena", "1"}}).ok());
    CHECK_FALSE(check_options(cuda(), BP_PHASE_LOAD, {{"precision", "fp16"}}).ok());
    CHECK_FALSE(check_options(cuda(), BP_PHASE_LOAD, {{"data_name", "x"}}).ok());
    const auto none = check_options(cuda(), BP_PHASE_CREATE, {{"level", "1"}});
    REQUIRE_FALSE(none.ok());
  }

  TEST_CASE("an option that is given twice is refused, also with equal values") {
    CHECK(message(cuda(), {{"level", "1"}, {"level", "1"}}).find("given twice") !=
          std::string::npos);
    CHECK(message(cuda(), {{"data_name", "a"}, {"data_name", "b"}}).find("'a' and as 'b'") !=
          std::string::npos);
  }

  TEST_CASE("target_device is a kind that the plugin declares, with a number or without") {
    const struct {
      std::string target;
      bool ok;
      int32_t index;
    } cases[] = {
        {"cuda", true, 0},      {"cuda:0", true, 0},
        {"cuda:17", true, 17},  {"cpu", true, 0},
        {"cuda:", false, 0},    {"cuda:-1", false, 0},
        {"cuda:01", false, 0},  {"cuda:1 ", false, 0},
        {"cuda:x", false, 0},   {"cuda:4294967296", false, 0},
        {"CUDA", false, 0},     {"", false, 0},
        {"cudaa", false, 0},    {"metal", false, 0},
        {"cuda:1:2", false, 0},
    };
    for (const auto& [target, ok, index] : cases) {
      CAPTURE(target);
      const auto device = parse_target_device(cuda(), target);
      REQUIRE(device.ok() == ok);
      if (ok) CHECK(device->index == index);
    }
    CHECK(
        message(cuda(), {{"target_device", "cudaa"}}) ==
        "backend 'cuda': target_device can't be 'cudaa': it is one of cuda, cpu, each with ':' and "
        "a number where there are several; did you mean 'cuda'?");
    bp_plugin_t none = cuda();
    none.device_kinds = {};
    CHECK(message(none, {{"target_device", "cuda"}}).find("it can't choose a device") !=
          std::string::npos);
  }

  TEST_CASE("a backend that keeps its data inline refuses a data name before all else") {
    CHECK(
        message(metal(), {{"nonsense", "1"}, {"data_name", "encoder"}, {"data_name", "x"}}) ==
        "backend 'metal': data_name 'encoder' is refused: this backend keeps its data in the .pte, "
        "so there is no data file to name");
    CHECK(message(metal(), {{"data_name", ""}}).find("is refused") != std::string::npos);
    CHECK(message(metal(), {{"data_placement", "external"}}).find("it is always inline") !=
          std::string::npos);
    CHECK(message(metal(), {{"data_placement", "inline"}}) == "ok");
  }

  TEST_CASE("data placed inline by choice has no name either") {
    CHECK(message(cuda(), {{"data_placement", "inline"}, {"data_name", "encoder"}})
              .find("data_placement is inline") != std::string::npos);
    CHECK(message(cuda(), {{"data_placement", "external"}, {"data_name", "encoder"}}) == "ok");
  }

  TEST_CASE("a spec without a plugin goes to every backend that could take it") {
    const bp_plugin_t a = cuda();
    const bp_plugin_t b = metal();
    const bp_plugin_t* const both[] = {&a, &b};
    const auto routed = route_specs(both, {{"", "precision", "fp16"},
                                           {"", "data_name", "encoder"},
                                           {"", "target_device", "metal"},
                                           {"metal", "data_name", "x"},
                                           {"", "data_placement", "inline"}});
    REQUIRE(routed.ok());
    CHECK((*routed)[0] ==
          Options{{"precision", "fp16"}, {"data_name", "encoder"}, {"data_placement", "inline"}});
    CHECK((*routed)[1] ==
          Options{{"target_device", "metal"}, {"data_name", "x"}, {"data_placement", "inline"}});
  }

  TEST_CASE("a spec that nobody takes is refused, with what it could have been") {
    const bp_plugin_t a = cuda();
    const bp_plugin_t b = metal();
    const bp_plugin_t* const both[] = {&a, &b};
    const bp_plugin_t* const inline_only[] = {&b};
    const struct {
      std::span<const bp_plugin_t* const> plugins;
      Spec spec;
      std::string expected;
    } cases[] = {
        {both,
         {"", "presicion", "fp16"},
         "none of the backends has an option called 'presicion'; did "
         "you mean 'precision'?"},
        {both,
         {"cudo", "level", "1"},
         "'cudo', which is not among the backends; did you mean 'cuda'?"},
        {both, {"", "target_device", "npu"}, "target_device can't be 'npu'"},
        {inline_only, {"", "data_name", "encoder"}, "keeps its data in the .pte"},
        {inline_only, {"", "level", "1"}, "no option is called 'level'"},
        {{}, {"", "level", "1"}, "no backend to take it"},
    };
    for (const auto& [plugins, spec, expected] : cases) {
      CAPTURE(spec.key);
      const auto routed = route_specs(plugins, {spec});
      REQUIRE_FALSE(routed.ok());
      CHECK_MESSAGE(routed.error().message.find(expected) != std::string::npos,
                    routed.error().message);
    }
  }

  TEST_CASE("messages show values that can't be printed, and cut long ones") {
    CHECK(quote("a\n\x1b[31m\xc3\xa9") == "'a\\x0a\\x1b[31m\\xc3\\xa9'");
    CHECK(quote(std::string(1000, 'x')).size() < 70);
  }
}
