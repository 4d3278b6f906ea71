// Where everything lies in a `.pte` that was written here, found by hand.
#include <doctest/doctest.h>

#include "sample.hpp"
#include "wire.hpp"

using namespace backplane;

namespace {

MemorySink written(const pte::Program& program, const pte::WriteOptions& options = {}) {
  MemorySink sink;
  const Status status = pte::write(program, options, sink);
  REQUIRE_MESSAGE(status.ok(), status.error().message);
  return sink;
}

struct Place {
  uint64_t offset;
  uint64_t size;
};

}  // namespace

TEST_SUITE("core/format") {
  TEST_CASE("a .pte with segments begins with its header, and segments lie where it says") {
    const MemorySink sink = written(sample_program());
    const Wire wire{sink.bytes()};
    CHECK(wire.text(4, 8) == "ET12eh00");
    CHECK(wire.at<uint32_t>(12) == 32);
    const auto program_size = wire.at<uint64_t>(16);
    const auto base = wire.at<uint64_t>(24);
    CHECK(base == (program_size + 511) / 512 * 512);  // 512: the largest alignment asked for
    CHECK(wire.at<uint64_t>(32) == 522);
    CHECK(wire.file.size() == base + 522);
    for (size_t i = program_size; i < base; ++i) CHECK(wire.at<uint8_t>(i) == 0);

    const WireTable root = root_of(wire.file);
    CHECK(root.scalar<uint32_t>(0) == 0);
    CHECK(root.count(2) == 0);
    constexpr Place kPlaces[] = {{0, 20}, {128, 3}, {256, 7}, {512, 10}};
    REQUIRE(root.count(4) == 4);
    for (size_t i = 0; i < 4; ++i) {
      CHECK(root.item(4, i).scalar<uint64_t>(0) == kPlaces[i].offset);
      CHECK(root.item(4, i).scalar<uint64_t>(1) == kPlaces[i].size);
    }
    CHECK(wire.text(base, 20) == std::string("first\0\0\0\0\0\0\0\0\0\0\0next", 20));
    CHECK(wire.text(base + 128, 3) == "old");
    CHECK(wire.text(base + 256, 7) == "payload");
    CHECK(wire.text(base + 512, 10) == "0123456789");

    CHECK(root.table(5).scalar<uint32_t>(0) == 0);
    CHECK(root.table(5).list<uint64_t>(1) == std::vector<uint64_t>{0, 0, 16});
    REQUIRE(root.count(6) == 1);
    CHECK(root.item(6, 0).scalar<uint32_t>(0) == 1);
    CHECK(root.item(6, 0).list<uint64_t>(1) == std::vector<uint64_t>{0, 0});
    REQUIRE(root.count(7) == 2);
    CHECK(root.item(7, 0).text(0) == "a/1");
    CHECK(root.item(7, 0).scalar<uint32_t>(1) == 3);
    CHECK(root.item(7, 1).text(0) == "b/1");
    CHECK(root.item(7, 1).scalar<uint32_t>(1) == 3);
  }

  TEST_CASE("methods have each field where the format has it") {
    const MemorySink sink = written(sample_program());
    const WireTable root = root_of(sink.bytes());
    REQUIRE(root.count(1) == 2);
    const WireTable plan = root.item(1, 0);
    CHECK(plan.text(0) == "forward");
    CHECK(plan.table(1).text(0) == "[1]");
    CHECK(plan.table(1).text(1) == "[2]");
    CHECK(plan.count(2) == 19);
    CHECK(plan.list<int32_t>(3) == std::vector<int32_t>{0, 8});
    CHECK(plan.list<int32_t>(4) == std::vector<int32_t>{4, 3});
    CHECK(plan.item(6, 0).text(0) == "aten::add");
    CHECK(plan.item(6, 0).text(1) == "out");
    CHECK(plan.list<int64_t>(8) == std::vector<int64_t>{0, 67, (int64_t{5} << 32) + 16});
    CHECK(plan.item(9, 0).scalar<int32_t>(0) == 2);
    CHECK(plan.item(9, 0).scalar<int8_t>(1) == 1);
    CHECK(plan.item(9, 0).scalar<int8_t>(2) == 1);

    const WireTable empty = plan.item(7, 0);
    CHECK(empty.text(0) == "Empty");
    CHECK(empty.table(1).scalar<int8_t>(0) == 0);  // inline
    CHECK(empty.table(1).scalar<uint32_t>(1) == 0);
    REQUIRE(root.count(3) == 1);
    CHECK(root.item(3, 0).count(0) == 0);
    for (const WireTable& lib : {plan.item(7, 1), root.item(1, 1).item(7, 0)}) {
      CHECK(lib.table(1).scalar<int8_t>(0) == 1);  // a segment, shared by both methods
      CHECK(lib.table(1).scalar<uint32_t>(1) == 2);
    }
    CHECK(plan.item(7, 1).item(2, 0).text(0) == "key");
    CHECK(plan.item(7, 1).item(2, 0).list<uint8_t>(1) == std::vector<uint8_t>{0, 255});

    const WireTable chain = plan.item(5, 0);
    CHECK(chain.list<int32_t>(0) == std::vector<int32_t>{0});
    const WireTable call = chain.item(2, 0).table(1);
    CHECK(chain.item(2, 0).scalar<uint8_t>(0) == 1);
    CHECK(call.scalar<int32_t>(0) == 0);
    CHECK(call.list<int32_t>(1) == std::vector<int32_t>{0, 1, 8, 4, 4});
    const std::vector<std::pair<int, int>> kinds = {{0, 1}, {1, 4}, {2, 2}, {3, 3}, {4, 5}};
    for (const auto& [index, kind] : kinds) {
      CHECK(chain.item(2, static_cast<size_t>(index)).scalar<uint8_t>(0) == kind);
    }
    CHECK(chain.item(2, 1).table(1).scalar<int32_t>(1) == 4);
    CHECK(chain.item(3, 0).item(0, 0).text(0) == "net.py");
    CHECK(chain.item(3, 0).item(0, 0).scalar<int32_t>(1) == 12);
  }

  TEST_CASE("values have each field where the format has it") {
    const MemorySink sink = written(sample_program());
    const WireTable plan = root_of(sink.bytes()).item(1, 0);
    const auto value = [&](size_t i) { return plan.item(2, i).table(1); };
    constexpr uint8_t kKinds[] = {5, 5, 5, 5, 5, 5, 5, 1, 2, 3, 3, 4, 4, 6, 7, 8, 9, 10, 11};
    for (size_t i = 0; i < std::size(kKinds); ++i) {
      CHECK(plan.item(2, i).scalar<uint8_t>(0) == kKinds[i]);
    }
    const WireTable input = value(0);
    CHECK(input.scalar<int8_t>(0) == 15);
    CHECK(input.scalar<int32_t>(1) == 0);
    CHECK(input.list<int32_t>(2) == std::vector<int32_t>{2, 3});
    CHECK(input.list<uint8_t>(3) == std::vector<uint8_t>{1, 0});
    CHECK(input.scalar<uint8_t>(4) == 1);
    CHECK(input.field(6) == 0);
    CHECK(input.scalar<int8_t>(7) == 0);
    CHECK(input.scalar<int8_t>(8) == 1);
    CHECK(input.field(9) == 0);
    CHECK(value(2).scalar<uint32_t>(5) == 2);
    const WireTable far = value(4);
    CHECK(far.table(6).scalar<uint32_t>(0) == 2);
    CHECK(far.table(6).scalar<uint32_t>(1) == 0);
    CHECK(far.table(6).scalar<uint32_t>(2) == 5);
    CHECK(far.table(9).scalar<int8_t>(3) == 1);
    CHECK(far.table(9).scalar<int8_t>(4) == 1);
    CHECK(value(5).table(9).text(1) == "net.scale");
    CHECK(value(5).table(9).scalar<int8_t>(2) == 1);
    CHECK(value(8).scalar<int64_t>(0) == -7);
    CHECK(value(9).scalar<uint8_t>(0) == 1);
    CHECK(value(11).field(0) != 0);
    CHECK(value(11).scalar<uint64_t>(0) == uint64_t{1} << 63);  // -0.0
    CHECK(value(12).scalar<double>(0) > 1e308);
    CHECK(value(13).text(0) == std::string("a\0b", 3));
    CHECK(value(14).list<int64_t>(0) == std::vector<int64_t>{8, 8});
    CHECK(value(15).list<double>(0) == std::vector<double>{0.5, -1.25});
    CHECK(value(16).list<uint8_t>(0) == std::vector<uint8_t>{1, 0, 1});
    CHECK(value(17).list<int32_t>(0) == std::vector<int32_t>{0, 2});
    CHECK(value(18).list<int32_t>(0) == std::vector<int32_t>{-1, 7, 1});
  }

  TEST_CASE("a .pte without segment bytes is a plain FlatBuffer") {
    pte::Program program;
    program.plans.resize(1);
    program.plans[0].name = "forward";
    const MemorySink sink = written(program);
    const Wire wire{sink.bytes()};
    CHECK(wire.text(4, 4) == "ET12");
    CHECK(wire.text(8, 4) != "eh00");
    const WireTable root = root_of(wire.file);
    CHECK(root.table(5).list<uint64_t>(1) == std::vector<uint64_t>{0});
    REQUIRE(root.count(4) == 1);
    CHECK(root.item(4, 0).scalar<uint64_t>(1) == 0);
  }

  TEST_CASE("alignments asked for hold from the start of the file") {
    pte::Program program = sample_program();
    program.named_data[0].alignment = 1 << 16;
    const MemorySink sink =
        written(program, {.segment_alignment = 256, .constant_alignment = 4096});
    const Wire wire{sink.bytes()};
    const auto base = wire.at<uint64_t>(24);
    const WireTable root = root_of(wire.file);
    CHECK(root.table(5).list<uint64_t>(1) == std::vector<uint64_t>{0, 0, 4096});
    CHECK((base + root.item(4, 0).scalar<uint64_t>(0)) % 4096 == 0);
    CHECK((base + root.item(4, 1).scalar<uint64_t>(0)) % 256 == 0);
    CHECK((base + root.item(4, 3).scalar<uint64_t>(0)) % (1 << 16) == 0);
  }
}
