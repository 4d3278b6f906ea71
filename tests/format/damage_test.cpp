// Every truncation and many thousands of flipped bits: whatever comes back can be used.
#include <doctest/doctest.h>

#include <random>

#include "common/mapped_file.hpp"
#include "sample.hpp"

using namespace backplane;

namespace {

constexpr int kFlips = 20000;

// Reads every byte that the views reach, so that a sanitizer sees one outside.
unsigned touch(Bytes bytes) {
  unsigned sum = 0;
  for (const std::byte byte : bytes) sum += static_cast<unsigned>(byte);
  return sum;
}

unsigned touch(std::span<const NamedData> data) {
  unsigned sum = 0;
  for (const NamedData& datum : data) sum += touch(datum.data);
  return sum;
}

unsigned touch(const pte::Program& program) {
  unsigned sum = touch(program.named_data);
  for (const Bytes bytes : program.constants) sum += touch(bytes);
  for (const Bytes bytes : program.mutable_data) sum += touch(bytes);
  for (const pte::Plan& plan : program.plans) {
    for (const pte::Delegate& delegate : plan.delegates) sum += touch(delegate.payload);
  }
  return sum;
}

// A file that reads must satisfy the rules and be written again.
bool survives_pte(Bytes file) {
  const Result<pte::Program> program = pte::read(file, "damaged.pte");
  if (!program.ok()) return !program.error().message.empty();
  MemorySink sink;
  return touch(*program) < ~0U && pte::check(*program).ok() && pte::write(*program, {}, sink).ok();
}

bool survives_ptd(Bytes file) {
  const Result<ptd::DataFile> data = ptd::read(file, "damaged.ptd");
  if (!data.ok()) return !data.error().message.empty();
  MemorySink sink;
  return touch(data->data) < ~0U && ptd::write(*data, {}, sink).ok();
}

struct Target {
  std::string name;
  std::vector<std::byte> bytes;
  bool (*survives)(Bytes);
};

std::vector<Target> targets() {
  MemorySink pte_sink;
  MemorySink ptd_sink;
  REQUIRE(pte::write(sample_program(), {}, pte_sink).ok());
  REQUIRE(ptd::write(sample_data(), {}, ptd_sink).ok());
  std::vector<Target> list = {
      {"sample.pte", {pte_sink.bytes().begin(), pte_sink.bytes().end()}, survives_pte},
      {"sample.ptd", {ptd_sink.bytes().begin(), ptd_sink.bytes().end()}, survives_ptd}};
  for (const char* name : {"control.pte", "inline.pte", "_default_external_constant.ptd"}) {
    const Result<MappedFile> file = MappedFile::open(std::string("executorch/") + name);
    REQUIRE_MESSAGE(file.ok(), file.error().message);
    const Bytes bytes = file->bytes();
    const bool pte = std::string_view(name).ends_with(".pte");
    list.push_back({name, {bytes.begin(), bytes.end()}, pte ? survives_pte : survives_ptd});
  }
  return list;
}

}  // namespace

TEST_SUITE("core/format") {
  TEST_CASE("a file cut anywhere is refused or sound") {
    for (const Target& target : targets()) {
      CAPTURE(target.name);
      int bad = 0;
      for (size_t size = 0; size < target.bytes.size(); ++size) {
        // A copy of just that size, for the sanitizer's sake.
        const std::vector<std::byte> cut(target.bytes.begin(),
                                         target.bytes.begin() + static_cast<ptrdiff_t>(size));
        bad += target.survives(cut) ? 0 : 1;
      }
      CHECK(bad == 0);
    }
  }

  TEST_CASE("a file with flipped bits is refused or sound") {
    for (const Target& target : targets()) {
      CAPTURE(target.name);
      std::mt19937 random(7);
      int bad = 0;
      for (int i = 0; i < kFlips; ++i) {
        std::vector<std::byte> bytes = target.bytes;
        const unsigned flips = 1 + random() % 4;
        for (unsigned flip = 0; flip < flips; ++flip) {
          bytes[random() % bytes.size()] ^= std::byte{1} << random() % 8;
        }
        bad += target.survives(bytes) ? 0 : 1;
      }
      CHECK(bad == 0);
    }
  }

  TEST_CASE("a file with any byte at an extreme is refused or sound") {
    for (const Target& target : targets()) {
      CAPTURE(target.name);
      int bad = 0;
      for (size_t i = 0; i < target.bytes.size(); ++i) {
        for (const int value : {0, 0x7f, 0x80, 0xff}) {
          std::vector<std::byte> bytes = target.bytes;
          bytes[i] = static_cast<std::byte>(value);
          bad += target.survives(bytes) ? 0 : 1;
        }
      }
      CHECK(bad == 0);
    }
  }
}
