// Files that ExecuTorch's exporter wrote, against what ExecuTorch's reader says about them.
#include <doctest/doctest.h>

#include "common/mapped_file.hpp"
#include "describe.hpp"

using namespace backplane;

namespace {

// Maps a file of tests/data/executorch; tests run in tests/data.
MappedFile mapped(const std::string& name) {
  Result<MappedFile> file = MappedFile::open("executorch/" + name);
  REQUIRE_MESSAGE(file.ok(), file.error().message);
  return std::move(file).value();
}

std::string text_of(const std::string& name) {
  const MappedFile file = mapped(name);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.size()};
}

constexpr const char* kPrograms[] = {"aligned", "control", "delegate", "external",
                                     "inline",  "kinds",   "methods",  "state"};
constexpr const char* kDataFile = "_default_external_constant.ptd";

}  // namespace

TEST_SUITE("core/format") {
  TEST_CASE("a program that ExecuTorch wrote reads as ExecuTorch reads it") {
    for (const std::string name : kPrograms) {
      CAPTURE(name);
      const MappedFile file = mapped(name + ".pte");
      const Result<pte::Program> program = pte::read(file.bytes(), name);
      REQUIRE_MESSAGE(program.ok(), program.error().message);
      CHECK(describe(*program) == text_of(name + ".pte.txt"));
    }
  }

  TEST_CASE("a program that ExecuTorch wrote is the same after being written here") {
    for (const std::string name : kPrograms) {
      CAPTURE(name);
      const MappedFile file = mapped(name + ".pte");
      const Result<pte::Program> program = pte::read(file.bytes(), name);
      REQUIRE(program.ok());
      MemorySink sink;
      REQUIRE(pte::write(*program, {}, sink).ok());
      const Result<pte::Program> again = pte::read(sink.bytes(), name);
      REQUIRE_MESSAGE(again.ok(), again.error().message);
      CHECK(describe(*again) == text_of(name + ".pte.txt"));
    }
  }

  TEST_CASE("data that ExecuTorch wrote read as ExecuTorch reads them, and again after writing") {
    const MappedFile mapping = mapped(kDataFile);
    const Result<ptd::DataFile> file = ptd::read(mapping.bytes(), kDataFile);
    REQUIRE_MESSAGE(file.ok(), file.error().message);
    const std::string expected = text_of(std::string(kDataFile) + ".txt");
    CHECK(describe(*file) == expected);
    MemorySink sink;
    REQUIRE(ptd::write(*file, {}, sink).ok());
    const Result<ptd::DataFile> again = ptd::read(sink.bytes(), kDataFile);
    REQUIRE_MESSAGE(again.ok(), again.error().message);
    CHECK(describe(*again) == expected);
  }
}
