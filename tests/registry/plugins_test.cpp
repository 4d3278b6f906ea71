// What a listing says, and which of several plugins of one name is meant.
#include <doctest/doctest.h>
#include <backplane/plugins.hpp>

#include <cstdlib>

#include "registry/loader.hpp"
#include "temp_folder.hpp"

using namespace backplane;

namespace {

// Libraries need not be libraries here: nothing is opened.
void add(const test::TempFolder& temp, const std::string& folder, const std::string& name,
         const std::string& more = "") {
  temp.folder(folder);
  temp.write(folder + "/" + name + ".backplane.yaml", test::manifest(name, more));
  temp.write(folder + "/" + name + ".so", "no library");
}

Plugins plugins_in(const std::vector<std::string>& folders) {
  return Plugins({.folders = folders, .environment = "", .installed = false});
}

}  // namespace

TEST_SUITE("registry") {
  TEST_CASE("the first folder with a name wins, and the others are listed as shadowed by it") {
    const test::TempFolder temp;
    add(temp, "a", "cuda");
    add(temp, "b", "cuda");
    add(temp, "b", "cpu");
    Plugins plugins = plugins_in({temp.str() + "/a", temp.str() + "/b"});
    const auto list = plugins.list();
    REQUIRE(list.size() == 3);
    CHECK(list[0].name == "cuda");
    CHECK(list[0].state == PluginState::unloadable);  // it is no library
    CHECK(list[0].reason.find("it is not a shared library") != std::string::npos);
    CHECK(list[1].name == "cpu");
    CHECK(list[2].state == PluginState::shadowed);
    CHECK(list[2].reason == "shadowed by " + temp.str() + "/a/cuda.backplane.yaml");
    CHECK(plugins.names() == std::vector<std::string>{"cuda", "cpu"});
  }

  TEST_CASE(
      "a plugin that is asked for and can't be opened is not replaced by the one it shadows") {
    const test::TempFolder temp;
    add(temp, "a", "cuda");
    add(temp, "b", "cuda");
    temp.mode("a", 0777);
    Plugins plugins = plugins_in({temp.str() + "/a", temp.str() + "/b"});
    CHECK(plugins.list()[0].state == PluginState::untrusted);
    const auto found = plugins.find("cuda");
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().message.find(temp.str() + "/a can be written by everybody") == 0);
  }

  TEST_CASE("each state has its reason") {
    const test::TempFolder temp;
    add(temp, "p", "newer");
    temp.write("p/newer.backplane.yaml",
               "manifest: 1\nname: newer\nlibrary: newer.so\nversion: 1\nabi: {major: 2}\n");
    add(temp, "p", "newer_minor");
    temp.write("p/newer_minor.backplane.yaml",
               "manifest: 1\nname: newer_minor\nlibrary: newer_minor.so\nversion: 1\n"
               "abi: {major: 1, min_host_minor: 9}\n");
    add(temp, "p", "alone");
    std::filesystem::remove(temp.path() / "p/alone.so");
    add(temp, "p", "broken");
    temp.write("p/broken.backplane.yaml", "manifest: [\n");
    add(temp, "p", "future");
    temp.write("p/future.backplane.yaml", "manifest: 2\n");
    add(temp, "p", "open");
    temp.mode("p/open.so", 0666);
    const struct {
      std::string name;
      PluginState state;
      std::string reason;
    } expected[] = {
        {"alone", PluginState::unloadable, "alone.so: No such file or directory"},
        {"broken", PluginState::unloadable, "broken.backplane.yaml: line "},
        {"future", PluginState::incompatible, "manifest of version 2"},
        {"newer", PluginState::incompatible,
         "it needs plugin contract 2.0, and this host speaks 1.0: update backplane"},
        {"newer_minor", PluginState::incompatible, "it needs plugin contract 1.9"},
        {"open", PluginState::untrusted, "open.so can be written by everybody (mode 0666)"},
    };
    Plugins plugins = plugins_in({temp.str() + "/p"});
    const auto list = plugins.list();
    REQUIRE(list.size() == std::size(expected));
    for (size_t i = 0; i < list.size(); ++i) {
      CHECK(list[i].name == expected[i].name);
      CHECK(list[i].state == expected[i].state);
      CHECK_MESSAGE(list[i].reason.find(expected[i].reason) != std::string::npos, list[i].reason);
      CHECK_FALSE(plugins.find(list[i].name).ok());
    }
  }

  TEST_CASE("a name that is not there is answered with the nearest, all there are, and where") {
    const test::TempFolder temp;
    add(temp, "p", "cuda", "aliases: [gpu]\ndelegate_ids: [OtherBackend]\n");
    Plugins plugins = plugins_in({temp.str() + "/p", "/nonexistent", "relative"});
    const auto found = plugins.find("cudo");
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().code == Code::not_found);
    CHECK(found.error().message ==
          "no plugin is called 'cudo'; did you mean 'cuda'? (there are: cuda); looked in: " +
              temp.str() + "/p, /nonexistent (not there), relative (it is not an absolute path)");
    CHECK(plugins.find("./cuda.so").error().code == Code::not_found);
    CHECK(plugins.find("gpu").error().code == Code::invalid_argument);  // found; it is no library
    CHECK(plugins.find_delegate("backplane.cuda").error().code == Code::invalid_argument);
    CHECK(plugins.find_delegate("OtherBackend").error().code == Code::invalid_argument);
    CHECK(plugins.find_delegate("backplane.gpu").error().code == Code::not_found);
    const auto unknown = plugins.find_delegate("XnnpackBackend");
    CHECK(unknown.error().message.find("no plugin runs delegates with the id 'XnnpackBackend' "
                                       "(there are: cuda); looked in: ") == 0);
    CHECK(plugins_in({}).find("cuda").error().message ==
          "no plugin is called 'cuda'; there is no folder to look in");
  }

  TEST_CASE("BACKPLANE_PLUGIN_PATH is searched, and folders say what was wrong with them") {
    const test::TempFolder temp;
    add(temp, "p", "cuda");
    ::setenv("BACKPLANE_PLUGIN_PATH", (temp.str() + "/p:rel").c_str(), 1);
    const Plugins plugins({.installed = false});
    ::unsetenv("BACKPLANE_PLUGIN_PATH");
    CHECK(plugins.list().size() == 1);
    const auto folders = plugins.folders();
    REQUIRE(folders.size() == 2);
    CHECK(folders[0].origin == "BACKPLANE_PLUGIN_PATH");
    CHECK(folders[0].problem.empty());
    CHECK(folders[1].problem == "it is not an absolute path");
  }

  TEST_CASE("libraries of kernels that can't be opened are problems, not errors") {
    const test::TempFolder temp;
    add(temp, "p", "kernels", "provides: [kernels]\n");
    add(temp, "p", "other");
    std::vector<std::string> problems;
    CHECK(plugins_in({temp.str() + "/p"}).kernel_libraries({"other", "none"}, problems).empty());
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].find("kernels.so: it is not a shared library") != std::string::npos);
  }

  TEST_CASE("a hash that differs from the manifest's is refused before loading") {
    const test::TempFolder temp;
    const auto library = temp.write("a.so", "no library");
    CHECK_FALSE(registry::inspect_library(library, std::string(64, '0')).ok());
  }

  TEST_CASE("what the loader says is taken apart, whichever way it is wrapped") {
    const struct {
      std::string says;
      Code code;
      std::string expected;
    } cases[] = {
        {"boost::dll::shared_library::load() failed (dlerror system message: libx.so.1: cannot "
         "open "
         "shared object file: No such file or directory): Bad file descriptor",
         Code::unavailable, "/p/a.so needs libx.so.1, which is not there"},
        {"libx.so.1: cannot open shared object file: No such file or directory", Code::unavailable,
         "/p/a.so needs libx.so.1"},
        {"/p/a.so: cannot open shared object file: Permission denied", Code::invalid_argument,
         "can't be loaded; the loader says: /p/a.so: cannot open"},
        {"/p/a.so: undefined symbol: frob, version X", Code::invalid_argument,
         "/p/a.so uses the symbol frob, which"},
        {"/p/a.so: failed to map segment from shared object", Code::invalid_argument,
         "failed to map segment"},
    };
    for (const auto& [says, code, expected] : cases) {
      const Error error = registry::explain_loader("/p/a.so", says);
      CHECK(error.code == code);
      CHECK_MESSAGE(error.message.find(expected) != std::string::npos, error.message);
    }
  }
}
