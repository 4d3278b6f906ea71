// backplane.data/1: what is written is read back, and what is wrong is named.
#include "runtime/data_record.hpp"

#include <doctest/doctest.h>

#include "runtime/delegate_io.hpp"

using namespace backplane;
using namespace backplane::runtime;

namespace {

Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

DataRecord example() {
  DataRecord record{.file = "digits.ptd", .set_id = {}, .data = {}};
  record.data.push_back({"a\"b\\c\n", 0, sha256(bytes_of("")), ""});
  record.data.push_back({"fc1.weight", 1 << 20, sha256(bytes_of("x")), "float32 512,512 0,1"});
  record.set_id = set_id_of(record.data);
  return record;
}

}  // namespace

TEST_SUITE("core/runtime/data_record") {
  TEST_CASE("a record is read back as it was written, with keys that need escapes") {
    const DataRecord record = example();
    const std::string json = write(record);
    const auto read = read_data_record(bytes_of(json));
    REQUIRE(read.ok());
    CHECK(*read == record);
  }

  TEST_CASE("the set id follows keys, sizes, contents and types, and nothing else") {
    const DataRecord record = example();
    CHECK(record.set_id.size() == 32);
    auto other = record.data;
    other[1].size_bytes += 1;
    CHECK(set_id_of(other) != record.set_id);
    other = record.data;
    other[1].key = "fc2.weight";
    CHECK(set_id_of(other) != record.set_id);
    other = record.data;
    other[1].sha256[31] ^= 1;
    CHECK(set_id_of(other) != record.set_id);
    other = record.data;
    other[1].type = "float32 256,1024 0,1";  // the same bytes in another shape
    CHECK(set_id_of(other) != record.set_id);
    CHECK(set_id_of(record.data) == record.set_id);
  }

  TEST_CASE("a record that is wrong is refused with the place and the reason") {
    const std::string id(32, 'a');
    const std::string hash(64, 'b');
    const auto record = [&](const std::string& file, const std::string& set,
                            const std::string& data) {
      return R"({"file":)" + file + R"(,"set":)" + set + R"(,"data":)" + data + "}";
    };
    const std::string datum = R"({"size":1,"sha256":")" + hash + R"("})";
    struct Case {
      std::string json;
      std::string says;
    };
    const Case cases[] = {
        {"", "not valid JSON"},
        {"[]", "is not a JSON object"},
        {"{}", "has no 'file'"},
        {record(R"("../x.ptd")", "\"" + id + "\"", "{}"), "'../x.ptd'"},
        {record(R"("a/b.ptd")", "\"" + id + "\"", "{}"), "'a/b.ptd'"},
        {record(R"("x.ptd")", R"("xyz")", "{}"), "'set' is not 32 hex digits"},
        {record(R"("x.ptd")", "\"" + id + "\"", "[]"), "is not a JSON object"},
        {record(R"("x.ptd")", "\"" + id + "\"", R"({"w":{"size":-1}})"), "['w'].size: is -1"},
        {record(R"("x.ptd")", "\"" + id + "\"", R"({"w":{"size":1,"sha256":"ab"}})"),
         "64 hex digits"},
        {record(R"("x.ptd")", "\"" + id + "\"", R"({"w":)" + datum + R"(,"w":)" + datum + "}"),
         "has 'w' twice"},
    };
    for (const Case& c : cases) {
      CAPTURE(c.json);
      const auto read = read_data_record(bytes_of(c.json));
      REQUIRE_FALSE(read.ok());
      CHECK(read.error().code == Code::invalid_argument);
      CHECK(read.error().message.find(c.says) != std::string::npos);
    }
  }

  TEST_CASE("bp.io is two little-endian counts and a byte an argument") {
    const std::vector<uint8_t> counts{3, 0, 0, 0, 1, 2, 0, 0};
    CHECK(encode({3, 513, {}}) == counts);
    CHECK(decode_delegate_io(counts) == DelegateIo{3, 513, {}});
    const std::vector<uint8_t> placed{1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
    CHECK(encode({1, 1, {1, 0}}) == placed);
    CHECK(decode_delegate_io(placed) == DelegateIo{1, 1, {1, 0}});
    CHECK_FALSE(decode_delegate_io(std::span(placed).first(7)));
    CHECK_FALSE(decode_delegate_io(std::span(placed).first(9)));
  }
}
