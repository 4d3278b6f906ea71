// Where everything lies in a `.ptd` that was written here, found by hand.
#include <doctest/doctest.h>

#include "sample.hpp"
#include "wire.hpp"

using namespace backplane;

TEST_SUITE("core/format") {
  TEST_CASE("a .ptd begins with its header, and has each field where the format has it") {
    MemorySink sink;
    REQUIRE(ptd::write(sample_data(), {}, sink).ok());
    const Wire wire{sink.bytes()};
    CHECK(wire.text(4, 8) == "FT01FH01");
    CHECK(wire.at<uint32_t>(12) == 40);
    CHECK(wire.at<uint64_t>(16) == 48);
    const auto metadata_size = 48 + wire.at<uint64_t>(24);
    const auto base = wire.at<uint64_t>(32);
    CHECK(base == (metadata_size + 1023) / 1024 * 1024);
    CHECK(wire.at<uint64_t>(40) == 1025);
    CHECK(wire.at<uint64_t>(48) == 0);
    CHECK(wire.file.size() == base + 1025);
    CHECK(wire.text(base, 12) == "twelve bytes");
    CHECK(wire.text(base + 1024, 1) == "x");

    const WireTable root = root_of(wire.file);
    CHECK(root.scalar<uint32_t>(0) == 0);
    REQUIRE(root.count(1) == 2);
    CHECK(root.item(1, 0).scalar<uint64_t>(0) == 0);
    CHECK(root.item(1, 0).scalar<uint64_t>(1) == 12);
    CHECK(root.item(1, 1).scalar<uint64_t>(0) == 1024);
    CHECK(root.item(1, 1).scalar<uint64_t>(1) == 1);
    REQUIRE(root.count(2) == 3);
    const WireTable blob = root.item(2, 0);
    CHECK(blob.text(0) == "blob");
    CHECK(blob.scalar<uint32_t>(1) == 0);
    CHECK(blob.field(2) == 0);
    CHECK(root.item(2, 1).scalar<uint32_t>(1) == 1);
    const WireTable weight = root.item(2, 2);
    CHECK(weight.text(0) == "net.weight");
    CHECK(weight.scalar<uint32_t>(1) == 0);  // the blob's bytes
    CHECK(weight.table(2).scalar<int8_t>(0) == 5);
    CHECK(weight.table(2).list<int32_t>(1) == std::vector<int32_t>{2, 3});
    CHECK(weight.table(2).list<uint8_t>(2) == std::vector<uint8_t>{0, 1});
  }

  TEST_CASE("a .ptd without bytes still has its header") {
    MemorySink sink;
    REQUIRE(ptd::write({{{.key = "nothing"}}}, {}, sink).ok());
    const Wire wire{sink.bytes()};
    CHECK(wire.text(8, 4) == "FH01");
    CHECK(wire.at<uint64_t>(40) == 0);
    CHECK(wire.file.size() == wire.at<uint64_t>(32));
    const Result<ptd::DataFile> file = ptd::read(sink.bytes(), "empty.ptd");
    REQUIRE_MESSAGE(file.ok(), file.error().message);
    REQUIRE(file->data.size() == 1);
    CHECK(file->data[0].data.empty());
  }
}
