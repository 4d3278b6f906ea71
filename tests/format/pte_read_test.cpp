// What the reader of `.pte` files accepts and refuses, beyond what the writer makes.
#include <doctest/doctest.h>

#include "program_generated.h"
#include "sample.hpp"
#include "wire.hpp"

using namespace backplane;

namespace {

namespace fb = executorch_flatbuffer;
using Buffer = std::vector<std::byte>;

Buffer sample_bytes() {
  MemorySink sink;
  REQUIRE(pte::write(sample_program(), {}, sink).ok());
  return {sink.bytes().begin(), sink.bytes().end()};
}

template <class T>
void put(Buffer& bytes, size_t offset, T value) {
  REQUIRE(offset != 0);
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

template <class T>
void grow(Buffer& bytes, size_t offset, T by) {
  put<T>(bytes, offset, static_cast<T>(Wire{bytes}.at<T>(offset) + by));
}

std::string refusal(const Buffer& bytes, Code code) {
  const Result<pte::Program> program = pte::read(bytes, "broken.pte");
  REQUIRE(!program.ok());
  CHECK(program.error().code == code);
  CHECK(program.error().message.starts_with("broken.pte: "));
  return program.error().message;
}

// A finished FlatBuffer with what the reader needs at least, and more by `add`.
template <class Add>
Buffer built(Add add) {
  flatbuffers::FlatBufferBuilder builder;
  add(builder);
  const auto bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return {bytes.begin(), bytes.end()};
}

flatbuffers::Offset<fb::EValue> constant(flatbuffers::FlatBufferBuilder& builder, uint32_t index) {
  const std::vector<int32_t> sizes = {2};
  const std::vector<uint8_t> dim_order = {0};
  const auto tensor =
      fb::CreateTensorDirect(builder, fb::ScalarType::BYTE, 0, &sizes, &dim_order, false, index);
  return fb::CreateEValue(builder, fb::KernelTypes::Tensor, tensor.Union());
}

}  // namespace

TEST_SUITE("core/format") {
  TEST_CASE("what was written is read, every member of it") {
    const Buffer bytes = sample_bytes();
    const Result<pte::Program> program = pte::read(bytes, "sample.pte");
    REQUIRE_MESSAGE(program.ok(), program.error().message);
    CHECK(same(*program, sample_program()));
    // Views, not copies.
    const std::byte* payload = program->plans[0].delegates[1].payload.data();
    CHECK(payload == program->plans[1].delegates[0].payload.data());
    CHECK((payload > bytes.data() && payload < bytes.data() + bytes.size()));
    CHECK(find_plan(*program, "other") == &program->plans[1]);
    CHECK(find_plan(*program, "others") == nullptr);
    CHECK(find(program->named_data, "b/1") == &program->named_data[1]);
    CHECK(find(program->named_data, "c/1") == nullptr);
  }

  TEST_CASE("a longer header is read, what is unknown in it is skipped") {
    Buffer bytes = sample_bytes();
    bytes.insert(bytes.begin() + 40, 32, std::byte{0x5a});
    grow<uint32_t>(bytes, 0 + 12, 32);
    uint32_t root = Wire{bytes}.at<uint32_t>(0) + 32;
    std::memcpy(bytes.data(), &root, 4);
    grow<uint64_t>(bytes, 16, 32);
    grow<uint64_t>(bytes, 24, 32);
    const Result<pte::Program> program = pte::read(bytes, "longer.pte");
    REQUIRE_MESSAGE(program.ok(), program.error().message);
    CHECK(same(*program, sample_program()));
  }

  TEST_CASE("an old header says nothing of the segments' size") {
    Buffer bytes = sample_bytes();
    put<uint32_t>(bytes, 12, 24);
    put<uint64_t>(bytes, 32, ~uint64_t{0});
    const Result<pte::Program> program = pte::read(bytes, "old.pte");
    REQUIRE_MESSAGE(program.ok(), program.error().message);
    CHECK(same(*program, sample_program()));
  }

  TEST_CASE("constants inside the FlatBuffer are read from files without a header") {
    const Buffer bytes = built([](auto& builder) {
      const std::vector<flatbuffers::Offset<fb::EValue>> values = {constant(builder, 1)};
      const std::vector<uint8_t> two = {7, 9};
      const std::vector<flatbuffers::Offset<fb::Buffer>> buffers = {
          fb::CreateBuffer(builder), fb::CreateBufferDirect(builder, &two)};
      const std::vector plans = {fb::CreateExecutionPlanDirect(builder, "forward", 0, &values)};
      builder.Finish(fb::CreateProgramDirect(builder, 0, &plans, &buffers), "ET12");
    });
    const Result<pte::Program> program = pte::read(bytes, "legacy.pte");
    REQUIRE_MESSAGE(program.ok(), program.error().message);
    REQUIRE(program->constants.size() == 2);
    REQUIRE(program->constants[1].size() == 2);
    CHECK(program->constants[1][1] == std::byte{9});
  }

  TEST_CASE("files that are no .pte of this version are refused by what they are") {
    struct Case {
      const char* head;
      Code code;
      const char* message;
    };
    constexpr Case kCases[] = {
        {"....ET13", Code::incompatible, "identifier is \"ET13\""},
        {"....BP08", Code::invalid_argument, "has \"ET12\" at byte 4"},
        {"....FT01", Code::invalid_argument, "has \"ET12\" at byte 4"},
        {"\x7f"
         "ELF\x02\n\"\x01",
         Code::invalid_argument, "\"\\x02\\x0a\"\\x01\""},
    };
    for (const Case& c : kCases) {
      Buffer bytes = sample_bytes();
      std::memcpy(bytes.data(), c.head, 8);
      CHECK(refusal(bytes, c.code).find(c.message) != std::string::npos);
    }
    CHECK(refusal({}, Code::invalid_argument).find("0 bytes are too short") != std::string::npos);
    const Buffer shifted = [] {
      Buffer bytes = sample_bytes();
      bytes.insert(bytes.begin(), std::byte{});
      return bytes;
    }();
    CHECK_FALSE(pte::read(std::span(shifted).subspan(1), "shifted").ok());
  }

  TEST_CASE("numbers that lead out of the file or contradict each other are refused") {
    struct Case {
      const char* what;
      void (*damage)(Buffer&, const WireTable& root, const WireTable& plan);
      const char* message;
    };
    using B = Buffer;
    using W = const WireTable;
    const Case cases[] = {
        {"header size", [](B& b, W&, W&) { put<uint32_t>(b, 12, 23); }, "header of 23 bytes"},
        {"header size", [](B& b, W&, W&) { put<uint32_t>(b, 12, ~0U); }, "header of 4294967295"},
        {"program size", [](B& b, W&, W&) { put<uint64_t>(b, 16, b.size() + 1); }, "cut short?"},
        {"program size", [](B& b, W&, W&) { put<uint64_t>(b, 16, 39); }, "less than the header"},
        {"base", [](B& b, W&, W&) { put<uint64_t>(b, 24, ~uint64_t{0}); }, "cut short?"},
        {"base", [](B& b, W&, W&) { put<uint64_t>(b, 24, 64); }, "cut short?"},
        {"size", [](B& b, W&, W&) { put<uint64_t>(b, 32, ~uint64_t{0}); }, "cut short?"},
        {"last byte", [](B& b, W&, W&) { b.pop_back(); }, "cut short?"},
        {"segment", [](B& b, W& r, W&) { put<uint64_t>(b, r.item(4, 3).field(0), ~uint64_t{0}); },
         "segment 3: 10 bytes at 18446744073709551615"},
        {"segment", [](B& b, W& r, W&) { grow<uint64_t>(b, r.item(4, 3).field(1), 1); },
         "segment 3: 11 bytes at 512, the segments have 522 in all"},
        {"offset", [](B& b, W& r, W&) { grow<uint64_t>(b, r.table(5).target(1) + 4 + 16, 1); },
         "constant: 2 is 4 bytes at 17, the segment has 20"},
        {"payload", [](B& b, W&, W& p) { put<uint32_t>(b, p.item(7, 1).table(1).field(1), 4); },
         "method \"forward\": delegate 1: payload is segment 4 of 4"},
        {"named", [](B& b, W& r, W&) { put<uint32_t>(b, r.item(7, 0).field(1), 9); },
         "named datum \"a/1\": segment 9"},
        {"name", [](B& b, W& r, W&) { put<char>(b, r.item(7, 0).target(0) + 4, 'b'); },
         "named datum \"b/1\" is there twice"},
        {"value", [](B& b, W&, W& p) { put<uint8_t>(b, p.item(2, 8).field(0), 200); },
         "value 8: kind 200"},
        {"value", [](B& b, W&, W& p) { put<int32_t>(b, p.item(2, 0).table(1).target(2) + 4, -3); },
         "method \"forward\": value 0: sizes[0] is -3"},
        {"dynamism", [](B& b, W&, W& p) { put<int8_t>(b, p.item(2, 0).table(1).field(8), 3); },
         "value 0: shape_dynamism is 3"},
        {"index",
         [](B& b, W&, W& p) {
           put<int64_t>(b, p.item(2, 14).table(1).target(0) + 4, int64_t{1} << 32 | 8);
         },
         "value 14: item 0 is 4294967304"},
        {"vector", [](B& b, W&, W& p) { put<uint32_t>(b, p.target(2), ~0U); }, "verification"},
    };
    for (const Case& c : cases) {
      CAPTURE(c.what);
      CAPTURE(c.message);
      const Buffer good = sample_bytes();
      Buffer bytes = good;
      const WireTable root = root_of(good);
      c.damage(bytes, root, root.item(1, 0));
      const std::string message = refusal(bytes, Code::invalid_argument);
      CAPTURE(message);
      CHECK(message.find(c.message) != std::string::npos);
    }
  }

  TEST_CASE("what is well formed and not handled is called unsupported") {
    const Buffer good = sample_bytes();
    const WireTable tensor = root_of(good).item(1, 0).item(2, 0).table(1);
    Buffer bytes = good;
    put<int8_t>(bytes, tensor.field(0), 12);
    CHECK(refusal(bytes, Code::unsupported).find("element type 12") != std::string::npos);
  }

  TEST_CASE("a small file can't make a large program") {
    const Buffer strings = built([](auto& builder) {
      const auto name = builder.CreateString(std::string(100000, 'x'));
      std::vector<flatbuffers::Offset<fb::Operator>> operators;
      for (int i = 0; i < 10000; ++i) operators.push_back(fb::CreateOperator(builder, name, name));
      const auto list = builder.CreateVector(operators);
      const std::vector plans = {
          fb::CreateExecutionPlan(builder, builder.CreateString("f"), 0, 0, 0, 0, 0, list)};
      builder.Finish(fb::CreateProgramDirect(builder, 0, &plans), "ET12");
    });
    CHECK(refusal(strings, Code::invalid_argument).find("overlap") != std::string::npos);
    const Buffer tables = built([](auto& builder) {
      const std::vector<flatbuffers::Offset<fb::EValue>> values(10000, constant(builder, 0));
      const auto plan = fb::CreateExecutionPlanDirect(builder, "forward", 0, &values);
      const std::vector plans(10000, plan);
      builder.Finish(fb::CreateProgramDirect(builder, 0, &plans), "ET12");
    });
    CHECK(refusal(tables, Code::invalid_argument).find("verification") != std::string::npos);
  }
}
