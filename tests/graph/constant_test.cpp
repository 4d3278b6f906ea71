#include <doctest/doctest.h>

#include <cstring>

#include "common/mapped_file.hpp"
#include "format/sha256.hpp"
#include "graph/constant.hpp"

namespace backplane {
namespace {

std::span<const std::byte> bytes_of(const std::vector<float>& values) {
  return std::as_bytes(std::span(values));
}

Constant view(const std::vector<float>& storage, std::vector<int64_t> sizes,
              std::vector<int64_t> strides, int64_t offset) {
  Constant constant;
  constant.fqn = "w";
  constant.sizes = std::move(sizes);
  constant.strides = std::move(strides);
  constant.storage_offset = offset;
  constant.storage = bytes_of(storage);
  return constant;
}

}  // namespace

TEST_SUITE("core/constant") {
  TEST_CASE("dense elements are a view on the storage, others a row-major copy") {
    const std::vector<float> storage = {0, 1, 2, 3, 4, 5, 6, 7};
    Buffers buffers;
    struct Case {
      std::vector<int64_t> sizes, strides;
      int64_t offset;
      bool is_view;
      std::vector<float> expected;
    };
    const Case cases[] = {
        {{2, 3}, {3, 1}, 1, true, {1, 2, 3, 4, 5, 6}},
        {{1, 3}, {77, 1}, 5, true, {5, 6, 7}},
        {{2, 3}, {1, 2}, 0, false, {0, 2, 4, 1, 3, 5}},
        {{2, 2}, {0, 1}, 2, false, {2, 3, 2, 3}},
        {{2}, {4}, 3, false, {3, 7}},
        {{}, {}, 4, true, {4}},
    };
    for (const Case& c : cases) {
      const Constant constant = view(storage, c.sizes, c.strides, c.offset);
      const std::span<const std::byte> bytes = dense_bytes(constant, buffers);
      REQUIRE(bytes.size() == c.expected.size() * sizeof(float));
      CHECK(std::memcmp(bytes.data(), c.expected.data(), bytes.size()) == 0);
      const bool inside = bytes.data() >= constant.storage.data() &&
                          bytes.data() < constant.storage.data() + constant.storage.size();
      CHECK(inside == c.is_view);
      CHECK(dense_bytes(constant, buffers).data() == bytes.data());  // copied once
      CHECK(constant.is_dense() == c.is_view);
    }
    CHECK(dense_bytes(view(storage, {3, 0}, {1, 1}, 0), buffers).empty());
  }

  TEST_CASE("the content id depends on the elements alone and is the start of their SHA-256") {
    const std::vector<float> storage = {1, 3, 2, 4, 1, 2, 3, 4};
    Buffers buffers;
    const Constant transposed = view(storage, {2, 2}, {1, 2}, 0);
    const Constant dense = view(storage, {2, 2}, {2, 1}, 4);
    const Digest digest = sha256(bytes_of(storage).subspan(16));
    CHECK(content_id(transposed, buffers) == content_id(dense, buffers));
    CHECK(std::equal(content_id(dense, buffers).begin(), content_id(dense, buffers).end(),
                     digest.begin()));
    CHECK(content_id(view(storage, {2, 2}, {2, 1}, 0), buffers) != content_id(dense, buffers));
  }

  TEST_CASE("blocks are aligned zeros that keep their place when the owner moves") {
    Buffers buffers;
    std::vector<std::span<std::byte>> blocks;
    for (size_t i = 0; i < 100; ++i) blocks.push_back(buffers.allocate(i));
    Buffers moved = std::move(buffers);
    for (const std::span<std::byte> block : blocks) {
      CHECK(reinterpret_cast<uintptr_t>(block.data()) % 64 == 0);
      for (const std::byte b : block) REQUIRE(b == std::byte{0});
      std::memset(block.data(), 1, block.size());
    }
  }

  TEST_CASE("interned strings are one view for equal text, whatever comes later") {
    StringPool pool;
    const std::string_view first = pool.intern("encoder");
    for (int i = 0; i < 1000; ++i) (void)pool.intern(std::to_string(i));
    CHECK(pool.intern(std::string_view("encoder!").substr(0, 7)).data() == first.data());
    CHECK(first == "encoder");
  }
}

}  // namespace backplane
