// Replacing files: whole or not at all.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "format/file_sink.hpp"
#include "format/pte.hpp"
#include "sample.hpp"

using namespace backplane;
namespace fs = std::filesystem;

namespace {

// A folder of its own, gone at the end.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "backplane-sink-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string file(const char* name) const { return (path / name).string(); }
  [[nodiscard]] size_t count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path), {}));
  }
};

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put(const std::string& path, const char* text) {
  std::ofstream(path) << text;
}

// Files of this process can't grow over `bytes`, as on a full disk.
struct SizeLimit {
  rlimit old{};
  explicit SizeLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &old);
    const rlimit limit{bytes, old.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SizeLimit() { ::setrlimit(RLIMIT_FSIZE, &old); }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;
};

}  // namespace

TEST_SUITE("core/format") {
  TEST_CASE("a file appears at commit, with all that was appended") {
    const Folder folder;
    const std::string path = folder.file("new.pte");
    std::string expected;
    Result<FileSink> sink = FileSink::create(path, "id7");
    REQUIRE_MESSAGE(sink.ok(), sink.error().message);
    CHECK(sink->temporary_path() == path + ".new-id7");
    for (const size_t size : {1, 70000, 10, 65536, 0, 65530, 300000}) {
      const std::string part(size, static_cast<char>('a' + size % 26));
      expected += part;
      REQUIRE(sink->append(std::as_bytes(std::span(part))).ok());
    }
    CHECK_FALSE(fs::exists(path));
    REQUIRE(sink->commit().ok());
    CHECK(content(path) == expected);
    CHECK(folder.count() == 1);
  }

  TEST_CASE("a sink that is dropped leaves the old file and nothing else") {
    const Folder folder;
    put(folder.file("a"), "old");
    {
      Result<FileSink> sink = FileSink::create(folder.file("a"));
      REQUIRE(sink.ok());
      REQUIRE(sink->append(bytes_of("new")).ok());
      REQUIRE(sink->sync().ok());
      CHECK(folder.count() == 2);
    }
    CHECK(content(folder.file("a")) == "old");
    CHECK(folder.count() == 1);
  }

  TEST_CASE("what is kept stays under the temporary name") {
    const Folder folder;
    {
      Result<FileSink> sink = FileSink::create(folder.file("a"), "5");
      REQUIRE(sink->append(bytes_of("new")).ok());
      REQUIRE(sink->sync().ok());
      sink->keep();
    }
    CHECK(content(folder.file("a.new-5")) == "new");
  }

  TEST_CASE("a temporary that exists is not touched") {
    const Folder folder;
    put(folder.file("a.new-5"), "another's");
    const Result<FileSink> sink = FileSink::create(folder.file("a"), "5");
    REQUIRE_FALSE(sink.ok());
    CHECK(sink.error().message.find("a.new-5: can't create: File exists") != std::string::npos);
    CHECK(content(folder.file("a.new-5")) == "another's");
  }

  TEST_CASE("a write that fails is an error with file and reason, and the old file stays") {
    const Folder folder;
    const std::string path = folder.file("a.pte");
    put(path, "old");
    const SizeLimit limit(100);
    const Status status = pte::write(sample_program(), {}, path);
    REQUIRE_FALSE(status.ok());
    CAPTURE(status.error().message);
    CHECK(status.error().message.find(path + ".new-") != std::string::npos);
    CHECK(status.error().message.find("can't write: File too large") != std::string::npos);
    CHECK(content(path) == "old");
    CHECK(folder.count() == 1);
  }

  TEST_CASE("a folder that is not there, and one in the file's place, are errors") {
    const Folder folder;
    const Result<FileSink> nowhere = FileSink::create(folder.file("no/a"));
    REQUIRE_FALSE(nowhere.ok());
    CHECK(nowhere.error().message.find("No such file or directory") != std::string::npos);
    fs::create_directory(folder.file("b"));
    const Status status = pte::write(sample_program(), {}, folder.file("b"));
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().message.find("b: can't replace by") != std::string::npos);
    CHECK(folder.count() == 1);
  }
}
