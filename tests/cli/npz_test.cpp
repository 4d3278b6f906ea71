#include "tensors/npz.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "damage.hpp"
#include "tensors/npy.hpp"

namespace backplane::cli {
namespace {

const std::string kData = "tensors/";

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         std::memcmp(a.bytes().data(), b.bytes().data(), a.nbytes()) == 0;
}

TEST_SUITE("cli/npz") {
  TEST_CASE("stored and deflated files are read in their order") {
    const auto int16 = parse_npy(load(kData + "int16.npy").span());
    REQUIRE(int16.ok());
    const auto stored = parse_npz(load(kData + "stored.npz").span());
    REQUIRE_MESSAGE(stored.ok(), stored.error().message);
    REQUIRE(stored->size() == 2);
    CHECK((*stored)[0].name == "a");
    CHECK(same_bytes((*stored)[0].tensor, *int16));
    CHECK((*stored)[1].name == "b");
    CHECK(*(*stored)[1].tensor.data_as<float>() == 2.5F);
    const auto deflated = parse_npz(load(kData + "deflated.npz").span());
    REQUIRE_MESSAGE(deflated.ok(), deflated.error().message);
    REQUIRE(deflated->size() == 2);
    CHECK(same_bytes((*deflated)[0].tensor, *int16));
    CHECK((*deflated)[1].tensor.sizes() == std::vector<int64_t>{3000});
    CHECK((*deflated)[1].tensor.data_as<double>()[2999] == 0);
  }

  TEST_CASE("a file that is cut short anywhere is refused, a wrong byte does not crash") {
    check_damage(kData + "stored.npz", parse_npz);
    check_damage(kData + "deflated.npz", parse_npz);
  }

  TEST_CASE("what is written comes back under its names") {
    std::vector<float> values = {1, 2, 3, 4, 5, 6};
    TensorView matrix = TensorView::contiguous(values.data(), DType::f32, {3, 2});
    matrix.strides = {1, 3};
    const TensorView scalar = TensorView::contiguous(values.data(), DType::i32, {});
    MemorySink sink;
    REQUIRE(write_npz(sink, std::vector<NamedView>{{"out.0", matrix}, {"größe", scalar}}).ok());
    const auto again = parse_npz(sink.bytes());
    REQUIRE_MESSAGE(again.ok(), again.error().message);
    REQUIRE(again->size() == 2);
    CHECK((*again)[0].name == "out.0");
    CHECK((*again)[0].tensor.data_as<float>()[1] == 4);
    CHECK((*again)[1].name == "größe");
    CHECK((*again)[1].tensor.sizes().empty());
    MemorySink none;
    REQUIRE(write_npz(none, {}).ok());
    CHECK(parse_npz(none.bytes())->empty());
  }

  TEST_CASE("names twice, other entries, and element types without a name are refused") {
    double number = 1;
    const TensorView real = TensorView::contiguous(&number, DType::f64, {1});
    const TensorView half = TensorView::contiguous(&number, DType::c32, {1});
    MemorySink sink;
    CHECK_FALSE(write_npz(sink, std::vector<NamedView>{{"x", real}, {"x", real}}).ok());
    const auto status = write_npz(sink, std::vector<NamedView>{{"z", half}});
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().message ==
          "tensor 'z': .npy has no element type complex32; .safetensors may have");
    // The entry's name in both headers made another.
    Bytes bytes = load(kData + "stored.npz");
    for (size_t i = 0; i + 5 < bytes.size; ++i) {
      if (std::memcmp(&bytes.data[i], "a.npy", 5) == 0) std::memcpy(&bytes.data[i], "a.txt", 5);
    }
    const auto result = parse_npz(bytes.span());
    REQUIRE_FALSE(result.ok());
    CHECK(result.error().message == "entry 'a.txt': it is no .npy file");
  }
}

}  // namespace
}  // namespace backplane::cli
