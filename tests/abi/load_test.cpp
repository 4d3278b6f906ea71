// Opening libraries that are plugins, and libraries that are not: each reason has its own words.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "fixture.hpp"

using namespace backplane;

namespace {

std::string refusal(const Result<const Plugin*>& plugin) {
  return plugin.ok() ? "ok" : plugin.error().message;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

}  // namespace

TEST_SUITE("abi") {
  TEST_CASE("plugins in C, in C++, of a later minor and with all symbols visible are opened") {
    const test::PluginFolder folder;
    folder.add("plain", "plain", test::kPlain);
    folder.add("modern", "modern", test::kModern);
    folder.add("visible", "visible", test::kModern);
    folder.add("later", "later");
    Plugins plugins = folder.plugins();
    for (const char* name : {"plain", "modern", "visible", "later"}) {
      const auto plugin = plugins.find(name);
      REQUIRE_MESSAGE(plugin.ok(), refusal(plugin));
      CHECK((*plugin)->name == name);
      CHECK((*plugin)->path == folder.library(name));
      CHECK(*plugins.find(name) == *plugin);  // once
    }
    for (const PluginInfo& info : plugins.list()) CHECK(info.state == PluginState::available);
  }

  TEST_CASE("a plugin with a C++ library of its own, by another compiler, is opened") {
    const test::PluginFolder folder;
    if (!folder.was_built("other_cxx")) return;
    folder.add("other_cxx", "other_cxx", test::kModern);
    Plugins plugins = folder.plugins();
    const auto plugin = plugins.find("other_cxx");
    CHECK_MESSAGE(plugin.ok(), refusal(plugin));
  }

  TEST_CASE("what can't be opened is refused with file, cause and remedy") {
    const struct {
      const char* from;
      Code code;
      PluginState state;
      std::string expected;
    } cases[] = {
        {"other_major", Code::incompatible, PluginState::incompatible,
         "it speaks version 2 of the plugin contract, and this host speaks version 1: take a build "
         "of "
         "the plugin for version 1"},
        {"no_symbol", Code::invalid_argument, PluginState::unloadable,
         "it is not a plugin: it does not export backplane_plugin_v1"},
        {"function", Code::incompatible, PluginState::incompatible,
         "its symbol backplane_plugin_v1 is no plugin table (not a data symbol)"},
        {"no_table", Code::incompatible, PluginState::available,
         "is no plugin table (it begins with 0x73696874, not with 0x31504c42)"},
        {"missing", Code::unavailable, PluginState::available,
         "needs libgone.so.7, which is not there (looked for in its RUNPATH"},
        {"undefined", Code::invalid_argument, PluginState::available,
         "uses the symbol nobody_defines_this, which neither it nor a library that it names "
         "defines"},
    };
    for (const auto& [from, code, state, expected] : cases) {
      CAPTURE(from);
      const test::PluginFolder folder;
      folder.add(from);
      Plugins plugins = folder.plugins();
      CHECK(plugins.list()[0].state == state);
      const auto plugin = plugins.find(from);
      REQUIRE_FALSE(plugin.ok());
      CHECK(plugin.error().code == code);
      CHECK_MESSAGE(plugin.error().message.find(expected) != std::string::npos, refusal(plugin));
      CHECK(plugin.error().message.find(folder.library(from)) == 0);
      CHECK(refusal(plugins.find(from)) == refusal(plugin));  // the same when asked again
    }
  }

  TEST_CASE("a library for another machine, or cut short, is refused without being loaded") {
    const test::PluginFolder folder;
    folder.add("plain", "plain", test::kPlain);
    const std::string good = read(folder.library("plain"));
    const auto patched = [&](size_t at, const std::string& bytes) {
      std::string copy = good;
      copy.replace(at, bytes.size(), bytes);
      return copy;
    };
    const struct {
      std::string bytes, expected;
    } cases[] = {
        {patched(18, "\xb7"), "it is built for aarch64, and this machine is x86-64"},
        {patched(18, std::string("\xf3\x00", 2)), "it is built for RISC-V"},
        {patched(4, "\x01"), "it is built for a 32-bit machine"},
        {patched(5, "\x02"), "it is built for a big-endian machine"},
        {patched(16, "\x02"), "it is not a shared library (ELF type 2)"},
        {patched(0, "!<arch>\n"), "it is not a shared library (no ELF file)"},
        {"", "it is not a shared library (no ELF file)"},
        {good.substr(0, 40), "it ends in its header"},
        {good.substr(0, good.size() / 2), "it is a damaged library"},
        {patched(40, "\xff\xff\xff\xff\xff\xff\xff\x7f"), "it ends before its section headers"},
        {patched(58, std::string("\x01\x00", 2)), "its section headers"},
    };
    for (const auto& [bytes, expected] : cases) {
      folder.folder().write("plain.so", bytes);
      Plugins plugins = folder.plugins();
      const auto plugin = plugins.find("plain");
      REQUIRE_FALSE(plugin.ok());
      CHECK_MESSAGE(plugin.error().message.find(expected) != std::string::npos, refusal(plugin));
    }
  }

  TEST_CASE("no damage to a library's headers makes reading it fault") {
    const test::PluginFolder folder;
    folder.add("plain", "plain", test::kPlain);
    const std::string good = read(folder.library("plain"));
    const Plugins plugins = folder.plugins();
    uint32_t seed = 1;
    for (int round = 0; round < 300; ++round) {
      std::string damaged = good;
      for (int k = 0; k < 4; ++k) {
        seed = seed * 1664525 + 1013904223;
        const size_t sections = good.size() - 64 * 30;  // the section headers are at the end
        const size_t at = seed % 3 == 0 ? 16 + seed / 7 % 48 : sections + seed / 7 % (64 * 30);
        damaged[at] = static_cast<char>(seed >> 24);
      }
      folder.folder().write("plain.so", damaged);
      (void)plugins.list();
    }
  }

  TEST_CASE("a manifest that says other than the table is refused, with both") {
    const struct {
      const char* name;
      std::string more, expected;
    } cases[] = {
        {"renamed", test::kModern, "the manifest says that name is renamed, the library modern"},
        {"modern", "data_placement: [inline, external]\ndelegate_ids: [OtherBackend]\n",
         "that devices is none, the library cpu"},
        {"modern", "devices: [cpu]\ndata_placement: [inline]\ndelegate_ids: [OtherBackend]\n",
         "that data_placement is inline, the library external, inline"},
        {"modern", "devices: [cpu]\ndata_placement: [inline, external]\ndelegate_ids: [A]\n",
         "that delegate_ids is A, the library OtherBackend"},
    };
    for (const auto& [name, more, expected] : cases) {
      const test::PluginFolder folder;
      folder.add(name, "modern", more);
      const auto plugin = folder.plugins().find(name);
      REQUIRE_FALSE(plugin.ok());
      CHECK(plugin.error().code == Code::incompatible);
      CHECK_MESSAGE(plugin.error().message.find(expected) != std::string::npos, refusal(plugin));
    }
  }

  TEST_CASE("a library is opened by its path too, if that is absolute") {
    const test::PluginFolder folder;
    folder.add("plain", "plain", test::kPlain);
    Plugins plugins({.environment = "", .installed = false});
    CHECK(plugins.open(folder.library("plain")).ok());
    CHECK(plugins.open(folder.folder().str() + "/plain.backplane.yaml").ok());
    CHECK(refusal(plugins.open("plain.so")).find("needs an absolute one") != std::string::npos);
    CHECK(plugins.open(folder.library("none")).error().code == Code::not_found);
    CHECK(plugins.open(folder.folder().str() + "/none.backplane.yaml").error().code ==
          Code::not_found);
    folder.folder().mode("plain.so", 0777);
    CHECK(refusal(plugins.open(folder.library("plain"))).find("can be written by everybody") !=
          std::string::npos);
  }

  TEST_CASE("many threads may open plugins at once") {
    const test::PluginFolder folder;
    folder.add("plain", "plain", test::kPlain);
    folder.add("modern", "modern", test::kModern);
    Plugins plugins = folder.plugins();
    std::vector<std::thread> threads;
    std::vector<const Plugin*> found(8);
    for (size_t t = 0; t < found.size(); ++t) {
      threads.emplace_back([&, t] {
        for (int k = 0; k < 20; ++k) {
          const auto plugin = plugins.find(t % 2 == 0 ? "plain" : "modern");
          if (plugin.ok()) found[t] = *plugin;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (size_t t = 0; t < found.size(); ++t) {
      CHECK(found[t] != nullptr);
      CHECK(found[t] == found[t % 2]);
    }
  }
}
