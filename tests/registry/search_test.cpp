// Which folders are looked in, in which order, and which never.
#include "registry/search.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>

#include "registry/own_path.hpp"
#include "temp_folder.hpp"

using namespace backplane;
using namespace backplane::registry;
namespace fs = std::filesystem;

TEST_SUITE("registry") {
  TEST_CASE("given folders come first, then the variable's, then the library's own") {
    const test::TempFolder temp;
    const std::string a = temp.folder("a").string();
    const std::string b = temp.folder("b").string();
    const std::string c = temp.folder("c").string();
    temp.folder("build/plugins.d");
    temp.folder("build/registry/library");
    const auto folders =
        search_folders({c}, a + ":" + b, temp.path() / "build/registry/library/l.so");
    REQUIRE(folders.size() == 5);
    CHECK(folders[0].folder == c);
    CHECK(folders[1].folder == a);
    CHECK(folders[2].folder == b);
    CHECK(folders[3].folder == temp.path() / "build/plugins.d");
    CHECK(folders[3].origin == Origin::relative);
    CHECK(folders[4].origin == Origin::compiled_in);
  }

  TEST_CASE("an installed library finds the folder beside it, and looks no further") {
    const test::TempFolder temp;
    temp.folder("lib/backplane/plugins");
    temp.folder("plugins.d");
    const auto folders = search_folders({}, "", temp.path() / "lib/libbackplane.so");
    REQUIRE(folders.size() == 2);
    CHECK(folders[0].folder == temp.path() / "lib/backplane/plugins");
  }

  TEST_CASE("relative folders, also the empty one, are never looked in") {
    const auto folders = search_folders({"."}, "::plugins:", {});
    REQUIRE(folders.size() == 3);
    CHECK(folders[0].problem == "it is not an absolute path");
    CHECK(folders[1].given == "plugins");
    CHECK(folders[1].problem == "it is not an absolute path");
    for (const SearchFolder& folder : folders) {
      if (folder.origin != Origin::compiled_in) CHECK(folder.folder.empty());
    }
  }

  TEST_CASE("a folder that is named twice, also through a link, is looked in once") {
    const test::TempFolder temp;
    const std::string a = temp.folder("a").string();
    fs::create_symlink("a", temp.path() / "link");
    const auto folders = search_folders({a, a + "/"}, temp.str() + "/link:" + a, {});
    REQUIRE(folders.size() == 2);
    CHECK(folders[0].folder == a);
  }

  TEST_CASE("a folder that is not there says so") {
    const auto folders = search_folders({"/nonexistent/plugins"}, "", {});
    CHECK(folders[0].problem == "not there");
  }

  TEST_CASE("only manifests are found, in the order of their names, and no subfolder's") {
    const test::TempFolder temp;
    temp.write("b.backplane.yaml", "");
    temp.write("a.backplane.yaml", "");
    temp.write("a.so", "");
    temp.write("a.yaml", "");
    temp.folder("sub");
    temp.write("sub/c.backplane.yaml", "");
    fs::create_symlink("nothing", temp.path() / "c.backplane.yaml");  // skipped when it is read
    const auto found = find_manifests(temp.path());
    REQUIRE(found.ok());
    REQUIRE(found->size() == 3);
    CHECK((*found)[0].filename() == "a.backplane.yaml");
    CHECK((*found)[1].filename() == "b.backplane.yaml");
    CHECK_FALSE(find_manifests(temp.path() / "a.so").ok());
  }

  TEST_CASE("the variable is read") {
    ::setenv("BACKPLANE_PLUGIN_PATH", "/x:/y", 1);
    CHECK(plugin_path_variable() == "/x:/y");
    ::unsetenv("BACKPLANE_PLUGIN_PATH");
    CHECK(plugin_path_variable().empty());
  }

  TEST_CASE("this code knows its file, whatever the working directory is") {
    const fs::path before = own_path();
    CHECK(before == fs::canonical("/proc/self/exe"));
    const fs::path here = fs::current_path();
    fs::current_path("/");
    CHECK(own_path() == before);
    fs::current_path(here);
  }
}
