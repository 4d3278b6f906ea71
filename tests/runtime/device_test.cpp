// Delegates with device memory: values stay there between them, and cross only where they must.
#include "loaded.hpp"
#include "runtime/tensor_state.hpp"

using namespace backplane;
using namespace backplane::test;

namespace {

constexpr Device kDevice{static_cast<DeviceKind>(kStubDevice), 0};

// out = 2 * in, on the device; checks that all is there.
int32_t doubling(Stub& stub, const bp_run_t& run) {
  CHECK(run.inputs[0].device.type == kStubDevice);
  CHECK(run.outputs[0].device.type == kStubDevice);
  const auto ndim = static_cast<uint32_t>(run.inputs[0].ndim);
  const int32_t code = stub.host->resize_output(run.ctx, 0, ndim, run.inputs[0].shape);
  if (code != BP_OK) return code;
  const int64_t n = numel({run.inputs[0].shape, ndim});
  for (int64_t i = 0; i < n; ++i) {
    static_cast<float*>(run.outputs[0].data)[i] = 2 * static_cast<float*>(run.inputs[0].data)[i];
  }
  return BP_OK;
}

pte::Delegate on_device(std::vector<uint8_t> placement = {}) {
  return delegate_of("backplane.stubdev", {1, 1, std::move(placement)});
}

struct Chain {
  TemporaryFolder folder;
  TestPlugins plugins;
  std::vector<float> data{1, 2};

  // x → delegate → [view] → delegate → y; with `kernel_between`, a kernel adds in the middle.
  Loaded make(bool kernel_between) {
    plugins.stub.execute = [this](const bp_run_t& run) { return doubling(plugins.stub, run); };
    MethodBuilder b("forward");
    const auto x = b.loose({2});
    const auto a = b.planned({2});
    const auto view = b.loose({2, 1});
    const auto y = b.planned({2, 1});
    b.delegate(on_device(), {x, a});
    auto middle = a;
    if (kernel_between) {
      middle = b.planned({2});
      b.call("aten::add.out", {a, x, b.value(int64_t{1}), middle, middle});
    }
    b.call("executorch_prim::et_view.default",
           {middle, b.ints({b.value(int64_t{2}), b.value(int64_t{1})}), view, view});
    b.delegate(on_device(), {view, y});
    b.inputs({x}).outputs({y});
    return load(b, plugins, folder);
  }
  int copies() { return plugins.stub.copies; }
};

std::vector<float> device_floats(const Method& method, size_t index) {
  auto view = method.output(index);
  REQUIRE(view.ok());
  CHECK(view->device == kDevice);  // whose memory is the host's, in these tests
  const auto* data = static_cast<const float*>(view->data);
  return {data, data + view->numel()};
}

}  // namespace

TEST_SUITE("core/runtime/device") {
  TEST_CASE("between two delegates of one device nothing is copied, and the result stays there") {
    Chain chain;
    auto loaded = chain.make(false);
    REQUIRE(run(loaded.method, chain.data, {2}).ok());
    CHECK(device_floats(loaded.method, 0) == std::vector<float>{4, 8});
    CHECK(chain.copies() == 1);  // the input
    const int allocations = chain.plugins.stub.allocations;
    REQUIRE(run(loaded.method, chain.data, {2}).ok());
    CHECK(chain.copies() == 2);
    CHECK(chain.plugins.stub.allocations == allocations);
  }

  TEST_CASE("a kernel between two delegates costs one copy each way") {
    Chain chain;
    auto loaded = chain.make(true);
    REQUIRE(run(loaded.method, chain.data, {2}).ok());
    CHECK(device_floats(loaded.method, 0) == std::vector<float>{6, 12});
    CHECK(chain.copies() == 3);
  }

  TEST_CASE("an input on the device is used where it lies, a buffer there is written directly") {
    Chain chain;
    auto loaded = chain.make(false);
    std::vector<float> out(2);
    TensorView input = TensorView::contiguous(chain.data.data(), DType::f32, {2});
    TensorView output = TensorView::contiguous(out.data(), DType::f32, {2, 1});
    input.device = output.device = kDevice;
    REQUIRE(loaded.method.set_output(0, output).ok());
    REQUIRE(loaded.method.set_input(0, input).ok());
    REQUIRE(loaded.method.execute().ok());
    CHECK(out == std::vector<float>{4, 8});
    CHECK(chain.copies() == 0);
    input.device.index = 1;
    CHECK(
        fails(loaded.method.set_input(0, input), Code::unsupported, "is in memory of device 77:1"));
  }

  TEST_CASE("a host buffer for a device result gets it by one copy") {
    Chain chain;
    auto loaded = chain.make(false);
    std::vector<float> out(2);
    REQUIRE(
        loaded.method.set_output(0, TensorView::contiguous(out.data(), DType::f32, {2, 1})).ok());
    REQUIRE(run(loaded.method, chain.data, {2}).ok());
    CHECK(out == std::vector<float>{4, 8});
    CHECK(chain.copies() == 2);
  }

  TEST_CASE(
      "a result on the device is copied to the host when that is asked for, strides and all") {
    Chain chain;
    auto loaded = chain.make(false);
    REQUIRE(run(loaded.method, chain.data, {2}).ok());
    auto view = loaded.method.output(0);
    REQUIRE(view.ok());
    const int copies = chain.copies();
    const auto host = loaded.method.to_host(*view);
    REQUIRE(host.ok());
    CHECK(host->sizes() == std::vector<int64_t>{2, 1});
    CHECK(floats(host->view()) == std::vector<float>{4, 8});
    CHECK(chain.copies() == copies + 1);
    view->sizes = {2};
    view->strides = {0};
    CHECK(floats(loaded.method.to_host(*view)->view()) == std::vector<float>{4, 4});
    CHECK(device_floats(loaded.method, 0) == std::vector<float>{4, 8});
    view->device.index = 1;
    CHECK(loaded.method.to_host(*view).error().code == Code::unsupported);
    CHECK(floats(loaded.method.to_host(host->view())->view()) == std::vector<float>{4, 8});
  }

  TEST_CASE("a strided input on the device is laid out there, by the backend's copy") {
    Chain chain;
    auto loaded = chain.make(false);
    std::vector<float> data{1, -1, 2, -1};
    REQUIRE(loaded.method.set_input(0, {data.data(), DType::f32, {2}, {2}, kDevice}).ok());
    CHECK(chain.copies() == 1);
    REQUIRE(loaded.method.execute().ok());
    CHECK(device_floats(loaded.method, 0) == std::vector<float>{4, 8});
    CHECK(chain.copies() == 1);
  }

  TEST_CASE("bp.io says which arguments stay on the host") {
    TemporaryFolder folder;
    TestPlugins plugins;
    plugins.stub.execute = [](const bp_run_t& run) {
      CHECK(run.inputs[0].device.type == BP_DEV_CPU);
      CHECK(run.outputs[0].device.type == kStubDevice);
      return BP_OK;
    };
    MethodBuilder b("forward");
    const auto x = b.loose({2});
    const auto y = b.planned({2});
    b.delegate(on_device({0, 1}), {x, y});
    b.inputs({x}).outputs({y});
    auto loaded = load(b, plugins, folder);
    std::vector<float> data{1, 2};
    REQUIRE(run(loaded.method, data, {2}).ok());
    CHECK(plugins.stub.copies == 0);
  }

  TEST_CASE("with deferred sizes nobody waits until the sizes are wanted") {
    TemporaryFolder folder;
    TestPlugins plugins;
    Stub& stub = plugins.stub;
    int finished = 0;
    stub.execute = [&](const bp_run_t& run) {
      CHECK((run.flags & BP_RUN_DEFER_SIZES) != 0);
      CHECK(run.outputs[0].shape[0] == 4);
      static_cast<float*>(run.outputs[0].data)[0] = 5;
      return BP_OK;
    };
    stub.finish = [&](const bp_run_t& run) {
      ++finished;
      const int64_t shape[1] = {1};
      return stub.host->resize_output(run.ctx, 0, 1, shape);
    };
    MethodBuilder b("forward");
    const auto x = b.loose({4});
    const auto y = b.planned({4}, ShapeDynamism::bounded);
    b.delegate(on_device(), {x, y});
    b.inputs({x}).outputs({y});
    auto loaded = load(b, plugins, folder);
    std::vector<float> data{1, 2, 3, 4};
    REQUIRE(run(loaded.method, data, {4}).ok());
    CHECK(finished == 1);
    CHECK(loaded.method.output(0)->sizes == std::vector<int64_t>{1});
    int stream = 0;
    REQUIRE(give(loaded.method, 0, data, {4}).ok());
    REQUIRE(loaded.method.execute({.stream = &stream}).ok());
    CHECK(finished == 1);
    CHECK(device_floats(loaded.method, 0) == std::vector<float>{5});
    CHECK(finished == 2);
    REQUIRE(give(loaded.method, 0, data, {4}).ok());
    REQUIRE(loaded.method.execute({.stream = &stream}).ok());
    stub.finish = [&](const bp_run_t&) {
      return stub.host->fail(stub.host, BP_INVALID_ARGUMENT, 3, to_abi("index 9 of 4"));
    };
    const auto output = loaded.method.output(0);
    REQUIRE_FALSE(output.ok());
    CHECK(output.error().message.find("plugin 'stubdev': index 9 of 4") != std::string::npos);
    REQUIRE_FALSE(loaded.method.output(0).ok());
  }

  TEST_CASE("all device memory and streams are given back") {
    TestPlugins* plugins = nullptr;
    Chain chain;
    plugins = &chain.plugins;
    {
      auto loaded = chain.make(true);
      REQUIRE(run(loaded.method, chain.data, {2}).ok());
      CHECK(plugins->stub.streams == 1);
    }
    CHECK(plugins->stub.allocations == plugins->stub.frees);
    CHECK(plugins->stub.streams == 0);
    CHECK(plugins->stub.unloads == 2);
  }
}
