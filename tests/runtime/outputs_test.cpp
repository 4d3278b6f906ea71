// Outputs: buffers of the caller's, and results that are inputs, constants or one another.
#include "loaded.hpp"

using namespace backplane;
using namespace backplane::test;

namespace {

// outputs: y = 2 * x of [n, 2], n at most 4.
Loaded doubling(TestPlugins& plugins, const TemporaryFolder& folder,
                ShapeDynamism dynamism = ShapeDynamism::bounded) {
  MethodBuilder b("forward");
  const auto x = b.loose({4, 2}, dynamism);
  const bool unbounded = dynamism == ShapeDynamism::unbounded;
  const auto y = unbounded ? b.loose({4, 2}, dynamism) : b.planned({4, 2}, dynamism);
  b.call("aten::mul.Scalar_out", {x, b.value(2.0), y, y});
  b.inputs({x}).outputs({y});
  return load(b, plugins, folder);
}

TensorView view_of(std::vector<float>& data, std::vector<int64_t> sizes) {
  return TensorView::contiguous(data.data(), DType::f32, std::move(sizes));
}

}  // namespace

TEST_SUITE("core/runtime/outputs") {
  TEST_CASE("a buffer is checked against the upper bound, whatever the size is now") {
    TemporaryFolder folder;
    TestPlugins plugins;
    auto loaded = doubling(plugins, folder);
    std::vector<float> in{1, 2};
    std::vector<float> small(6);
    REQUIRE(run(loaded.method, in, {1, 2}).ok());
    CHECK(fails(loaded.method.set_output(0, view_of(small, {3, 2})), Code::output_too_small,
                "output 0: a buffer of sizes [3, 2] is too small, the output can be [4, 2]"));
    std::vector<float> large(8, -1);
    REQUIRE(loaded.method.set_output(0, view_of(large, {4, 2})).ok());
    REQUIRE(run(loaded.method, in, {1, 2}).ok());
    CHECK(large == std::vector<float>{2, 4, -1, -1, -1, -1, -1, -1});
    CHECK(loaded.method.output(0)->data == large.data());
    CHECK(loaded.method.output(0)->sizes == std::vector<int64_t>{1, 2});
    REQUIRE(loaded.method.set_output(0, {}).ok());
    REQUIRE(run(loaded.method, in, {1, 2}).ok());
    CHECK(loaded.method.output(0)->data != large.data());
  }

  TEST_CASE("the wrong type, rank or output of a buffer is refused") {
    TemporaryFolder folder;
    TestPlugins plugins;
    auto loaded = doubling(plugins, folder);
    std::vector<float> data(64);
    CHECK(fails(loaded.method.set_output(1, view_of(data, {4, 2})), Code::invalid_argument,
                "no output 1"));
    CHECK(fails(loaded.method.set_output(0, view_of(data, {8})), Code::invalid_argument,
                "output 0 is float32 of rank 2, the buffer is float32 of sizes [8]"));
    CHECK(
        fails(loaded.method.set_output(0, TensorView::contiguous(data.data(), DType::i32, {4, 2})),
              Code::invalid_argument, "the buffer is int32"));
  }

  TEST_CASE("a strided buffer gets its elements, and nothing between") {
    TemporaryFolder folder;
    TestPlugins plugins;
    auto loaded = doubling(plugins, folder);
    std::vector<float> in{1, 2, 3, 4};
    std::vector<float> buffer(16, -1);
    REQUIRE(loaded.method.set_output(0, {buffer.data(), DType::f32, {4, 2}, {1, 8}, {}}).ok());
    REQUIRE(run(loaded.method, in, {2, 2}).ok());
    std::vector<float> expected(16, -1);
    expected[0] = 2;
    expected[1] = 6;
    expected[8] = 4;
    expected[9] = 8;
    CHECK(buffer == expected);
    CHECK(loaded.method.output(0)->strides == std::vector<int64_t>{1, 8});
  }

  TEST_CASE("an unbounded output that outgrows its buffer says so") {
    TemporaryFolder folder;
    TestPlugins plugins;
    auto loaded = doubling(plugins, folder, ShapeDynamism::unbounded);
    std::vector<float> in{1, 2, 3, 4};
    std::vector<float> buffer(2, -1);
    REQUIRE(loaded.method.set_output(0, view_of(buffer, {1, 2})).ok());
    CHECK(fails(run(loaded.method, in, {2, 2}), Code::output_too_small,
                "output 0 became [2, 2], more than its buffer of [1, 2]"));
    CHECK(buffer == std::vector<float>{-1, -1});
    REQUIRE(run(loaded.method, in, {1, 2}).ok());
    CHECK(buffer == std::vector<float>{2, 4});
  }

  TEST_CASE("a buffer that is the input's own memory does not disturb the program") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto x = b.loose({2});
    const auto y = b.planned({2});
    const auto z = b.planned({2});
    b.call("aten::mul.Scalar_out", {x, b.value(2.0), y, y});
    b.call("aten::add.out", {x, y, b.value(int64_t{1}), z, z});
    b.inputs({x}).outputs({y, z});
    auto loaded = load(b, plugins, folder);
    std::vector<float> data{1, 2};
    REQUIRE(loaded.method.set_output(0, view_of(data, {2})).ok());
    REQUIRE(run(loaded.method, data, {2}).ok());
    CHECK(data == std::vector<float>{2, 4});
    CHECK(floats(loaded.method, 1) == std::vector<float>{3, 6});
    CHECK(fails(loaded.method.set_output(1, view_of(data, {2})), Code::invalid_argument,
                "overlaps the one of output 0"));
  }

  TEST_CASE("outputs may be an input, a view of it, a constant, and one value twice") {
    TemporaryFolder folder;
    TestPlugins plugins;
    ProgramFile file;
    MethodBuilder b("forward");
    const auto x = b.loose({2});
    const auto view = b.loose({2, 1});
    const auto c = b.constant({2}, file.constant({7, 8}));
    const auto y = b.planned({2});
    b.call("executorch_prim::et_view.default",
           {x, b.ints({b.value(int64_t{-1}), b.value(int64_t{1})}), view, view});
    b.call("aten::add.out", {x, c, b.value(int64_t{1}), y, y});
    b.inputs({x}).outputs({x, view, c, y, y});
    file.add(b);
    auto loaded = load(file.write(folder), plugins);
    std::vector<float> data{1, 2};
    std::vector<float> first(2, 0);
    std::vector<float> again(2, 0);
    REQUIRE(loaded.method.set_output(3, view_of(first, {2})).ok());
    REQUIRE(loaded.method.set_output(4, view_of(again, {2})).ok());
    REQUIRE(run(loaded.method, data, {2}).ok());
    data = {0, 0};  // the caller's again: results don't look into it
    CHECK(floats(loaded.method, 0) == std::vector<float>{1, 2});
    CHECK(loaded.method.output(1)->sizes == std::vector<int64_t>{2, 1});
    CHECK(floats(loaded.method, 1) == std::vector<float>{1, 2});
    CHECK(floats(loaded.method, 2) == std::vector<float>{7, 8});
    CHECK(first == std::vector<float>{8, 10});
    CHECK(again == std::vector<float>{8, 10});
  }

  TEST_CASE("results are there only after an execution that succeeded") {
    TemporaryFolder folder;
    TestPlugins plugins;
    auto loaded = doubling(plugins, folder);
    std::vector<float> in{1, 2};
    const auto before = loaded.method.output(0);
    REQUIRE_FALSE(before.ok());
    CHECK(before.error().message.find("has no results") != std::string::npos);
    REQUIRE(run(loaded.method, in, {1, 2}).ok());
    CHECK(loaded.method.output(0).ok());
    CHECK_FALSE(loaded.method.output(1).ok());
    CHECK_FALSE(loaded.method.output_scalar(0).ok());
    REQUIRE(give(loaded.method, 0, in, {1, 2}).ok());
    CHECK_FALSE(loaded.method.output(0).ok());
  }
}
