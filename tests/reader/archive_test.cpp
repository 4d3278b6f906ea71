#include "reader/archive.hpp"

#include <doctest/doctest.h>

#include <random>

#include "zip_writer.hpp"

using namespace backplane;
using namespace backplane::testing;

TEST_SUITE("core/reader/archive") {
  TEST_CASE("stored entries are views of the archive, deflated ones are unpacked") {
    const std::string text(5000, 'x');
    for (const bool zip64 : {false, true}) {
      CAPTURE(zip64);
      const std::string zip =
          make_zip({{.name = "a/stored", .data = "hello", .local_sizes = false, .alignment = 64},
                    {.name = "a/packed", .data = text, .deflate = true, .zip64 = zip64},
                    {.name = "a/empty", .data = "", .deflate = true},
                    {.name = "a/folder/"},
                    {.name = "a/wide", .data = "12345678", .zip64 = true}},
                   zip64);
      auto archive = Archive::open(bytes_of(zip));
      REQUIRE(archive.ok());
      Buffers buffers;
      REQUIRE(archive->entries().size() == 5);
      const auto stored = archive->read_checked(*archive->find("a/stored"), buffers);
      REQUIRE(stored.ok());
      CHECK(text_of(*stored) == "hello");
      CHECK(static_cast<const void*>(stored->data()) > zip.data());
      CHECK((reinterpret_cast<const char*>(stored->data()) - zip.data()) % 64 == 0);
      CHECK(archive->readable_after(*stored) > 100);
      const auto packed = archive->read_checked(*archive->find("a/packed"), buffers);
      REQUIRE(packed.ok());
      CHECK(text_of(*packed) == text);
      CHECK(archive->readable_after(*packed) == 0);
      CHECK(archive->read(*archive->find("a/empty"), buffers)->empty());
      CHECK(text_of(*archive->read(*archive->find("a/wide"), buffers)) == "12345678");
      CHECK(archive->find("stored") == nullptr);
    }
  }

  TEST_CASE("an entry is found below whatever root there is, the shallowest first") {
    const std::string zip = make_zip({{.name = "r/extra/s/version", .data = "1"},
                                      {.name = "r/version", .data = "2"},
                                      {.name = "r/my_version", .data = "3"}});
    auto archive = Archive::open(bytes_of(zip));
    REQUIRE(archive.ok());
    REQUIRE(archive->find_below_root("version") != nullptr);
    CHECK(archive->find_below_root("version")->name == "r/version");
    CHECK(archive->find_below_root("ersion") == nullptr);
  }

  TEST_CASE("a checksum that does not match is found where data is parsed, one left out is not") {
    const std::string zip =
        make_zip({{.name = "wrong", .data = "data", .claimed_crc = 7},
                  {.name = "none", .data = "data", .claimed_crc = 0},
                  {.name = "packed", .data = "data", .deflate = true, .claimed_crc = 7}});
    auto archive = Archive::open(bytes_of(zip));
    REQUIRE(archive.ok());
    Buffers buffers;
    CHECK(archive->read(*archive->find("wrong"), buffers).ok());
    CHECK_FALSE(archive->read_checked(*archive->find("wrong"), buffers).ok());
    CHECK(archive->read_checked(*archive->find("none"), buffers).ok());
    CHECK_FALSE(archive->read(*archive->find("packed"), buffers).ok());
  }

  TEST_CASE("a directory that lies is refused when the archive is opened") {
    struct Row {
      const char* what;
      std::string zip;
      const char* message;
    };
    const std::string plain = make_zip({{.name = "a", .data = "data"}});
    std::string many = plain;
    many[many.size() - 12] = 9;
    std::string far = plain;
    far[far.size() - 3] = 9;
    std::string parts = plain;
    parts[parts.size() - 18] = 1;
    std::string far64 = make_zip({{.name = "a", .data = "data"}}, true);
    far64[far64.size() - 22 - 5] = 9;
    const Row rows[] = {
        {"nothing", "", "not a zip archive"},
        {"text", std::string(100, 'a'), "not a zip archive"},
        {"cut short", plain.substr(0, plain.size() - 1), "not a zip archive"},
        {"more entries than bytes", many, "can't hold 9 entries"},
        {"a directory behind the end", far, "outside of the file"},
        {"several parts", parts, "several parts"},
        {"a zip64 record behind the end", far64, "zip64"},
        {"twice", make_zip({{.name = "a"}, {.name = "a"}}), "there twice"},
        {"absolute", make_zip({{.name = "/a"}}), "absolute"},
        {"absolute on Windows", make_zip({{.name = "c:\\a"}}), "absolute"},
        {"upwards", make_zip({{.name = "a/../b"}}), "'..'"},
        {"upwards on Windows", make_zip({{.name = "a\\.."}}), "'..'"},
        {"no name", make_zip({{.name = ""}}), "no name"},
        {"zero byte", make_zip({{.name = std::string("a\0b", 3)}}), "zero byte"},
        {"two sizes", make_zip({{.name = "a", .data = "data", .deflate = true, .method = 0}}),
         "two sizes"},
    };
    for (const Row& row : rows) {
      CAPTURE(row.what);
      const auto archive = Archive::open(bytes_of(row.zip));
      REQUIRE_FALSE(archive.ok());
      CHECK_MESSAGE(archive.error().message.find(row.message) != std::string::npos,
                    archive.error().message);
    }
  }

  TEST_CASE("an entry that lies is refused when it is read, before memory is taken") {
    struct Row {
      const char* what;
      ZipEntry entry;
      const char* message;
    };
    const Row rows[] = {
        {"larger than the file", {.name = "a", .data = "data", .claimed_size = 1 << 30}, "outside"},
        {"header behind the end", {.name = "a", .data = "d", .claimed_offset = 1 << 30}, "outside"},
        {"no header there", {.name = "a", .data = "data", .claimed_offset = 4}, "no local header"},
        {"another name", {.name = "a", .data = "data", .local_name = "b"}, "another name"},
        {"encrypted", {.name = "a", .data = "data", .flags = 1}, "encrypted"},
        {"another method", {.name = "a", .data = "data", .method = 12}, "method 12"},
        {"unpacks to less",
         {.name = "a", .data = std::string(1000, 'x'), .deflate = true, .claimed_size = 1001},
         "does not unpack"},
        {"unpacks to more",
         {.name = "a", .data = std::string(1000, 'x'), .deflate = true, .claimed_size = 999},
         "does not unpack"},
        {"no deflate data",
         {.name = "a", .data = "\xff\xff\xff\xff", .method = 8},
         "does not unpack"},
        {"a ratio that deflate can't reach",
         {.name = "a",
          .data = "data",
          .deflate = true,
          .zip64 = true,
          .claimed_size = int64_t{1} << 40},
         "claims to unpack"},
    };
    for (const Row& row : rows) {
      CAPTURE(row.what);
      const std::string zip = make_zip({row.entry});
      auto archive = Archive::open(bytes_of(zip));
      REQUIRE(archive.ok());
      Buffers buffers;
      const auto bytes = archive->read(archive->entries()[0], buffers);
      REQUIRE_FALSE(bytes.ok());
      CHECK_MESSAGE(bytes.error().message.find(row.message) != std::string::npos,
                    bytes.error().message);
    }
  }

  TEST_CASE("an entry that would unpack to far more than its archive is refused") {
    std::string noise(1200 << 10, '\0');
    std::mt19937 random(1);
    for (char& c : noise) c = static_cast<char>(random());
    // Within what deflate could reach with so many bytes.
    const std::string zip = make_zip(
        {{.name = "a", .data = noise, .deflate = true, .claimed_size = int64_t{1100} << 20}});
    auto archive = Archive::open(bytes_of(zip));
    REQUIRE(archive.ok());
    Buffers buffers;
    const auto bytes = archive->read(archive->entries()[0], buffers);
    REQUIRE_FALSE(bytes.ok());
    CHECK(bytes.error().message.find("claims to unpack") != std::string::npos);
  }
}
