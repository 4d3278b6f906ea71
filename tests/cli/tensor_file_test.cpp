#include "tensors/tensor_file.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace backplane::cli {
namespace {

// A folder of this test's own, gone afterwards.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() /
                               ("backplane_tensor_file_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string operator/(const char* name) const { return (path / name).string(); }
};

TEST_SUITE("cli/tensor_file") {
  TEST_CASE("each format that is written is read back, whatever the extension's case") {
    const Folder folder;
    std::vector<float> values = {1, 2, 3, 4, 5, 6};
    const std::vector<NamedView> one = {
        {"x", TensorView::contiguous(values.data(), DType::f32, {2, 3})}};
    for (const char* name : {"a.npy", "a.NPZ", "a.safetensors", "a.raw", "a.Bin"}) {
      CAPTURE(name);
      const std::string path = folder / name;
      const Status written = write_tensors(path, one);
      REQUIRE_MESSAGE(written.ok(), written.error().message);
      REQUIRE(write_tensors(path, one).ok());  // over the old one
      auto back = read_tensors(path);
      REQUIRE_MESSAGE(back.ok(), back.error().message);
      REQUIRE(back->size() == 1);
      CHECK(std::memcmp((*back)[0].tensor.bytes().data(), values.data(), 24) == 0);
    }
    size_t files = 0;
    for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(folder.path))
      ++files;
    CHECK(files == 5);
  }

  TEST_CASE("errors name the file and what to do") {
    const Folder folder;
    std::ofstream(folder / "bad.npy") << "hello";
    float value = 0;
    const TensorView view = TensorView::contiguous(&value, DType::f32, {1});
    const std::vector<NamedView> two = {{"x", view}, {"y", view}};
    const auto read = [&](const char* name) { return read_tensors(folder / name).error(); };
    const auto write = [&](const char* name) { return write_tensors(folder / name, two).error(); };
    CHECK(read("bad.npy").message == folder / "bad.npy" + ": it does not begin like a .npy file");
    CHECK(read("none.npy").code == Code::not_found);
    CHECK(read("none.npy").message.find(folder / "none.npy") != std::string::npos);
    CHECK(
        read("x.txt").message ==
        folder / "x.txt" +
            ": tensors are read from files with .npy .npz .safetensors .png .jpg .jpeg .raw .bin");
    CHECK(write("x.png").message ==
          folder / "x.png" +
              ": tensors are written to files with .npy .npz .safetensors .raw .bin");
    CHECK(write("x.npy").message ==
          folder / "x.npy" +
              ": holds one tensor and there are 2; write a .npz or .safetensors file");
    CHECK(write("missing/x.npz").message.find("missing/x.npz") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder / "x.npy"));
    // A failure while writing leaves the old file.
    const std::vector<NamedView> twice = {{"x", view}, {"x", view}};
    REQUIRE(write_tensors(folder / "old.npz", two).ok());
    const auto size = std::filesystem::file_size(folder / "old.npz");
    CHECK_FALSE(write_tensors(folder / "old.npz", twice).ok());
    CHECK(std::filesystem::file_size(folder / "old.npz") == size);
  }

  TEST_CASE("raw bytes take a shape with at most one open size") {
    auto bytes = Tensor::zeros(DType::u8, {24});
    REQUIRE(bytes.ok());
    const auto sizes = [&](std::vector<int64_t> wanted) {
      auto tensor = shape_raw(*bytes, DType::f32, std::move(wanted));
      return tensor.ok() ? format_sizes(tensor->sizes()) : tensor.error().message;
    };
    CHECK(sizes({2, 3}) == "[2, 3]");
    CHECK(sizes({-1, 3}) == "[2, 3]");
    CHECK(sizes({-1}) == "[6]");
    CHECK(sizes({2, 2}) == "float32[2, 2] takes 16 bytes, there are 24");
    CHECK(sizes({-1, 4}) == "float32[1, 4] takes 16 bytes, there are 24");
    CHECK(sizes({-1, -1}).find("negative") != std::string::npos);
    CHECK(sizes({-1, 0}) == "float32[0, 0] takes 0 bytes, there are 24");
  }
}

}  // namespace
}  // namespace backplane::cli
