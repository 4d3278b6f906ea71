// Instructions: order, loops, growth, bounds, moves, checks, and how errors name their place.
#include "loaded.hpp"

using namespace backplane;
using namespace backplane::test;

TEST_SUITE("core/runtime/flow") {
  TEST_CASE("kernels run in order on planned memory") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto x = b.loose({2, 2});
    const auto one = b.value(int64_t{1});
    const auto y = b.planned({2, 2});
    const auto z = b.planned({2, 2});
    b.call("aten::add.out", {x, x, one, y, y});
    b.call("aten::mul.Scalar_out", {y, b.value(0.5), z, z});
    b.inputs({x}).outputs({z, y});
    auto loaded = load(b, plugins, folder);
    std::vector<float> in{1, 2, 3, 4};
    REQUIRE(run(loaded.method, in, {2, 2}).ok());
    CHECK(floats(loaded.method, 0) == std::vector<float>{1, 2, 3, 4});
    CHECK(floats(loaded.method, 1) == std::vector<float>{2, 4, 6, 8});
  }

  TEST_CASE("a loop counts, carries a tensor by moves and ends by its condition") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto x = b.loose({2});
    const auto one = b.value(int64_t{1});
    const auto zero = b.value(int64_t{0});
    const auto i = b.value(int64_t{0});
    const auto go_on = b.value(false);
    const auto carried = b.planned({2});
    const auto next = b.planned({2});
    b.move(x, carried);
    b.move(zero, i);
    const int32_t first = b.next();
    b.call("executorch_prim::lt.Scalar", {i, b.value(int64_t{5}), go_on});
    const int32_t to_end = b.jump_if_false(go_on);
    b.call("aten::add.out", {carried, x, one, next, next});
    b.move(next, carried);
    b.call("executorch_prim::add.Scalar", {i, one, i});
    b.jump_to(first);
    b.land(to_end);
    b.inputs({x}).outputs({carried, i});
    auto loaded = load(b, plugins, folder);
    std::vector<float> in{1, 10};
    for (int round = 0; round < 2; ++round) {
      REQUIRE(run(loaded.method, in, {2}).ok());
      CHECK(floats(loaded.method, 0) == std::vector<float>{6, 60});
      CHECK(std::get<int64_t>(*loaded.method.output_scalar(1)) == 5);
    }
  }

  TEST_CASE("a tensor without bounds grows with what is seen, and a list's element may change") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto x = b.loose({1, 2}, ShapeDynamism::unbounded);
    const auto n = b.value(int64_t{0});
    const auto y = b.loose({1, 2}, ShapeDynamism::unbounded);
    const auto flat = b.loose({1}, ShapeDynamism::unbounded);
    const auto doubled = b.value(int64_t{0});
    b.call("aten::sym_size.int", {x, b.value(int64_t{0}), n});
    b.call("test::head.out", {x, n, y, y});
    b.call("executorch_prim::mul.Scalar", {n, b.value(int64_t{2}), doubled});
    b.call("executorch_prim::et_view.default", {y, b.ints({doubled}), flat, flat});
    b.inputs({x}).outputs({flat});
    auto loaded = load(b, plugins, folder);
    for (const int64_t rows : {3, 1, 40, 0, 200}) {
      std::vector<float> in(static_cast<size_t>(2 * rows), 7);
      REQUIRE(run(loaded.method, in, {rows, 2}).ok());
      CHECK(loaded.method.output(0)->sizes == std::vector<int64_t>{2 * rows});
      CHECK(floats(loaded.method, 0) == in);
    }
  }

  TEST_CASE("a dimension over its bound is refused though the elements would fit") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto x = b.loose({8, 1}, ShapeDynamism::bounded);
    const auto y = b.planned({4, 9}, ShapeDynamism::bounded);
    b.call("test::head.out", {x, b.value(int64_t{5}), y, y});
    b.inputs({x}).outputs({y});
    auto loaded = load(b, plugins, folder);
    std::vector<float> in(8, 1);
    CHECK(fails(run(loaded.method, in, {8, 1}), Code::output_too_small,
                "method 'forward': instruction 0, test::head.out: dimension 0 of output 0 would be "
                "5, more than its bound 4"));
    CHECK_FALSE(loaded.method.output(0).ok());
  }

  TEST_CASE("rows are collected by et_copy_index, and only as many as the loop made") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto x = b.loose({2});
    const auto rows = b.planned({4, 2}, ShapeDynamism::bounded);
    for (const int64_t i : {0, 1, 2}) {
      b.call("executorch_prim::et_copy_index.tensor", {rows, x, b.value(i)});
    }
    b.inputs({x}).outputs({rows});
    auto loaded = load(b, plugins, folder);
    std::vector<float> in{1, 2};
    REQUIRE(run(loaded.method, in, {2}).ok());
    CHECK(floats(loaded.method, 0) == std::vector<float>{1, 2, 1, 2, 1, 2});
  }

  TEST_CASE("what fails is named: operator, node, source and reason") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto x = b.loose({2});
    const auto y = b.planned({2});
    b.call("test::fail.out", {x, y, y});
    b.plan().chains[0].stack_traces = {{{"model.py", 12, "fail_1", "encoder.layers.0"}}};
    b.inputs({x}).outputs({y});
    auto loaded = load(b, plugins, folder);
    std::vector<float> in{1, 2};
    CHECK(fails(run(loaded.method, in, {2}), Code::invalid_argument,
                "model.pte: method 'forward': instruction 0, test::fail.out 'fail_1' "
                "(encoder.layers.0, model.py:12): no luck today"));
  }

  TEST_CASE("checks pass their message on") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto x = b.loose({1}, ShapeDynamism::fixed);
    const auto n = b.value(int64_t{0});
    const auto ok = b.value(false);
    b.call("aten::_local_scalar_dense", {x, n});
    b.call("executorch_prim::ge.Scalar", {n, b.value(int64_t{3}), ok});
    b.call("aten::_assert_scalar", {ok, b.value(std::string("u0 must be 3 or more"))});
    b.inputs({x}).outputs({n});
    auto loaded = load(b, plugins, folder);
    std::vector<float> in{4.5};
    CHECK(run(loaded.method, in, {1}).ok());
    CHECK(std::get<double>(*loaded.method.output_scalar(0)) == 4.5);
    in = {1};
    CHECK(fails(run(loaded.method, in, {1}), Code::invalid_argument,
                "the check failed: u0 must be 3 or more"));
    in = {7};
    CHECK(run(loaded.method, in, {1}).ok());
  }

  TEST_CASE("a cancelled execution stops, even in a loop without end") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    const auto x = b.loose({1});
    const auto y = b.planned({1});
    b.call("aten::add.out", {x, x, b.value(int64_t{1}), y, y});
    b.call("aten::_local_scalar_dense", {x, b.value(int64_t{0})});
    const auto go_on = b.value(false);
    b.call("executorch_prim::gt.Scalar", {b.value(int64_t{1}), b.value(int64_t{0}), go_on});
    b.jump_to(0);
    b.inputs({x}).outputs({y});
    auto loaded = load(b, plugins, folder);
    std::vector<float> in{1};
    REQUIRE(loaded.method.set_input(0, TensorView::contiguous(in.data(), DType::f32, {1})).ok());
    volatile int32_t cancel = 1;
    CHECK(fails(loaded.method.execute({.cancel = &cancel}), Code::cancelled, "instruction 0"));
  }

  TEST_CASE("a file that writes a constant, or jumps on what is no bool, can do no harm") {
    TemporaryFolder folder;
    TestPlugins plugins;
    ProgramFile file;
    MethodBuilder b("forward");
    const auto x = b.loose({2});
    const auto c = b.constant({2}, file.constant({1, 2}));
    b.call("aten::add.out", {x, x, b.value(int64_t{1}), c, c});
    b.inputs({x}).outputs({c});
    file.add(b);
    auto program = Program::load(file.write(folder), plugins);
    REQUIRE_FALSE(program.ok());
    CHECK(program.error().message.find("which is a constant") != std::string::npos);

    MethodBuilder v("forward");
    const auto in = v.loose({2});
    const auto view = v.loose({2});
    v.call("executorch_prim::et_view.default", {in, v.ints({v.value(int64_t{2})}), view, view});
    v.call("aten::mul.Scalar_out", {in, v.value(2.0), view, view});
    v.inputs({in}).outputs({view});
    auto loaded = load(v, plugins, folder);
    std::vector<float> values{1, 2};
    CHECK(fails(run(loaded.method, values, {2}), Code::invalid_argument,
                "would be written, but it is an input"));
    CHECK(values == std::vector<float>{1, 2});
  }
}
