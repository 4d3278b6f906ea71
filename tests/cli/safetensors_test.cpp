#include "tensors/safetensors.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <string>
#include <vector>

#include "damage.hpp"
#include "tensors/elements.hpp"
#include "tensors/npy.hpp"

namespace backplane::cli {
namespace {

const std::string kData = "tensors/";

std::string file_of(const std::string& header, const std::string& data = "") {
  const uint64_t length = header.size();
  std::string file(8, '\0');
  std::memcpy(file.data(), &length, 8);
  return file + header + data;
}

Safetensors read(const std::string& name) {
  auto content = parse_safetensors(load(kData + name).span());
  REQUIRE_MESSAGE(content.ok(), content.error().message);
  return *std::move(content);
}

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() &&
         std::memcmp(a.bytes().data(), b.bytes().data(), a.nbytes()) == 0;
}

TEST_SUITE("cli/safetensors") {
  TEST_CASE("a file of every type holds what the .npy files of the types hold") {
    const Safetensors content = read("types.safetensors");
    CHECK(content.tensors.size() == 14);
    for (const NamedTensor& named : content.tensors) {
      CAPTURE(named.name);
      auto npy = parse_npy(load(kData + named.name + ".npy").span());
      REQUIRE(npy.ok());
      CHECK(same_bytes(named.tensor, *npy));
    }
    REQUIRE(content.metadata.size() == 2);
    for (const auto& [key, value] : content.metadata) {
      CHECK((key == "empty" ? value.empty() : value == "safetensors \"torch\"\n"));
    }
  }

  TEST_CASE("every bit pattern of the 8-bit floats is the number that PyTorch says") {
    const Safetensors content = read("small_floats.safetensors");
    int compared = 0;
    for (const NamedTensor& truth : content.tensors) {
      if (!truth.name.ends_with(" as float64")) continue;
      const std::string name = truth.name.substr(0, truth.name.size() - 11);
      for (const NamedTensor& small : content.tensors) {
        if (small.name != name) continue;
        CAPTURE(name);
        REQUIRE(name_of(small.tensor.dtype()) == name);
        std::vector<std::complex<double>> values(256);
        read_elements(small.tensor.dtype(), small.tensor.bytes().data(), 0, values);
        for (size_t i = 0; i < 256; ++i) {
          CAPTURE(i);
          const double expected = truth.tensor.data_as<double>()[i];
          if (std::isnan(expected)) {
            CHECK(std::isnan(values[i].real()));
          } else {
            CHECK(values[i].real() == expected);
          }
          ++compared;
        }
      }
    }
    CHECK(compared == 5 * 256);
  }

  TEST_CASE("a header that lies is refused, naming the tensor") {
    const std::string big(20, '9');
    const std::pair<std::string, const char*> cases[] = {
        {R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,9]}})", "tensor 'x': bytes 0 to 9"},
        {R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "tensor 'x': bytes 8 to 0"},
        {R"({"x":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
         "takes 12 bytes, there are 8"},
        {R"({"x":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}})", "64 bits"},
        {R"({"x":{"dtype":"F32","shape":[9223372036854775808],"data_offsets":[0,8]}})",
         "too large"},
        {R"({"x":{"dtype":"F32","shape":[)" + big + R"(],"data_offsets":[0,8]}})", "not the JSON"},
        {R"({"x":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})", "not the JSON"},
        {R"({"x":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", "not the JSON"},
        {R"({"x":{"dtype":"F99","shape":[2],"data_offsets":[0,8]}})", "element type F99"},
        {R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8,8]}})", "two numbers"},
        {R"({"x":{"dtype":"F32","shape":[2]}})", "missing"},
        {R"({"x":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
         "'dtype' is there twice"},
        {R"({"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"scale":2}})",
         "unknown field 'scale'"},
        {R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}})",
         "'x' is there twice"},
        {R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"y":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}})",
         "'x' and 'y' share bytes"},
        {R"({"x":{"dtype":"BOOL","shape":[8],"data_offsets":[0,8]}})", "neither 0 nor 1"},
        {R"({"__metadata__":{"a":1}})", "not the JSON"},
        {R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}} {})", "goes on after"},
        {R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})", "not the JSON"},
        {R"([1])", "not the JSON"},
        {R"(7)", "not the JSON"},
        {"", "not the JSON"},
        {std::string(5000, '['), "not the JSON"},
        {R"({"x":)" + std::string(5000, '{'), "not the JSON"},
    };
    for (const auto& [header, text] : cases) {
      const auto result = parse_safetensors(bytes_of(file_of(header, "01234567")).span());
      CAPTURE(header);
      REQUIRE_FALSE(result.ok());
      CAPTURE(result.error().message);
      CHECK(result.error().message.find(text) != std::string::npos);
    }
    const auto huge = parse_safetensors(bytes_of(std::string(8, '\xFF') + "{}").span());
    REQUIRE_FALSE(huge.ok());
    CHECK(huge.error().message.find("cut short") != std::string::npos);
  }

  TEST_CASE("gaps, spaces after the header, names with escapes, and no tensors are fine") {
    const auto gap = parse_safetensors(
        bytes_of(
            file_of(R"({"\u00e4\"":{"shape":[1],"data_offsets":[2,3],"dtype":"U8"}}   )", "0123"))
            .span());
    REQUIRE(gap.ok());
    CHECK(gap->tensors[0].name == "ä\"");
    CHECK(gap->tensors[0].tensor.data_as<char>()[0] == '2');
    const auto none = parse_safetensors(bytes_of(file_of("{}")).span());
    REQUIRE(none.ok());
    CHECK(none->tensors.empty());
  }

  TEST_CASE("a file that is cut short anywhere is refused, a wrong byte does not crash") {
    check_damage(kData + "types.safetensors", parse_safetensors);
  }

  TEST_CASE("what is written comes back, widest elements first") {
    const Safetensors content = read("types.safetensors");
    std::vector<NamedView> views;
    for (const NamedTensor& t : content.tensors)
      views.push_back({t.name + " \"\x01é", t.tensor.view()});
    MemorySink sink;
    REQUIRE(write_safetensors(sink, views).ok());
    const auto again = parse_safetensors(sink.bytes());
    REQUIRE_MESSAGE(again.ok(), again.error().message);
    REQUIRE(again->tensors.size() == views.size());
    size_t width = 16;
    for (const NamedTensor& back : again->tensors) {
      CAPTURE(back.name);
      CHECK(size_of(back.tensor.dtype()) <= width);
      width = size_of(back.tensor.dtype());
      int found = 0;
      for (const NamedTensor& t : content.tensors) {
        found += t.name + " \"\x01é" == back.name && same_bytes(t.tensor, back.tensor) ? 1 : 0;
      }
      CHECK(found == 1);
    }
  }

  TEST_CASE("names twice, the reserved name and types without a name are not written") {
    double numbers[2] = {};
    const TensorView real = TensorView::contiguous(numbers, DType::f64, {2});
    const TensorView complex = TensorView::contiguous(numbers, DType::c128, {1});
    MemorySink sink;
    CHECK_FALSE(write_safetensors(sink, std::vector<NamedView>{{"x", real}, {"x", real}}).ok());
    CHECK_FALSE(write_safetensors(sink, std::vector<NamedView>{{"__metadata__", real}}).ok());
    const auto status = write_safetensors(sink, std::vector<NamedView>{{"z", complex}});
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().message ==
          "tensor 'z': .safetensors has no element type complex128; .npz may have");
    CHECK(sink.bytes().empty());
  }
}

}  // namespace
}  // namespace backplane::cli
