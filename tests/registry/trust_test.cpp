// Who may have put a plugin where it lies: modes, owners, links.
#include "registry/trust.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include "temp_folder.hpp"

using namespace backplane;
using namespace backplane::registry;
namespace fs = std::filesystem;

namespace {

const Trust kMe = {::geteuid(), {}};

std::string refusal(const Status& status) {
  return status.ok() ? "ok" : status.error().message;
}

}  // namespace

TEST_SUITE("registry") {
  TEST_CASE("a folder of the caller's, under one that is sticky, is trusted") {
    const test::TempFolder temp;
    const fs::path plugins = temp.folder("a/plugins");
    CHECK(refusal(check_folder(plugins, kMe)) == "ok");
    temp.mode("a/plugins", 0700);
    CHECK(refusal(check_folder(plugins, kMe)) == "ok");
    temp.mode("a/plugins", 0555);
    CHECK(refusal(check_folder(plugins, kMe)) == "ok");
    temp.mode("a/plugins", 0755);
  }

  TEST_CASE("a folder that everybody can write is refused, with its mode and the remedy") {
    const test::TempFolder temp;
    const fs::path plugins = temp.folder("plugins");
    for (const mode_t mode : {mode_t{0777}, mode_t{01777}, mode_t{0757}, mode_t{0702}}) {
      temp.mode("plugins", mode);
      const std::string said = refusal(check_folder(plugins, kMe));
      CHECK(said.find(plugins.string() + " can be written by everybody (mode ") == 0);
      CHECK(said.find("chmod o-w " + plugins.string()) != std::string::npos);
    }
    temp.mode("plugins", 0777);
    CHECK(refusal(check_folder(plugins, kMe)).find("(mode 0777)") != std::string::npos);
  }

  TEST_CASE("so is one below a folder that everybody can write, unless that is sticky") {
    const test::TempFolder temp;
    const fs::path plugins = temp.folder("shared/mine/plugins");
    temp.mode("shared", 0777);
    CHECK(refusal(check_folder(plugins, kMe))
              .find((temp.path() / "shared").string() + " can be written by everybody") == 0);
    temp.mode("shared", 01777);
    CHECK(refusal(check_folder(plugins, kMe)) == "ok");
  }

  TEST_CASE("folders above this library itself are taken as they are, but not the plugins' own") {
    const test::TempFolder temp;
    const fs::path plugins = temp.folder("work/build/plugins.d");
    const Trust with_own = {::geteuid(), temp.folder("work/build/registry")};
    temp.mode("work", 0777);
    CHECK_FALSE(check_folder(plugins, kMe).ok());
    CHECK(refusal(check_folder(plugins, with_own)) == "ok");
    temp.mode("work/build/plugins.d", 0777);
    CHECK_FALSE(check_folder(plugins, with_own).ok());
    const fs::path beside = temp.folder("work/builds/plugins.d");  // a name that begins alike
    temp.mode("work/builds", 0777);
    CHECK_FALSE(check_folder(beside, with_own).ok());
  }

  TEST_CASE("what belongs to somebody else is refused, root's is not") {
    const test::TempFolder temp;
    const fs::path plugins = temp.folder("plugins");
    temp.write("plugins/a.so", "x");
    if (::geteuid() != 0) {
      CHECK(check_folder("/usr/lib", kMe).ok());
      const std::string said = refusal(check_folder(plugins, {::geteuid() + 1, {}}));
      CHECK(said.find("belongs to user") != std::string::npos);
      return;
    }
    CHECK(::chown((plugins / "a.so").c_str(), 12345, 0) == 0);
    const auto file = check_library(plugins, "a.so", kMe);
    REQUIRE_FALSE(file.ok());
    CHECK(file.error().message.find("belongs to user 12345") != std::string::npos);
    CHECK(::chown(plugins.c_str(), 12345, 0) == 0);
    CHECK(refusal(check_folder(plugins, kMe)).find("belongs to user 12345") != std::string::npos);
    CHECK(refusal(check_folder(plugins, {12345, {}})) ==
          "ok");  // under a root-owned, sticky folder
    CHECK(check_library(plugins, "a.so", {12345, {}}).ok());
  }

  TEST_CASE("a group that can write is refused for root alone, and not if the group is root's") {
    if (::geteuid() != 0) return;
    const test::TempFolder temp;
    const fs::path plugins = temp.folder("plugins");
    temp.mode("plugins", 0775);
    CHECK(refusal(check_folder(plugins, kMe)) == "ok");
    CHECK(::chown(plugins.c_str(), 0, 54321) == 0);
    temp.mode("plugins", 0775);
    CHECK(refusal(check_folder(plugins, kMe)).find("can be written by group 54321 (mode 0775)") !=
          std::string::npos);
    CHECK(refusal(check_folder(plugins, {777, {}})) == "ok");
  }

  TEST_CASE("a library is a regular file in its folder that only the caller can write") {
    const test::TempFolder temp;
    const fs::path plugins = temp.folder("plugins");
    temp.folder("other");
    temp.write("other/out.so", "x");
    temp.write("plugins/a.so", "x");
    temp.folder("plugins/folder.so");
    fs::create_symlink("a.so", plugins / "inside.so");
    fs::create_symlink("../other/out.so", plugins / "outside.so");
    fs::create_symlink("nothing.so", plugins / "dangling.so");
    fs::create_symlink("loop.so", plugins / "loop.so");

    CHECK(check_library(plugins, "a.so", kMe)->string() == (plugins / "a.so").string());
    CHECK(check_library(plugins, "inside.so", kMe)->string() == (plugins / "a.so").string());
    CHECK(check_library(plugins, "outside.so", kMe).error().message.find("outside of its folder") !=
          std::string::npos);
    CHECK(check_library(plugins, "folder.so", kMe).error().message.find("not a regular file") !=
          std::string::npos);
    CHECK(check_library(plugins, "dangling.so", kMe).error().code == Code::not_found);
    CHECK(check_library(plugins, "none.so", kMe).error().code == Code::not_found);
    CHECK_FALSE(check_library(plugins, "loop.so", kMe).ok());
    temp.mode("plugins/a.so", 0666);
    CHECK(check_library(plugins, "a.so", kMe).error().message.find("(mode 0666)") !=
          std::string::npos);
    temp.mode("plugins/a.so", 0444);
    CHECK(check_library(plugins, "a.so", kMe).ok());
  }
}
