#include "passes/pipeline.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>

#include "graph_builder.hpp"
#include "portable_kernels.hpp"
#include "reader/pt2.hpp"

using namespace backplane;

TEST_SUITE_BEGIN("core/passes");

namespace {

Result<Module> prepared(const std::string& path) {
  const ops::Table table;
  BP_ASSIGN_OR_RETURN(Module m, read_pt2(path));
  passes::PrepareOptions options;
  options.kernels = portable_kernels();
  BP_TRY(passes::prepare(m, table, options));
  return m;
}

// Seconds of processor time to prepare a chain of in-place writes through views, conversions and
// dead ends.
double seconds(int length) {
  GraphBuilder b;
  const ValueRef x = b.input("x", DType::f32, {4, 8});
  const ValueRef y = b.node("aten::relu", {x});
  for (int i = 0; i < length / 8; ++i) {
    const ValueRef row = b.node("aten::select.int", {y, 0, i % 4});
    (void)b.node("aten::add_.Tensor", {row, 1});
    const ValueRef copy = b.node("aten::clone", {y});
    (void)b.node("aten::sigmoid", {copy});
    const ValueRef sum = b.node("aten::add.Tensor", {copy, b.node("aten::tanh", {x})});
    (void)b.node("aten::mul_.Tensor", {y, b.node("aten::detach", {sum})});
  }
  b.output(y);
  Module m = b.take();
  const std::clock_t start = std::clock();
  const Status done = passes::prepare(m, b.table(), {});
  REQUIRE(done.ok());
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace

TEST_CASE("sizes that come from constants are numbers after preparing") {
  const Result<Module> m = prepared("passes/sizes_from_constants.pt2");
  if (!m.ok()) FAIL(m.error().message);
  for (const Value& value : m->root().values) {
    CHECK(value.kind == ValueKind::tensor);
    for (const SymInt size : value.type.sizes) CHECK(size.is_constant());
  }
  CHECK(count(*m, "aten::_assert_scalar") == 0);
}

TEST_CASE("branches on constants are taken") {
  const Result<Module> m = prepared("passes/known_branches.pt2");
  if (!m.ok()) FAIL(m.error().message);
  CHECK(m->graphs.size() == 1);
  CHECK(count(*m, "higher_order::cond") == 0);
}

TEST_CASE("preparing takes time in proportion to the nodes") {
  const double few = std::min(seconds(5'000), seconds(5'000));
  const double many = std::min(seconds(20'000), seconds(20'000));
  CHECK_MESSAGE(many < 8 * few + 0.5, few << " s, then " << many << " s");
}

TEST_SUITE_END();
