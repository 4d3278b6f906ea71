// Tables that break the contract, one rule each.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "plugin/table.hpp"

using namespace backplane;

namespace {

int32_t create(const bp_host_t*, bp_array_t, bp_backend_t**) {
  return BP_OK;
}
void destroy(bp_backend_t*) {}
int32_t lower(bp_backend_t*, const bp_lower_t*) {
  return BP_OK;
}
int32_t execute(bp_instance_t*, const bp_run_t*) {
  return BP_OK;
}

struct Tables {
  bp_option_t option = {.name = BP_TEXT("level"),
                        .dflt = BP_TEXT("1"),
                        .type = BP_OPT_INT,
                        .phases = BP_PHASE_COMPILE,
                        .min = 0,
                        .max = 3};
  bp_device_kind_t kind = {BP_TEXT("cpu"), BP_DEV_CPU, 0};
  bp_str_t id = BP_TEXT("OtherBackend");
  bp_plugin_t table = {};

  Tables() {
    table.magic = BP_MAGIC;
    table.struct_size = sizeof(bp_plugin_t);
    table.abi_minor = BP_ABI_MINOR;
    table.build_flags = BP_BUILD_FLAGS;
    table.data_placement = BP_DATA_INLINE;
    table.name = BP_TEXT("test");
    table.options = {&option, 1, sizeof option};
    table.device_kinds = {&kind, 1, sizeof kind};
    table.delegate_ids = {&id, 1, sizeof id};
    table.create = create;
    table.destroy = destroy;
  }
};

std::string refusal(const std::function<void(Tables&)>& change) {
  Tables tables;
  change(tables);
  const auto table = check_table(&tables.table, sizeof tables.table);
  return table.ok() ? "ok" : table.error().message;
}

}  // namespace

TEST_SUITE("core/plugin") {
  TEST_CASE("a proper table passes, as does a longer one of a later minor version") {
    CHECK(refusal([](Tables&) {}) == "ok");
    CHECK(refusal([](Tables& t) { t.table.abi_minor = 7; }) == "ok");
    struct {
      bp_plugin_t table;
      uint64_t later[4];
    } longer = {Tables().table, {}};
    longer.table.options = {};
    longer.table.device_kinds = {};
    longer.table.delegate_ids = {};
    longer.table.struct_size = sizeof longer;
    CHECK(check_table(&longer, sizeof longer).ok());
  }

  TEST_CASE("each rule has a message of its own") {
    const struct {
      std::function<void(Tables&)> change;
      std::string expected;
    } cases[] = {
        {[](Tables& t) { t.table.magic = 0x464c457f; },
         "is no plugin table (it begins with 0x464c457f, not with 0x31504c42)"},
        {[](Tables& t) { t.table.struct_size = BP_PLUGIN_SIZE_V1_0 - 8; }, "at least 336"},
        {[](Tables& t) { t.table.struct_size = sizeof(bp_plugin_t) + 8; }, "it has 336"},
        {[](Tables& t) { t.table.min_host_minor = 3; },
         "needs a host that speaks plugin contract 1.3, and this one speaks 1.0: update backplane"},
        {[](Tables& t) { t.table.build_flags = BP_BUILD_FLAGS ^ BP_BUILD_MSAN; },
         "built with MemorySanitizer and this host was not"},
        {[](Tables& t) { t.table.name = BP_TEXT("Test"); }, "the name 'Test' is not"},
        {[](Tables& t) { t.table.name = BP_TEXT("-t"); }, "the name '-t' is not"},
        {[](Tables& t) { t.table.name = {}; }, "the name '' is not"},
        {[](Tables& t) {
           t.table.version = {nullptr, 5};
         },
         "is no text (5 bytes)"},
        {[](Tables& t) { t.table.vendor.len = uint64_t{1} << 40; }, "is no text"},
        {[](Tables& t) { t.table.options.stride = 8; }, "options is no array"},
        {[](Tables& t) { t.table.options.data = nullptr; }, "options is no array"},
        {[](Tables& t) {
           t.table.kept_ops = {nullptr, 3, 16};
         },
         "kept_ops is no array"},
        {[](Tables& t) { t.id = {}; }, "delegate_ids has an empty text"},
        {[](Tables& t) { t.kind.type = 0; }, "device kind 'cpu' has no number"},
        {[](Tables& t) { t.kind.name = BP_TEXT("CPU"); }, "device kind 'CPU' has no proper name"},
        {[](Tables& t) { t.option.name = BP_TEXT("Level"); }, "has no proper name"},
        {[](Tables& t) { t.option.name = BP_TEXT("data_name"); }, "belongs to the host"},
        {[](Tables& t) { t.option.type = 99; }, "is of an unknown type"},
        {[](Tables& t) { t.option.phases = 0; }, "is for no phase"},
        {[](Tables& t) { t.option.min = 4; }, "a range without values"},
        {[](Tables& t) { t.option.dflt = BP_TEXT("4"); }, "can't have the default '4'"},
        {[](Tables& t) { t.option.type = BP_OPT_ENUM; }, "must have choices"},
        {[](Tables& t) { t.table.create = nullptr; }, "create or destroy is missing"},
        {[](Tables& t) { t.table.partition = lower; }, "partition, compile it has some"},
        {[](Tables& t) { t.table.execute = execute; }, "execute it has some"},
        {[](Tables& t) {
           t.table.partition = t.table.compile = lower;
           t.table.data_placement = 0;
         },
         "data_placement says nowhere"},
    };
    for (const auto& [change, expected] : cases) {
      const std::string said = refusal(change);
      CHECK_MESSAGE(said.find(expected) != std::string::npos, said);
    }
  }

  TEST_CASE("an option that is declared twice is refused") {
    Tables tables;
    const bp_option_t twice[] = {tables.option, tables.option};
    tables.table.options = BP_ARRAY(twice);
    const auto table = check_table(&tables.table, sizeof tables.table);
    REQUIRE_FALSE(table.ok());
    CHECK(table.error().message.find("'level' is declared twice") != std::string::npos);
  }

  TEST_CASE("no more is read of a symbol than it has bytes") {
    const Tables tables;
    for (size_t readable = 0; readable < sizeof tables.table; ++readable) {
      CHECK_FALSE(check_table(&tables.table, readable).ok());
    }
  }
}
