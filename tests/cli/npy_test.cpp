#include "tensors/npy.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>
#include <vector>

#include "damage.hpp"
#include "tensors/elements.hpp"
#include "tensors/safetensors.hpp"

namespace backplane::cli {
namespace {

const std::string kData = "tensors/";

std::string elements(const Tensor& tensor) {
  std::string text;
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    text += (i > 0 ? " " : "") + format_element(tensor.dtype(), tensor.bytes().data(), i);
  }
  return text;
}

Tensor read(const std::string& name) {
  auto tensor = parse_npy(load(kData + name).span());
  REQUIRE_MESSAGE(tensor.ok(), name, ": ", tensor.error().message);
  return *std::move(tensor);
}

std::string npy(std::string_view header, std::string_view data = "") {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += {static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  return file + std::string(header) + std::string(data);
}

TEST_SUITE("cli/npy") {
  TEST_CASE("each of NumPy's number types is read with its values") {
    struct Case {
      const char* name;
      DType dtype;
      const char* elements;
    };
    using enum DType;
    const Case cases[] = {
        {"bool", boolean, "true false true true false false"},
        {"uint8", u8, "0 1 2 127 128 255"},
        {"uint16", u16, "0 1 2 32767 32768 65535"},
        {"uint32", u32, "0 1 2 2147483647 2147483648 4294967295"},
        {"uint64", u64, "0 1 2 9223372036854775807 9223372036854775808 18446744073709551615"},
        {"int8", i8, "0 1 -1 126 127 -128"},
        {"int16", i16, "0 1 -1 126 32767 -32768"},
        {"int32", i32, "0 1 -1 126 2147483647 -2147483648"},
        {"int64", i64, "0 1 -1 126 9223372036854775807 -9223372036854775808"},
        {"float16", f16, "0 -0 1.5 -65504 inf nan"},
        {"bfloat16", bf16, "0 -0 1.5 -3.3895e+38 inf nan"},
        {"float32", f32, "0 -0 1.5 -3.40282347e+38 inf nan"},
        {"float64", f64, "0 -0 1.5 -1.7976931348623157e+308 inf nan"},
        {"complex64", c64, "0+0i 0+1i -0-1i 1.5-2.5i inf-1i 0+nani"},
        {"complex128", c128, "0+0i 0+1i -0-1i 1.5-2.5i inf-1i 0+nani"},
        {"big_int32", i32, "0 1 -1 126 2147483647 -2147483648"},
        {"big_complex128", c128, "0+0i 0+1i -0-1i 1.5-2.5i inf-1i 0+nani"},
        {"version2", i16, "0 1 -1 126 32767 -32768"},
        {"version3", i16, "0 1 -1 126 32767 -32768"},
    };
    for (const Case& c : cases) {
      CAPTURE(c.name);
      const Tensor tensor = read(c.name + std::string(".npy"));
      CHECK(tensor.dtype() == c.dtype);
      CHECK(tensor.sizes() == std::vector<int64_t>{3, 2});
      CHECK(elements(tensor) == c.elements);
    }
  }

  TEST_CASE("Fortran order is laid out in C order") {
    const Tensor tensor = read("fortran.npy");
    CHECK(tensor.sizes() == std::vector<int64_t>{2, 3, 4});
    for (int64_t i = 0; i < 24; ++i) CHECK(tensor.data_as<float>()[i] == static_cast<float>(i));
  }

  TEST_CASE("rank 0 and no elements are read") {
    CHECK(read("scalar.npy").sizes().empty());
    CHECK(elements(read("scalar.npy")) == "2.5");
    CHECK(read("empty.npy").sizes() == std::vector<int64_t>{0, 3});
  }

  TEST_CASE("what is no array of numbers is refused by its type's name") {
    const std::pair<const char*, const char*> cases[] = {
        {"bad_records.npy", "records"},   {"bad_object.npy", "'|O'"},
        {"bad_text.npy", "'<U2'"},        {"bad_date.npy", "'<M8[D]'"},
        {"bad_longdouble.npy", "'<f16'"}, {"bad_float8.npy", "'<V1'"},
    };
    for (const auto& [name, text] : cases) {
      CAPTURE(name);
      const auto result = parse_npy(load(kData + name).span());
      REQUIRE_FALSE(result.ok());
      CHECK(result.error().code == Code::unsupported);
      CHECK(result.error().message.find(text) != std::string::npos);
    }
  }

  TEST_CASE("a header that lies is refused and takes no memory") {
    const std::pair<std::string, const char*> cases[] = {
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,), }"),
         "64 bits"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,), }"),
         "takes 4000000000000 bytes"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }"),
         "below 2^63"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }"), "negative"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0, -1), }"), "negative"},
        {npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", "abc"), "there are 3"},
        {npy("{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", "\x01\x02"),
         "neither 0 nor 1"},
        {npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (0,), }"),
         "repeated"},
        {npy("{'descr': '<f4', 'fortran_order': False, }"), "lacks"},
        {npy("{'descr': '<f4', 'fortran_order': Maybe, 'shape': (0,), }"), "True or False"},
        {npy("{'descr': '<f4, 'fortran_order': False, 'shape': (0,), }"), "no ',' or '}'"},
        {npy("{'descr': '<', 'fortran_order': False, 'shape': (0,), }"), "'<'"},
        {npy("{'descr': '|f4', 'fortran_order': False, 'shape': (0,), }"), "'|f4'"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0,), } x"), "the end"},
        {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1 2), }"), "',' or ')'"},
        {std::string("\x93NUMPY\x04\x00\x00\x00\x00\x00", 12), "version 4"},
        {std::string("PK\x03\x04 or something else"), "does not begin"},
    };
    for (const auto& [file, text] : cases) {
      const auto result = parse_npy(bytes_of(file).span());
      REQUIRE_FALSE(result.ok());
      CAPTURE(result.error().message);
      CHECK(result.error().message.find(text) != std::string::npos);
    }
    std::string ones;
    for (int i = 0; i < 65; ++i) ones += "1,";
    const auto deep = parse_npy(
        bytes_of(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (" + ones + ")}", "x"))
            .span());
    REQUIRE_FALSE(deep.ok());
    CHECK(deep.error().message == "it has 65 dimensions, 64 are allowed");
  }

  TEST_CASE("a file that is cut short anywhere is refused, a wrong byte does not crash") {
    for (const char* name : {"int16.npy", "version2.npy", "fortran.npy", "bool.npy", "empty.npy"}) {
      check_damage(kData + name, parse_npy);
    }
  }

  TEST_CASE("what is written is what NumPy writes, and comes back") {
    for (const char* name : {"bool", "uint64", "int8", "float16", "bfloat16", "complex128"}) {
      CAPTURE(name);
      const Bytes original = load(kData + name + ".npy");
      auto tensor = parse_npy(original.span());
      REQUIRE(tensor.ok());
      MemorySink sink;
      REQUIRE(write_npy(sink, tensor->view()).ok());
      CHECK(sink.bytes().size() == original.size);
      auto again = parse_npy(sink.bytes());
      REQUIRE(again.ok());
      CHECK(again->dtype() == tensor->dtype());
      CHECK(again->sizes() == tensor->sizes());
      CHECK(elements(*again) == elements(*tensor));
    }
  }

  TEST_CASE("a view with strides is written in C order, at a multiple of 64") {
    const Tensor tensor = read("fortran.npy");
    TensorView view = tensor.view();
    std::swap(view.sizes[0], view.sizes[2]);
    std::swap(view.strides[0], view.strides[2]);
    MemorySink sink;
    REQUIRE(write_npy(sink, view).ok());
    CHECK(sink.bytes().size() % 64 == (24 * 4) % 64);
    auto again = parse_npy(sink.bytes());
    REQUIRE(again.ok());
    CHECK(again->sizes() == std::vector<int64_t>{4, 3, 2});
    CHECK(again->data_as<float>()[1] == 12);
    CHECK(again->data_as<float>()[2] == 4);
  }

  TEST_CASE("element types that .npy cannot tell apart are not written") {
    std::byte byte{};
    MemorySink sink;
    const auto status = write_npy(sink, TensorView::contiguous(&byte, DType::f8e5m2, {1}));
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().message == ".npy has no element type float8_e5m2; .safetensors may have");
  }
}

}  // namespace
}  // namespace backplane::cli
