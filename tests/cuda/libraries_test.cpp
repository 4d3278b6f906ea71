// Finding NVIDIA's libraries, and what is said where they are not.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "cuda/standin_fixture.hpp"

namespace backplane::cuda {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string path = fs::temp_directory_path() / ("cuda-libraries-" + std::to_string(getpid()));
};

TEST_SUITE_BEGIN("cuda/libraries");

TEST_CASE("a library that is nowhere is unavailable, and the places are named") {
  constexpr const char* kFiles[] = {"libnothing.so.7"};
  const std::vector<std::string> folders = {"/first/place", "/second/place"};
  const auto lib = SharedLibrary::open({"Nothing 7", kFiles, "install it"}, folders);
  REQUIRE(!lib.ok());
  CHECK(lib.error().code == Code::unavailable);
  CHECK(lib.error().message ==
        "Nothing 7 is not here: no libnothing.so.7 where the loader looks, nor in /first/place, "
        "nor in /second/place; install it");
}

TEST_CASE("a library that is there and does not open says why") {
  const Folder folder;
  std::ofstream(folder.path + "/libnothing.so.7") << "not a library";
  constexpr const char* kFiles[] = {"libnothing.so.7"};
  const std::vector<std::string> folders = {folder.path};
  const auto lib = SharedLibrary::open({"Nothing 7", kFiles, "install it"}, folders);
  REQUIRE(!lib.ok());
  CHECK(lib.error().message.starts_with("Nothing 7 can't be opened: " + folder.path));
}

TEST_CASE("the folders of pip's packages are searched, in the active Python first") {
  const Folder folder;
  const std::string lib = folder.path + "/lib/python3.12/site-packages/nvidia/cudnn/lib";
  fs::create_directories(lib);
  setenv("VIRTUAL_ENV", folder.path.c_str(), 1);
  const auto folders = vendor_folders();
  unsetenv("VIRTUAL_ENV");
  CHECK(std::find(folders.begin(), folders.end(), lib) != folders.end());
}

TEST_CASE("a driver that is too old says its version and the one that is needed") {
  standin::Fixture fixture;
  fixture.control.fail("cuDriverGetVersion", 0, 1, kCuNotSupported);
  const auto driver = fixture.libraries.driver();
  REQUIRE(!driver.ok());
  CHECK(driver.error().code == Code::unavailable);
  CHECK(driver.error().message ==
        "the NVIDIA driver is too old: it is for CUDA 13.0, needed is 12.4 or newer");
}

TEST_CASE("a driver that does not start gives the driver's reason, each time") {
  standin::Fixture fixture;
  fixture.control.fail("cuInit", 0, 1, kCuNoDevice);
  for (int i = 0; i < 2; ++i) {
    const auto driver = fixture.libraries.driver();
    REQUIRE(!driver.ok());
    CHECK(driver.error().code == Code::unavailable);
    CHECK(driver.error().message.starts_with("the NVIDIA driver does not start: "));
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace backplane::cuda
