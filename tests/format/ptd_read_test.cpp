// What the reader of `.ptd` files accepts and refuses.
#include <doctest/doctest.h>

#include "sample.hpp"
#include "wire.hpp"

using namespace backplane;

namespace {

using Buffer = std::vector<std::byte>;

Buffer sample_bytes() {
  MemorySink sink;
  REQUIRE(ptd::write(sample_data(), {}, sink).ok());
  return {sink.bytes().begin(), sink.bytes().end()};
}

template <class T>
void put(Buffer& bytes, size_t offset, T value) {
  REQUIRE(offset != 0);
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

}  // namespace

TEST_SUITE("core/format") {
  TEST_CASE("data that were written are read, and found by key") {
    const Buffer bytes = sample_bytes();
    const Result<ptd::DataFile> file = ptd::read(bytes, "sample.ptd");
    REQUIRE_MESSAGE(file.ok(), file.error().message);
    CHECK(same(file->data, sample_data().data));
    const NamedData* weight = find(file->data, "net.weight");
    REQUIRE(weight != nullptr);
    CHECK(weight->data.data() == find(file->data, "blob")->data.data());
    CHECK(find(file->data, "net") == nullptr);
    CHECK(find(file->data, "zzz") == nullptr);
  }

  TEST_CASE("data come back in the order of their keys") {
    MemorySink sink;
    REQUIRE(ptd::write({{{.key = "z"}, {.key = "a"}, {.key = "m"}}}, {}, sink).ok());
    const Result<ptd::DataFile> file = ptd::read(sink.bytes(), "sample.ptd");
    REQUIRE(file.ok());
    CHECK(file->data[0].key == "a");
    CHECK(find(file->data, "z") == &file->data[2]);
  }

  TEST_CASE("data that can't be written are refused, and nothing is written") {
    struct Case {
      NamedData datum;
      ptd::WriteOptions options;
      const char* message;
    };
    const TensorLayout four = {DType::f32, {2, 2}, {0, 1}};
    const Case cases[] = {
        {{.key = ""}, {}, "a named datum has no key"},
        {{.key = "blob"}, {}, "named datum \"blob\" is there twice"},
        {{.key = "k", .data = bytes_of("fifteen bytes!!"), .layout = four},
         {},
         "named datum \"k\": has 15 bytes, its tensor 16"},
        {{.key = "k", .alignment = 0}, {}, "named datum \"k\": alignment 0"},
        {{.key = "k", .alignment = 1U << 21}, {}, "named datum \"k\": alignment 2097152"},
        {{.key = "k"}, {.segment_alignment = 24}, "segments: alignment 24"},
        {{.key = "k", .layout = TensorLayout{DType::f32, {-1}, {0}}}, {}, "sizes[0] is -1"},
    };
    for (const Case& c : cases) {
      ptd::DataFile file = sample_data();
      file.data.push_back(c.datum);
      MemorySink sink;
      const Status status = ptd::write(file, c.options, sink);
      REQUIRE_FALSE(status.ok());
      CAPTURE(status.error().message);
      CHECK(status.error().message.find(c.message) != std::string::npos);
      CHECK(sink.bytes().empty());
    }
  }

  TEST_CASE("damaged files are refused, with the file's name and what is wrong") {
    struct Case {
      void (*damage)(Buffer&, const WireTable& root);
      Code code;
      const char* message;
    };
    using B = Buffer;
    using W = const WireTable;
    constexpr Code kInvalid = Code::invalid_argument;
    const Case cases[] = {
        {[](B& b, W&) { put<char>(b, 7, '2'); }, Code::incompatible, "identifier is \"FT02\""},
        {[](B& b, W&) { put<char>(b, 8, 'f'); }, kInvalid, "\"FH01\" is expected at byte 8"},
        {[](B& b, W&) { put<uint32_t>(b, 12, 39); }, kInvalid, "header of 39 bytes"},
        {[](B& b, W&) { put<uint64_t>(b, 16, ~uint64_t{0}); }, kInvalid, "cut short?"},
        {[](B& b, W&) { put<uint64_t>(b, 24, ~uint64_t{0} - 40); }, kInvalid, "cut short?"},
        {[](B& b, W&) { put<uint64_t>(b, 32, ~uint64_t{0} - 8); }, kInvalid, "cut short?"},
        {[](B& b, W&) { put<uint64_t>(b, 40, ~uint64_t{0} - 8); }, kInvalid, "cut short?"},
        {[](B& b, W&) { b.pop_back(); }, kInvalid, "cut short?"},
        {[](B& b, W& r) { put<uint64_t>(b, r.item(1, 1).field(1), 2); }, kInvalid,
         "segment 1: 2 bytes at 1024, the segments have 1025 in all"},
        {[](B& b, W& r) { put<uint32_t>(b, r.item(2, 1).field(1), 2); }, kInvalid,
         "named datum \"large\": segment 2 does not exist, there are 2"},
        {[](B& b, W& r) { put<int8_t>(b, r.item(2, 2).table(2).field(0), 6); }, kInvalid,
         "named datum \"net.weight\": has 12 bytes, its tensor 24"},
        {[](B& b, W& r) { put<int8_t>(b, r.item(2, 2).table(2).field(0), 99); }, Code::unsupported,
         "named datum \"net.weight\": element type 99"},
    };
    for (const Case& c : cases) {
      const Buffer good = sample_bytes();
      Buffer bytes = good;
      c.damage(bytes, root_of(good));
      const Result<ptd::DataFile> file = ptd::read(bytes, "broken.ptd");
      REQUIRE_FALSE(file.ok());
      CAPTURE(file.error().message);
      CHECK(file.error().code == c.code);
      CHECK(file.error().message.starts_with("broken.ptd: "));
      CHECK(file.error().message.find(c.message) != std::string::npos);
    }
  }
}
