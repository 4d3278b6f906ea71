#include "reader/torch_save.hpp"

#include <doctest/doctest.h>

#include <cstring>

#include "zip_writer.hpp"

using namespace backplane;
using namespace backplane::testing;
using namespace std::string_literals;

namespace {

std::string text(std::string_view value) {
  const auto size = static_cast<uint32_t>(value.size());
  return "X" + std::string(reinterpret_cast<const char*>(&size), 4) + std::string(value);
}

std::string integer(int64_t value) {
  return "\x8a\x08"s + std::string(reinterpret_cast<const char*>(&value), 8);
}

std::string tuple(const std::vector<int64_t>& values) {
  std::string out = "(";
  for (const int64_t value : values) out += integer(value);
  return out + "t";
}

struct Saved {
  std::string storage_class = "torch\nFloatStorage\n";
  std::string key = "0";
  int64_t offset = 0;
  std::vector<int64_t> sizes = {2, 3};
  std::vector<int64_t> strides = {3, 1};
  std::string dtype;  // with it, the third version is called
};

std::string rebuild(const Saved& t) {
  const std::string storage =
      "(" + text("storage") + "c" + t.storage_class + text(t.key) + text("cpu") + "K\x06tQ";
  std::string out = t.dtype.empty() ? "ctorch._utils\n_rebuild_tensor_v2\n("
                                    : "ctorch._utils\n_rebuild_tensor_v3\n(";
  out += storage + integer(t.offset) + tuple(t.sizes) + tuple(t.strides) + "\x89"s +
         "ccollections\nOrderedDict\n)R";
  if (!t.dtype.empty()) out += "ctorch\n" + t.dtype + "\n";
  return out + "tR";
}

std::vector<ZipEntry> entries(const std::string& pickle) {
  std::string floats(24, '\0');
  for (int i = 0; i < 6; ++i) {
    const auto value = static_cast<float>(i);
    std::memcpy(floats.data() + 4 * i, &value, 4);
  }
  return {{.name = "r/data.pkl", .data = "\x80\x02" + pickle},
          {.name = "r/byteorder", .data = "little"},
          {.name = "r/data/0", .data = floats, .alignment = 64},
          {.name = "r/version", .data = "3\n"}};
}

// A file of one tensor called "w".
std::string file_of(const Saved& tensor) {
  return make_zip(entries("}" + text("w") + rebuild(tensor) + "s."));
}

// 64-byte aligned, as a mapping is.
struct Aligned {
  explicit Aligned(std::string_view zip) : buffer(zip.size() + 64, '\0') {
    const auto at = reinterpret_cast<uintptr_t>(buffer.data());
    char* begin = buffer.data() + (64 - at % 64);
    std::memcpy(begin, zip.data(), zip.size());
    bytes = bytes_of({begin, zip.size()});
  }
  std::string buffer;
  std::span<const std::byte> bytes;
};

}  // namespace

TEST_SUITE("core/reader/torch_save") {
  TEST_CASE("tensors share their storage, in place; parameters are told apart") {
    const std::string pickle = "}(" + text("a") + rebuild({}) + text("b") +
                               rebuild({.offset = 1, .sizes = {2}, .strides = {2}}) + text("n") +
                               "K\x05" + text("p") + "ctorch._utils\n_rebuild_parameter\n" +
                               rebuild({}) + "\x88"s + "ccollections\nOrderedDict\n)R\x87Ru.";
    const Aligned file(make_zip(entries(pickle)));
    Buffers buffers;
    const auto tensors = read_torch_save(file.bytes, buffers);
    REQUIRE_MESSAGE(tensors.ok(), tensors.error().message);
    REQUIRE(tensors->size() == 3);
    const Constant& a = (*tensors)[0];
    const Constant& b = (*tensors)[1];
    CHECK(a.fqn == "a");
    CHECK(a.sizes == std::vector<int64_t>{2, 3});
    CHECK(a.storage.data() == b.storage.data());
    CHECK(a.storage.data() > file.bytes.data());
    CHECK(a.storage.data() < file.bytes.data() + file.bytes.size());
    float values[2];
    std::memcpy(values, dense_bytes(b, buffers).data(), sizeof values);
    CHECK(values[0] == 1);
    CHECK(values[1] == 3);
    CHECK_FALSE(a.is_parameter);
    CHECK((*tensors)[2].is_parameter);
  }

  TEST_CASE("a storage where nothing may be read is copied, once") {
    const std::string pickle = "}(" + text("a") + rebuild({}) + text("b") + rebuild({}) + "u.";
    const Aligned aligned("xyz" + make_zip(entries(pickle)));
    const auto bytes = aligned.bytes.subspan(3);
    Buffers buffers;
    const auto tensors = read_torch_save(bytes, buffers);
    // Offsets count from the file's start: with something before it, it is no zip file.
    CHECK_FALSE(read_torch_save(aligned.bytes, buffers).ok());
    REQUIRE(tensors.ok());
    const Constant& a = (*tensors)[0];
    CHECK((a.storage.data() < bytes.data() || a.storage.data() >= bytes.data() + bytes.size()));
    CHECK(reinterpret_cast<uintptr_t>(a.storage.data()) % 8 == 0);
    CHECK(a.storage.data() == (*tensors)[1].storage.data());
  }

  TEST_CASE("element types that have no storage class come from the third version") {
    const std::string file =
        file_of({.storage_class = "torch.storage\nUntypedStorage\n", .dtype = "float8_e5m2"});
    Buffers buffers;
    const auto tensors = read_torch_save(bytes_of(file), buffers);
    REQUIRE_MESSAGE(tensors.ok(), tensors.error().message);
    CHECK((*tensors)[0].dtype == DType::f8e5m2);
  }

  TEST_CASE("tensors that don't fit their storage are refused by name") {
    const int64_t big = int64_t{1} << 62;
    struct Row {
      const char* what;
      Saved tensor;
      const char* message;
    };
    const Row rows[] = {
        {"too many rows", {.sizes = {3, 3}}, "needs 36 bytes"},
        {"offset", {.offset = 1}, "needs 28 bytes"},
        {"negative offset", {.offset = -1}, "negative"},
        {"negative stride", {.strides = {-3, 1}}, "negative"},
        {"negative size", {.sizes = {-2, 3}}, "negative"},
        {"overflow of sizes", {.sizes = {big, big}, .strides = {0, 0}}, "64 bits"},
        {"overflow of strides", {.sizes = {3, 3}, .strides = {big, big}}, "too many"},
        {"repeated too often", {.sizes = {int64_t{1} << 40, 1}, .strides = {0, 1}}, "repeated"},
        {"ranks differ", {.strides = {1}}, "strides"},
        {"too many dimensions",
         {.sizes = std::vector<int64_t>(65, 1), .strides = std::vector<int64_t>(65, 1)},
         "dimensions"},
        {"no data", {.key = "7"}, "'r/data/7' is missing"},
        {"unknown type", {.dtype = "float128"}, "torch.float128"},
        {"unknown storage", {.storage_class = "torch\nQUInt8Storage\n"}, "torch.QUInt8Storage"},
    };
    for (const Row& row : rows) {
      CAPTURE(row.what);
      Buffers buffers;
      const auto tensors = read_torch_save(bytes_of(file_of(row.tensor)), buffers);
      REQUIRE_FALSE(tensors.ok());
      CHECK_MESSAGE(tensors.error().message.find(row.message) != std::string::npos,
                    tensors.error().message);
    }
  }

  TEST_CASE("files that are no dict of tensors, or big-endian, are refused") {
    Buffers buffers;
    CHECK_FALSE(read_torch_save(bytes_of(make_zip({{.name = "x"}})), buffers).ok());
    CHECK_FALSE(read_torch_save(bytes_of(make_zip(entries("]."))), buffers).ok());
    std::vector<ZipEntry> big = entries("}.");
    CHECK(read_torch_save(bytes_of(make_zip(big)), buffers).ok());
    big[1].data = "big";
    const auto read = read_torch_save(bytes_of(make_zip(big)), buffers);
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().message.find("little-endian") != std::string::npos);
  }
}
