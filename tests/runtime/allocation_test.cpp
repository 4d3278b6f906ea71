// After the first execution with some sizes, another with them asks the system for nothing: every
// way to the heap is counted, so this program replaces malloc and has a main file of its own.
#include <atomic>
#include <cerrno>
#include <cstddef>

#include "loaded.hpp"
#include "runtime/memory.hpp"
#include "runtime/thread_pool.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define BP_COUNT_ALLOCATIONS 0
#else
#define BP_COUNT_ALLOCATIONS 1
#endif

namespace {
std::atomic<int64_t> allocations{0};
}

#if BP_COUNT_ALLOCATIONS
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  ++allocations;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  ++allocations;
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
  ++allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}
#endif

using namespace backplane;
using namespace backplane::test;

TEST_SUITE("core/runtime/allocation") {
  TEST_CASE("execute allocates nothing after the first call of a shape") {
    TemporaryFolder folder;
    TestPlugins plugins;
    plugins.stub.execute = [&](const bp_run_t& run) -> int32_t {
      const bool two = run.num_outputs == 2;
      const int64_t shape[2] = {run.inputs[0].shape[0], 2};
      for (uint32_t i = 0; i < (two ? 1U : run.num_outputs); ++i) {
        const int32_t code = plugins.stub.host->resize_output(run.ctx, i, 2, shape);
        if (code != BP_OK) return code;
      }
      return BP_OK;
    };
    MethodBuilder b("forward");
    const auto x = b.loose({8, 2}, ShapeDynamism::bounded);
    const auto one = b.value(int64_t{1});
    const auto n = b.value(int64_t{0});
    const auto i = b.value(int64_t{0});
    const auto go_on = b.value(false);
    const auto a = b.planned({8, 2}, ShapeDynamism::bounded);
    const auto c = b.planned({8, 2}, ShapeDynamism::bounded);
    const auto grown = b.loose({1, 2}, ShapeDynamism::unbounded);
    const auto scratched = b.loose({1, 2}, ShapeDynamism::unbounded);
    const auto view = b.loose({1}, ShapeDynamism::unbounded);
    const auto host = b.planned({8, 2}, ShapeDynamism::bounded);
    const auto number = b.value(int64_t{0});
    const auto device = b.planned({8, 2}, ShapeDynamism::bounded);
    const auto twice = b.value(int64_t{0});
    b.call("aten::sym_size.int", {x, b.value(int64_t{0}), n});
    b.move(b.value(int64_t{0}), i);
    b.move(x, a);
    const int32_t first = b.next();
    b.call("executorch_prim::lt.Scalar", {i, b.value(int64_t{3}), go_on});
    const int32_t to_end = b.jump_if_false(go_on);
    b.call("aten::add.out", {a, x, one, c, c});
    b.move(c, a);
    b.call("executorch_prim::add.Scalar", {i, one, i});
    b.jump_to(first);
    b.land(to_end);
    b.call("test::head.out", {a, n, grown, grown});
    b.call("test::scratch.out", {grown, scratched, scratched});
    b.call("test::wide.out", {scratched, grown, grown});
    b.call("executorch_prim::mul.Scalar", {n, b.value(int64_t{2}), twice});
    b.call("executorch_prim::et_view.default", {grown, b.ints({twice}), view, view});
    b.delegate(delegate_of("backplane.stub", {1, 2, {}}), {grown, host, number});
    b.delegate(delegate_of("backplane.stubdev", {1, 1, {}}), {host, device});
    b.inputs({x}).outputs({view, host, x, device});
    auto loaded = load(b, plugins, folder);
    std::vector<float> data(16, 1);
    const TensorView large = TensorView::contiguous(data.data(), DType::f32, {8, 2});
    const TensorView small = TensorView::contiguous(data.data(), DType::f32, {3, 2});
    const TensorView strided{data.data(), DType::f32, {3, 2}, {1, 8}, {}};
    const TensorView* const inputs[] = {&large, &small, &strided};
    for (const TensorView* input : inputs) {
      REQUIRE(loaded.method.set_input(0, *input).ok());
      REQUIRE(loaded.method.execute().ok());
    }
    const int64_t before = allocations;
    bool ok = true;
    for (int round = 0; round < 20; ++round) {
      for (const TensorView* input : inputs) {
        ok = ok && loaded.method.set_input(0, *input).ok() && loaded.method.execute().ok();
      }
    }
    const int64_t after = allocations;
    CHECK(ok);
    CHECK(after - before == 0);
    CHECK(floats(loaded.method, 0) == std::vector<float>(6, 8));
    if (BP_COUNT_ALLOCATIONS != 0) CHECK(before > 0);
  }
}

TEST_SUITE("core/runtime/memory") {
  TEST_CASE("scratch memory is one block after the first round of a kind") {
    runtime::Scratch scratch;
    for (int round = 0; round < 3; ++round) {
      const int64_t before = allocations;
      for (const uint64_t size : {100, 70000, 5, 300000}) {
        auto* memory = static_cast<char*>(scratch.allocate(size));
        REQUIRE(memory != nullptr);
        CHECK(reinterpret_cast<uintptr_t>(memory) % 64 == 0);
        memory[size - 1] = 1;
      }
      if (round > 0) CHECK(allocations - before == 0);
      scratch.reset();
    }
    CHECK(scratch.allocate(UINT64_MAX) == nullptr);
  }

  TEST_CASE("a block grows by half, and what it had stays until it is let go") {
    std::vector<runtime::Block> retired;
    runtime::Block block;
    REQUIRE(block.grow(1000, retired));
    block.data()[0] = std::byte{7};
    const std::byte* old = block.data();
    REQUIRE(block.grow(1001, retired));
    CHECK(block.size() == 1500);
    CHECK(*old == std::byte{7});
    CHECK(retired.size() == 1);
    CHECK_FALSE(block.grow(UINT64_MAX, retired));
    CHECK(block.size() == 1500);
  }
}

TEST_SUITE("core/runtime/thread_pool") {
  TEST_CASE("every index is met once, also by loops in loops") {
    runtime::ThreadPool pool(4);
    std::vector<std::atomic<int>> seen(10000);
    struct Args {
      runtime::ThreadPool* pool;
      std::vector<std::atomic<int>>* seen;
    } args{&pool, &seen};
    pool.parallel_for(
        100, 1,
        [](void* raw, int64_t begin, int64_t end) {
          auto* outer = static_cast<Args*>(raw);
          for (int64_t row = begin; row < end; ++row) {
            struct Row {
              Args* args;
              int64_t row;
            } inner{outer, row};
            outer->pool->parallel_for(
                100, 7,
                [](void* r, int64_t from, int64_t to) {
                  const auto* in = static_cast<Row*>(r);
                  for (int64_t k = from; k < to; ++k)
                    ++(*in->args->seen)[static_cast<size_t>(in->row * 100 + k)];
                },
                &inner);
          }
        },
        &args);
    int wrong = 0;
    for (const auto& count : seen) wrong += count == 1 ? 0 : 1;
    CHECK(wrong == 0);
    int calls = 0;
    pool.parallel_for(
        0, 1, [](void* raw, int64_t, int64_t) { ++*static_cast<int*>(raw); }, &calls);
    CHECK(calls == 0);
  }
}
