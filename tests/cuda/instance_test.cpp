// Running a program on the stand-in: shapes, addresses, graphs, strides, faults.
#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <vector>

#include "cuda/runtime/devices.hpp"
#include "cuda/runtime/instance.hpp"
#include "cuda/standin_fixture.hpp"
#include "made_plan.hpp"
#include "test_host.hpp"

namespace backplane::cuda {
namespace {

// Memory of the stand-in's device, which the host can look into.
class Floats {
 public:
  Floats(const Device& device, size_t count) {
    auto made = DeviceBuffer::allocate(device, count * sizeof(float), "a test");
    REQUIRE(made.ok());
    buffer_ = std::move(*made);
  }
  [[nodiscard]] float* data() const { return reinterpret_cast<float*>(buffer_.address()); }
  float& operator[](size_t i) const { return data()[i]; }

 private:
  DeviceBuffer buffer_;
};

struct Loaded {
  standin::Fixture fixture;
  TestHost host;
  std::vector<std::byte> payload = made_payload();
  Devices devices{fixture.libraries};
  std::unique_ptr<Program> program;
  std::unique_ptr<Instance> instance;

  Loaded() {
    host.data["w"] = {0.5F};
    auto loaded = Program::load(host.host(), fixture.libraries, devices, host.request(payload));
    REQUIRE_MESSAGE(loaded.ok(), (loaded.ok() ? "" : loaded.error().message));
    program = std::move(*loaded);
    instance = make_instance();
  }
  std::unique_ptr<Instance> make_instance() {
    auto made = program->instance({});
    REQUIRE(made.ok());
    return std::move(*made);
  }
  [[nodiscard]] const Device& device() const { return program->device(); }
  [[nodiscard]] Status execute(TestRun& run) { return instance->execute(run.run(host)); }
};

constexpr float kSeed = 3;
float input_at(size_t i) {
  return kSeed + static_cast<float>(i);
}
TestRun::Tensor rows_of(float* memory, int64_t n, int64_t m) {
  return {{n, m}, {m, 1}, memory};
}
void fill(const Floats& x, size_t count) {
  for (size_t i = 0; i < count; ++i) x[i] = input_at(i);
}
// What the program gives for input_at at [i, j].
float expected(int64_t i, int64_t j, int64_t m, float number = 0) {
  return 2 * input_at(static_cast<size_t>(i * m + j)) + 0.5F + 100 * static_cast<float>(i) + number;
}
void check(const float* y, int64_t n, int64_t m, float number = 0) {
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) CHECK(y[i * m + j] == expected(i, j, m, number));
  }
}

TEST_SUITE_BEGIN("cuda/instance");

TEST_CASE("the first run launches, the second captures, later ones replay") {
  Loaded loaded;
  const Floats x(loaded.device(), 12);
  const Floats y(loaded.device(), 12);
  fill(x, 12);
  TestRun run;
  run.inputs = {rows_of(x.data(), 3, 4)};
  run.outputs = {rows_of(y.data(), 3, 4)};
  const StandinCounts before = loaded.fixture.control.counts();
  for (int i = 0; i < 5; ++i) {
    for (size_t k = 0; k < 12; ++k) y[k] = -1;
    REQUIRE(loaded.execute(run).ok());
    check(y.data(), 3, 4);
  }
  const StandinCounts after = loaded.fixture.control.counts();
  CHECK(after.captures - before.captures == 1);
  CHECK(after.graph_launches - before.graph_launches == 4);
  CHECK(after.launches - before.launches == 4);  // twice, rows: once run, once captured
}

TEST_CASE("another shape with as many bytes has its own results, at once and on each replay") {
  Loaded loaded;
  const Floats x(loaded.device(), 12);
  const Floats y(loaded.device(), 12);
  fill(x, 12);
  for (int round = 0; round < 4; ++round) {
    for (const auto& [n, m] : {std::pair<int64_t, int64_t>{3, 4}, {4, 3}, {12, 1}, {2, 6}}) {
      TestRun run;
      run.inputs = {rows_of(x.data(), n, m)};
      run.outputs = {rows_of(y.data(), 1, 1)};
      REQUIRE(loaded.execute(run).ok());
      CHECK(run.outputs[0].shape == std::vector<int64_t>{n, m});
      check(y.data(), n, m);
    }
  }
}

TEST_CASE("new addresses are given to the graph that there is") {
  Loaded loaded;
  std::vector<Floats> xs;
  std::vector<Floats> ys;
  for (int i = 0; i < 4; ++i) {
    xs.emplace_back(loaded.device(), 12);
    ys.emplace_back(loaded.device(), 12);
    fill(xs.back(), 12);
  }
  const StandinCounts before = loaded.fixture.control.counts();
  for (size_t i = 0; i < 12; ++i) {
    TestRun run;
    run.number = static_cast<double>(i);
    run.inputs = {rows_of(xs[i % 4].data(), 3, 4)};
    run.outputs = {rows_of(ys[i % 3].data(), 3, 4)};
    REQUIRE(loaded.execute(run).ok());
    check(ys[i % 3].data(), 3, 4, static_cast<float>(i));
  }
  const StandinCounts after = loaded.fixture.control.counts();
  CHECK(after.captures - before.captures == 1);
  CHECK(after.kernel_updates - before.kernel_updates == 20);  // both kernels, in ten replays
}

TEST_CASE("inputs and outputs with other strides, or in host memory, go through copies") {
  Loaded loaded;
  const Floats x(loaded.device(), 12);
  const Floats y(loaded.device(), 12);
  std::vector<float> host_x(12);
  std::vector<float> host_y(12);
  for (size_t i = 0; i < 12; ++i) host_x[i] = input_at(i);
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 4; ++j) x[j * 3 + i] = input_at(i * 4 + j);
  }
  for (int round = 0; round < 3; ++round) {
    TestRun run;
    run.inputs = {{{3, 4}, {1, 3}, x.data()}};
    run.outputs = {{{1}, {1}, y.data(), {BP_DEV_CUDA, 0}, SIZE_MAX, {1, 0}}};
    REQUIRE(loaded.execute(run).ok());
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 4; ++j) CHECK(y[static_cast<size_t>(j * 3 + i)] == expected(i, j, 4));
    }
    run.inputs = {{{3, 4}, {4, 1}, host_x.data(), {BP_DEV_CPU, 0}}};
    run.outputs = {{{1}, {1}, host_y.data(), {BP_DEV_CPU, 0}}};
    REQUIRE(loaded.execute(run).ok());
    check(host_y.data(), 3, 4);
  }
}

TEST_CASE("an output that lies where an input lies is right") {
  Loaded loaded;
  const Floats x(loaded.device(), 16);
  for (int round = 0; round < 3; ++round) {
    fill(x, 12);
    TestRun run;
    run.inputs = {rows_of(x.data(), 3, 4)};
    run.outputs = {rows_of(x.data() + 2, 3, 4)};
    REQUIRE(loaded.execute(run).ok());
    check(x.data() + 2, 3, 4);
  }
}

TEST_CASE("an output without room is refused, also after it has shrunk") {
  Loaded loaded;
  const Floats x(loaded.device(), 12);
  const Floats y(loaded.device(), 6);
  fill(x, 12);
  for (int round = 0; round < 2; ++round) {
    for (const int64_t n : {2, 4, 2}) {
      TestRun run;
      run.inputs = {rows_of(x.data(), n, 3)};
      run.outputs = {rows_of(y.data(), n, 3)};
      run.outputs[0].room = 24;
      const Status status = loaded.execute(run);
      CHECK(status.ok() == (n == 2));
      if (!status.ok()) CHECK(status.error().code == Code::output_too_small);
    }
  }
}

TEST_CASE("where a capture fails, the steps are launched one by one") {
  for (const char* function : {"cuStreamBeginCapture", "cuStreamEndCapture", "cuGraphInstantiate",
                               "cuStreamGetCaptureInfo"}) {
    CAPTURE(function);
    Loaded loaded;
    const Floats x(loaded.device(), 12);
    const Floats y(loaded.device(), 12);
    fill(x, 12);
    loaded.fixture.control.fail(function, 0, 1, kCuNotSupported);
    const uint64_t before = loaded.fixture.control.counts().graph_launches;
    for (int i = 0; i < 4; ++i) {
      TestRun run;
      run.inputs = {rows_of(x.data(), 3, 4)};
      run.outputs = {rows_of(y.data(), 3, 4)};
      REQUIRE(loaded.execute(run).ok());
      check(y.data(), 3, 4);
      y[0] = -1;
    }
    CHECK(loaded.fixture.control.counts().graph_launches == before);
    // After the line about code that the driver compiled.
    REQUIRE(loaded.host.logs.size() == 2);
    CHECK(loaded.host.logs[1].starts_with("'forward' runs without a CUDA graph: "));
  }
}

TEST_CASE("what a caller captures has our steps, and its replays see its data") {
  Loaded loaded;
  const Driver& driver = loaded.device().driver();
  const Floats x(loaded.device(), 12);
  const Floats y(loaded.device(), 12);
  CuStream stream = nullptr;
  REQUIRE(driver.stream_create(&stream, 0) == kCuSuccess);
  for (int round = 0; round < 3; ++round) {
    REQUIRE(driver.stream_begin_capture(stream, kCuCaptureThreadLocal) == kCuSuccess);
    TestRun run;
    run.stream = stream;
    run.flags = BP_RUN_CALLERS_STREAM;
    run.inputs = {rows_of(x.data(), 3, 4)};
    run.outputs = {rows_of(y.data(), 3, 4)};
    CHECK(loaded.execute(run).ok());
    CuGraph graph = nullptr;
    REQUIRE(driver.stream_end_capture(stream, &graph) == kCuSuccess);
    CuGraphExec exec = nullptr;
    REQUIRE(driver.graph_instantiate(&exec, graph, 0) == kCuSuccess);
    fill(x, 12);
    y[0] = -1;
    REQUIRE(driver.graph_launch(exec, stream) == kCuSuccess);
    check(y.data(), 3, 4);
    driver.graph_exec_destroy(exec);
    driver.graph_destroy(graph);
  }
  std::vector<float> host_x(12);
  REQUIRE(driver.stream_begin_capture(stream, kCuCaptureThreadLocal) == kCuSuccess);
  TestRun run;
  run.stream = stream;
  run.flags = BP_RUN_CALLERS_STREAM;
  run.inputs = {{{3, 4}, {4, 1}, host_x.data(), {BP_DEV_CPU, 0}}};
  run.outputs = {rows_of(y.data(), 3, 4)};
  const Status status = loaded.execute(run);
  REQUIRE(!status.ok());
  CHECK(status.error().message ==
        "input 0 'x' is in host memory, which can't be read while the stream is being captured");
  CuGraph graph = nullptr;
  CHECK(driver.stream_end_capture(stream, &graph) == kCuSuccess);
  driver.graph_destroy(graph);
  driver.stream_destroy(stream);
}

TEST_CASE("a fault names its node, and the next run is well") {
  Loaded loaded;
  const Floats x(loaded.device(), 12);
  const Floats y(loaded.device(), 12);
  TestRun run;
  run.inputs = {rows_of(x.data(), 3, 4)};
  run.outputs = {rows_of(y.data(), 3, 4)};
  for (int round = 0; round < 3; ++round) {
    fill(x, 12);
    x[5] = 700000;
    loaded.host.reason.clear();
    const Status status = loaded.execute(run);
    REQUIRE(!status.ok());
    CHECK(status.error().code == Code::invalid_argument);
    CHECK(status.error().message == "node 'add': too large: 1400000");
    CHECK(loaded.host.node == 8);
    x[5] = input_at(5);
    REQUIRE(loaded.execute(run).ok());
    check(y.data(), 3, 4);
  }
}

TEST_CASE("a launch that fails names its node, and the next run is well") {
  Loaded loaded;
  const Floats x(loaded.device(), 12);
  const Floats y(loaded.device(), 12);
  fill(x, 12);
  TestRun run;
  run.inputs = {rows_of(x.data(), 3, 4)};
  run.outputs = {rows_of(y.data(), 3, 4)};
  loaded.fixture.control.fail("cuLaunchKernelEx", 1, 1, kCuLaunchFailed);
  const Status status = loaded.execute(run);
  REQUIRE(!status.ok());
  CHECK(status.error().code == Code::device_lost);
  CHECK(status.error().message.starts_with("node 'add': kernel 'rows': "));
  CHECK(loaded.host.node == 8);
  REQUIRE(loaded.execute(run).ok());
  check(y.data(), 3, 4);
}

TEST_CASE("an arena that does not fit says whose it is") {
  Loaded loaded;
  const Floats x(loaded.device(), 12);
  const Floats y(loaded.device(), 12);
  loaded.fixture.control.device(uint64_t{1} << 20U, 90);
  TestRun run;
  run.inputs = {rows_of(x.data(), 3, 4)};
  run.outputs = {rows_of(y.data(), 3, 4)};
  const Status status = loaded.execute(run);
  REQUIRE(!status.ok());
  CHECK(status.error().code == Code::out_of_memory);
  CHECK(status.error().message.find("wanted for the arena of 'forward'") != std::string::npos);
}

TEST_CASE("wrong inputs are named") {
  Loaded loaded;
  const Floats x(loaded.device(), 12);
  const Floats y(loaded.device(), 12);
  TestRun run;
  run.outputs = {rows_of(y.data(), 3, 4)};
  run.inputs = {{{12}, {1}, x.data()}};
  CHECK(loaded.execute(run).error().message == "input 0 'x' has 1 dimensions, not 2");
  run.inputs = {rows_of(x.data(), 65, 1)};
  CHECK(loaded.execute(run).error().code == Code::invalid_argument);
}

TEST_CASE("instances of one program run in threads") {
  Loaded loaded;
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      auto instance = loaded.program->instance({});
      std::vector<float> x(12, static_cast<float>(t));
      std::vector<float> y(12);
      for (int i = 0; i < 50; ++i) {
        TestRun run;
        run.inputs = {{{12, 1}, {1, 1}, x.data(), {BP_DEV_CPU, 0}}};
        run.outputs = {{{1}, {1}, y.data(), {BP_DEV_CPU, 0}}};
        const bool ran = (*instance)->execute(run.run(loaded.host)).ok();
        const float wanted = 2 * static_cast<float>(t) + 0.5F + 1100;
        wrong[t] += ran && y[11] == wanted ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == std::vector<int>(4));
}

TEST_SUITE_END();

}  // namespace
}  // namespace backplane::cuda
