#include "method_io.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "verify_steps.hpp"

namespace backplane::cli {
namespace {

SlotInfo tensor_slot(std::string name, std::vector<DimBounds> dims = {{2, 2}}) {
  return {.kind = SlotKind::tensor,
          .name = std::move(name),
          .dtype = DType::f32,
          .dims = std::move(dims)};
}

// Two tensors with a number between them.
MethodInfo method() {
  MethodInfo info;
  info.name = "forward";
  info.inputs = {tensor_slot("x"), {.kind = SlotKind::integer, .name = "n"}, tensor_slot("mask")};
  return info;
}

InputFile file(std::string key, std::string path, const std::vector<std::string>& names) {
  InputFile made{{std::move(key), std::move(path)}, {}};
  for (const std::string& name : names) {
    made.tensors.push_back({name, *Tensor::zeros(DType::u8, {8})});
  }
  return made;
}

// Which tensor of which file each input got, such as "0.0 - 1.0", or the message.
std::string assign(std::vector<InputFile> files, std::string_view step = {}) {
  const auto result = assign_inputs(method(), files, step);
  if (!result.ok()) return result.error().message;
  std::string text;
  for (const Tensor* tensor : *result) {
    std::string place = "-";
    for (size_t f = 0; f < files.size(); ++f) {
      for (size_t t = 0; t < files[f].tensors.size(); ++t) {
        if (&files[f].tensors[t].tensor == tensor)
          place = std::to_string(f) + "." + std::to_string(t);
      }
    }
    text += (text.empty() ? "" : " ") + place;
  }
  return text;
}

std::vector<InputFile> files(InputFile a) {
  std::vector<InputFile> list;
  list.push_back(std::move(a));
  return list;
}
std::vector<InputFile> files(InputFile a, InputFile b) {
  std::vector<InputFile> list = files(std::move(a));
  list.push_back(std::move(b));
  return list;
}

TEST_SUITE("cli/method_io") {
  TEST_CASE("keys count tensors alone") {
    CHECK(keys_of("in.", method().inputs) == std::vector<std::string>{"in.0", "", "in.1"});
  }

  TEST_CASE("tensors go to the inputs that keys, names and order say") {
    CHECK(assign(files(file("", "a.npy", {""}), file("", "b.npy", {""}))) == "0.0 - 1.0");
    CHECK(assign(files(file("in.1", "a.npy", {""}), file("", "b.npy", {""}))) == "1.0 - 0.0");
    CHECK(assign(files(file("", "b.npy", {""}), file("mask", "a.npz", {"whatever"}))) ==
          "0.0 - 1.0");
    CHECK(assign(files(file("", "a.npz", {"mask", "x"}))) == "0.1 - 0.0");
    CHECK(assign(files(file("", "a.npz", {"out.0", "in.1", "mutated.0", "in.0", "step1.in.0"}))) ==
          "0.3 - 0.1");
    CHECK(
        assign(files(file("", "a.npz", {"step1.in.0", "step2.in.1", "step2.in.0", "step2.out.0"})),
               "step2.") == "0.2 - 0.1");
  }

  TEST_CASE("what does not fit is refused by name") {
    CHECK(assign(files(file("", "a.npy", {""}))) ==
          "no tensor is given for in.1 (mask); --input in.1=FILE does it");
    CHECK(assign(files(file("", "a.npz", {"in.0", "maks"}))) ==
          "a.npz: 'maks' is no input of method 'forward', which has in.0 (x), n, in.1 (mask); did "
          "you mean 'mask'?");
    CHECK(assign(files(file("n", "a.npy", {""}))) == "a.npy: n is one number, the file has [8]");
    CHECK(assign(files(file("", "a.npz", {"x", "in.0"}))) == "a.npz: in.0 (x) is given twice");
    CHECK(assign(files(file("x", "a.npz", {"x", "mask"}))) ==
          "a.npz: has 2 tensors, one is needed for 'x'");
    CHECK(assign(files(file("", "a.npz", {"x", "mask"}), file("", "b.npy", {""}))) ==
          "b.npy: is one input too many; method 'forward' has in.0 (x), n, in.1 (mask)");
  }

  TEST_CASE("a number is given by its name, on the command line or in a file") {
    const std::vector<std::string> texts = {"n=7", "mask=true", "x=-0.5"};
    auto given = read_inputs(texts, {});
    REQUIRE(given.ok());
    const auto result = assign_inputs(method(), *given);
    REQUIRE(result.ok());
    CHECK(*(*result)[1]->data_as<int64_t>() == 7);
    CHECK((*result)[1]->sizes().empty());
    CHECK((*result)[2]->dtype() == DType::boolean);
    CHECK(*(*result)[0]->data_as<double>() == -0.5);
  }

  TEST_CASE("raw bytes take their input's type and sizes") {
    std::vector<InputFile> given = files(file("", "a.raw", {""}), file("", "b.npy", {""}));
    const auto result = assign_inputs(method(), given);
    REQUIRE(result.ok());
    CHECK((*result)[0]->dtype() == DType::f32);
    CHECK((*result)[0]->sizes() == std::vector<int64_t>{2});
    CHECK((*result)[2]->dtype() == DType::u8);
    MethodInfo other = method();
    other.inputs = {tensor_slot("x", {{1, 9}, {1, 1}})};
    std::vector<InputFile> open = files(file("", "a.bin", {""}));
    CHECK((*assign_inputs(other, open))[0]->sizes() == std::vector<int64_t>{2, 1});
    other.inputs = {tensor_slot("x", {{3, 3}})};
    std::vector<InputFile> wrong = files(file("", "a.bin", {""}));
    CHECK(assign_inputs(other, wrong).error().message ==
          "a.bin: float32[3] takes 12 bytes, there are 8");
  }

  TEST_CASE("slots and tensors are described for people") {
    CHECK(describe(tensor_slot("x", {{1, 1}, {1, 8, 1, "s0"}, {2, INT64_MAX}, {8, 64, 8, ""}})) ==
          "float32[1, s0 in 1...8, 2..., 8...64 by 8]");
    CHECK(describe(SlotInfo{.kind = SlotKind::boolean}) == "boolean");
    std::vector<int32_t> numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    CHECK(preview(TensorView::contiguous(numbers.data(), DType::i32, {3})) == "1 2 3");
    CHECK(preview(TensorView::contiguous(numbers.data(), DType::i32, {9})) == "1 2 3 4 5 6 7 8 …");
    CHECK(preview(TensorView::contiguous(numbers.data(), DType::i32, {0})).empty());
  }

  TEST_CASE("steps are run in the order of their numbers") {
    CHECK(steps_of(file("", "", {"in.0", "out.0"}).tensors) == std::vector<std::string>{""});
    CHECK(steps_of(
              file("", "", {"step10.in.0", "step2.out.0", "step2.in.0", "stepx.in.0"}).tensors) ==
          std::vector<std::string>{"step2.", "step10."});
  }
}

}  // namespace
}  // namespace backplane::cli
