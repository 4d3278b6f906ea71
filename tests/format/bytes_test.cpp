// SHA-256, mapped files, and the size of tensors.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "common/mapped_file.hpp"
#include "format/named_data.hpp"
#include "format/sha256.hpp"
#include "sample.hpp"

using namespace backplane;

namespace {

std::string temporary_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "backplane-map-XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  return name;
}

}  // namespace

TEST_SUITE("core/format") {
  TEST_CASE("SHA-256 gives the digests of the standard's examples") {
    // FIPS 180-2, appendix B, and the empty message.
    CHECK(to_hex(sha256({})) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(to_hex(sha256(bytes_of("abc"))) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(to_hex(sha256(bytes_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))) ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    Sha256 hash;
    const std::vector<std::byte> part(1000, std::byte{'a'});
    for (int i = 0; i < 1000; ++i) hash.update(part);
    CHECK(to_hex(hash.finish()) ==
          "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    hash.update(bytes_of("abc"));
    CHECK(hash.finish() == sha256(bytes_of("abc")));
  }

  TEST_CASE("a mapped file has the file's bytes and outlives moves") {
    Result<MappedFile> file = MappedFile::open("executorch/state.pte");
    REQUIRE_MESSAGE(file.ok(), file.error().message);
    const size_t size = file->size();
    MappedFile other = std::move(file).value();
    MappedFile third;
    third = std::move(other);
    CHECK(size > 1000);
    REQUIRE(third.size() == size);
    CHECK(third.bytes()[4] == std::byte{'E'});
  }

  TEST_CASE("an empty file maps to no bytes") {
    const std::string folder = temporary_folder();
    const std::string name = folder + "/empty";
    std::ofstream(name).close();
    const Result<MappedFile> file = MappedFile::open(name);
    CHECK(file.ok());
    CHECK(file->size() == 0);
    std::filesystem::remove_all(folder);
  }

  TEST_CASE("what can't be mapped is an error with name and reason, at once") {
    const Result<MappedFile> missing = MappedFile::open("executorch/none.pte");
    REQUIRE_FALSE(missing.ok());
    CHECK(missing.error().code == Code::not_found);
    CHECK(missing.error().message == "executorch/none.pte: No such file or directory");
    const Result<MappedFile> folder = MappedFile::open("executorch");
    REQUIRE_FALSE(folder.ok());
    CHECK(folder.error().message == "executorch: Is a directory");
    const std::string temporary = temporary_folder();
    const std::string pipe = temporary + "/pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const Result<MappedFile> stream = MappedFile::open(pipe);
    REQUIRE_FALSE(stream.ok());
    CHECK(stream.error().message.find("not a regular file") != std::string::npos);
    std::filesystem::remove_all(temporary);
  }

  TEST_CASE("sizes of tensors are counted, or nothing where they overflow") {
    constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
    CHECK(checked_numel({}) == 1);
    CHECK(checked_numel(std::vector{2, 3, 4}) == 24);
    CHECK(checked_numel(std::vector{kMost, kMost, kMost, 0}) == 0);
    CHECK(checked_numel(std::vector{kMost, kMost}) == int64_t{kMost} * kMost);
    CHECK_FALSE(checked_numel(std::vector{kMost, kMost, kMost}).has_value());
    CHECK_FALSE(checked_numel(std::vector{0, -1}).has_value());
    CHECK(checked_nbytes({DType::f32, {3, 5}, {0, 1}}) == 60);
    CHECK_FALSE(checked_nbytes({DType::f32, {kMost, kMost}, {0, 1}}).has_value());
  }
}
