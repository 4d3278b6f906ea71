// Inputs: what is checked, what is copied, and what the method writes.
#include <array>

#include "loaded.hpp"

using namespace backplane;
using namespace backplane::test;
using namespace backplane::runtime;

namespace {

// y = x + z, where sizes of x are [2*s0, s1] and of z [2*s0, s1]; s0 from 1 to 3, s1 a multiple
// of 4.
struct Symbolic {
  TemporaryFolder folder;
  TestPlugins plugins;
  Loaded loaded = make();

  Loaded make() {
    MethodBuilder b("forward");
    const auto x = b.loose({6, 16}, ShapeDynamism::bounded);
    const auto z = b.loose({6, 16}, ShapeDynamism::bounded);
    const auto y = b.planned({6, 16}, ShapeDynamism::bounded);
    b.call("aten::add.out", {x, z, b.value(int64_t{1}), y, y});
    b.inputs({x, z}).outputs({y});
    ProgramFile file;
    file.add(b);
    const std::vector<DimRule> dims{{0, 2, 0}, {1, 1, 0}};
    MethodSignature signature{"forward", {{"s0", 1, 3, 1}, {"s1", 4, 16, 4}}, {}, {}};
    signature.inputs = {{"x", dims, {}, -1}, {"z", dims, {}, -1}};
    signature.outputs = {{"y", dims, {}, -1}};
    file.signature.methods.push_back(signature);
    return load(file.write(folder), plugins);
  }
};

}  // namespace

TEST_SUITE("core/runtime/inputs") {
  TEST_CASE("sizes outside what the signature says are refused, with all that helps") {
    Symbolic s;
    std::vector<float> data(200, 1);
    struct Case {
      std::vector<int64_t> sizes;
      std::string says;
    };
    const Case cases[] = {
        {{8, 4},
         "input 0 ('x') has size 8 in dimension 0 (2*s0), allowed is 2 to 6, a multiple of 2"},
        {{0, 4}, "has size 0 in dimension 0 (2*s0)"},
        {{3, 4}, "has size 3 in dimension 0 (2*s0)"},
        {{2, 6}, "has size 6 in dimension 1 (s1), allowed is 4 to 16, a multiple of 4"},
        {{2, 20}, "has size 20 in dimension 1 (s1)"},
        {{2}, "has sizes [2] and 1 strides, rank 2 is expected"},
    };
    for (const Case& c : cases) {
      CHECK(fails(give(s.loaded.method, 0, data, c.sizes), Code::invalid_argument, c.says));
    }
    const auto doubles = TensorView::contiguous(data.data(), DType::f64, {2, 4});
    CHECK(fails(s.loaded.method.set_input(0, doubles), Code::invalid_argument,
                "is float64, float32 is expected"));
    CHECK(fails(s.loaded.method.set_input(2, doubles), Code::invalid_argument,
                "there is no input 2"));
    CHECK(fails(s.loaded.method.set_input(0, TensorView::contiguous(nullptr, DType::f32, {2, 4})),
                Code::invalid_argument, "has no data"));
  }

  TEST_CASE("a symbol has one value in all inputs") {
    Symbolic s;
    std::vector<float> data(200, 1);
    REQUIRE(give(s.loaded.method, 0, data, {4, 8}).ok());
    REQUIRE(give(s.loaded.method, 1, data, {6, 8}).ok());
    CHECK(fails(
        s.loaded.method.execute(), Code::invalid_argument,
        "by dimension 0 of input 0 ('x'), s0 is 2, but by dimension 0 of input 1 ('z') it is 3"));
    REQUIRE(give(s.loaded.method, 0, data, {4, 8}).ok());
    REQUIRE(give(s.loaded.method, 1, data, {4, 8}).ok());
    REQUIRE(s.loaded.method.execute().ok());
    CHECK(floats(s.loaded.method, 0) == std::vector<float>(32, 2));
    CHECK(
        fails(s.loaded.method.execute(), Code::invalid_argument, "input 0 ('x') has not been set"));
    const SlotInfo& slot = s.loaded.method.info().outputs[0];
    CHECK(slot.dims[0].symbol == "2*s0");
    CHECK(slot.dims[0].min == 2);
    CHECK(slot.dims[0].max == 6);
    CHECK(slot.dims[1].multiple_of == 4);
  }

  TEST_CASE("an input of other strides is laid out anew, whatever they are") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto x = b.loose({2, 3});
    const auto y = b.planned({2, 3});
    b.call("test::scratch.out", {x, y, y});  // reads memory as it lies
    b.inputs({x}).outputs({y});
    auto loaded = load(b, plugins, folder);
    std::vector<float> data{1, 2, 3, 4, 5, 6};
    struct Case {
      size_t first;
      std::vector<int64_t> strides;
      std::vector<float> expected;
    };
    const Case cases[] = {{0, {3, 1}, {1, 2, 3, 4, 5, 6}},
                          {0, {1, 2}, {1, 3, 5, 2, 4, 6}},
                          {1, {0, 1}, {2, 3, 4, 2, 3, 4}},
                          {5, {-3, -1}, {6, 5, 4, 3, 2, 1}}};
    for (const Case& c : cases) {
      REQUIRE(loaded.method.set_input(0, {&data[c.first], DType::f32, {2, 3}, c.strides, {}}).ok());
      REQUIRE(loaded.method.execute().ok());
      CHECK(floats(loaded.method, 0) == c.expected);
    }
  }

  TEST_CASE("an input of the right layout is not copied") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto x = b.loose({2});
    const auto y = b.planned({2});
    b.delegate(delegate_of("backplane.stub", {1, 1, {}}), {x, y});
    b.inputs({x}).outputs({y});
    const void* seen = nullptr;
    plugins.stub.execute = [&](const bp_run_t& run) {
      seen = run.inputs[0].data;
      return BP_OK;
    };
    auto loaded = load(b, plugins, folder);
    std::vector<float> data{1, 2};
    REQUIRE(run(loaded.method, data, {2}).ok());
    CHECK(seen == data.data());
  }

  TEST_CASE("numbers must be the traced ones, unless the signature frees them") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto x = b.loose({1});
    const auto traced = b.value(2.5);
    const auto free = b.value(int64_t{0});
    const auto y = b.planned({1});
    const auto z = b.planned({1});
    b.call("aten::mul.Scalar_out", {x, traced, y, y});
    b.call("aten::mul.Scalar_out", {y, free, z, z});
    b.inputs({x, traced, free}).outputs({z, free});
    ProgramFile file;
    file.add(b);
    file.signature.methods.push_back({"forward", {{"n", 1, 9, 1}}, {}, {{}, {}}});
    file.signature.methods[0].inputs = {
        {"x", {}, {}, -1}, {"scale", {}, {}, -1}, {"n", {}, DimRule{0, 1, 0}, -1}};
    auto loaded = load(file.write(folder), plugins);
    Method& m = loaded.method;
    std::vector<float> data{2};
    CHECK(fails(run(m, data, {1}), Code::invalid_argument, "input 2 ('n') has not been set"));
    CHECK(m.set_input(1, 2.5).ok());
    CHECK(fails(m.set_input(1, 3.0), Code::invalid_argument,
                "input 1 ('scale') is 3.000000, but the program was exported with 2.5"));
    CHECK(fails(m.set_input(2, int64_t{10}), Code::invalid_argument, "allowed is n of 1 to 9"));
    CHECK(fails(m.set_input(2, 1.0), Code::invalid_argument, "not the kind of number"));
    CHECK(fails(m.set_input(0, int64_t{1}), Code::invalid_argument, "is a tensor"));
    REQUIRE(m.set_input(2, int64_t{3}).ok());
    REQUIRE(run(m, data, {1}).ok());
    CHECK(floats(m, 0) == std::vector<float>{15});
    CHECK(std::get<int64_t>(*m.output_scalar(1)) == 3);
  }

  TEST_CASE("an input that the method writes comes back, and the caller's memory stays as it was") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto cache = b.loose({2});
    const auto y = b.planned({2});
    b.call("aten::mul.Scalar_out", {cache, b.value(2.0), y, y});
    b.call("aten::copy_", {cache, y, b.value(false), cache});
    b.inputs({cache}).outputs({y});
    auto loaded = load(b, plugins, folder);
    CHECK(loaded.method.info().inputs[0].mutated);
    std::vector<float> data{1, 2};
    REQUIRE(run(loaded.method, data, {2}).ok());
    CHECK(data == std::vector<float>{1, 2});
    auto written = loaded.method.mutated_input(0);
    REQUIRE(written.ok());
    CHECK(floats(*written) == std::vector<float>{2, 4});
    CHECK_FALSE(loaded.method.mutated_input(1).ok());
  }

  TEST_CASE("what a signature says is written by another value is that value") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto cache = b.loose({2});
    const auto next = b.planned({2});
    b.call("aten::mul.Scalar_out", {cache, b.value(3.0), next, next});
    b.inputs({cache});
    ProgramFile file;
    file.add(b);
    file.signature.methods.push_back({"forward", {}, {{"cache", {}, {}, next}}, {}});
    auto loaded = load(file.write(folder), plugins);
    std::vector<float> data{1, 2};
    REQUIRE(run(loaded.method, data, {2}).ok());
    CHECK(floats(*loaded.method.mutated_input(0)) == std::vector<float>{3, 6});
  }
}
