// Delegates that work in host memory: what is handed over, what comes back, and who is told what.
#include <cstring>

#include "loaded.hpp"

using namespace backplane;
using namespace backplane::test;

namespace {

int32_t fail(const Stub& stub, int32_t code, std::string_view why) {
  return stub.host->fail(stub.host, code, 0, to_abi(why));
}

// y, of as many rows as the number n says: x's first rows; m = 2 * n, flag = n > 1.
int32_t take_rows(Stub& stub, const bp_run_t& run) {
  const int64_t n = *static_cast<const int64_t*>(run.inputs[1].data);
  const int64_t shape[2] = {n, 2};
  if (const int32_t code = stub.host->resize_output(run.ctx, 0, 2, shape); code != BP_OK)
    return code;
  std::memcpy(run.outputs[0].data, run.inputs[0].data, static_cast<size_t>(n) * 2 * sizeof(float));
  *static_cast<int64_t*>(run.outputs[1].data) = 2 * n;
  *static_cast<bool*>(run.outputs[2].data) = n > 1;
  return BP_OK;
}

struct Rows {
  TemporaryFolder folder;
  TestPlugins plugins;
  Loaded loaded = make();

  Loaded make() {
    plugins.stub.execute = [this](const bp_run_t& run) { return take_rows(plugins.stub, run); };
    MethodBuilder b("forward");
    const auto x = b.loose({4, 2});
    const auto n = b.value(int64_t{0});
    const auto y = b.planned({3, 2}, ShapeDynamism::bounded);
    const auto m = b.value(int64_t{0});
    const auto flag = b.value(false);
    b.delegate(delegate_of("backplane.stub", {2, 3, {}}), {x, n, y, m, flag});
    b.inputs({x, n}).outputs({y, m, flag});
    ProgramFile file;
    file.add(b);
    file.signature.methods.push_back(
        {"forward", {}, {{}, {"n", {}, runtime::DimRule{}, -1}}, {{}, {}, {}}});
    return load(file.write(folder), plugins);
  }
  Status run_with(int64_t n) {
    BP_TRY(loaded.method.set_input(1, n));
    return run(loaded.method, data, {4, 2});
  }
  std::vector<float> data{1, 2, 3, 4, 5, 6, 7, 8};
};

}  // namespace

TEST_SUITE("core/runtime/delegate") {
  TEST_CASE("tensors, numbers and sizes cross both ways") {
    Rows rows;
    for (const int64_t n : {2, 0, 3, 1}) {
      REQUIRE(rows.run_with(n).ok());
      CHECK(rows.loaded.method.output(0)->sizes == std::vector<int64_t>{n, 2});
      const std::vector<float> expected(rows.data.begin(), rows.data.begin() + 2 * n);
      CHECK(floats(rows.loaded.method, 0) == expected);
      CHECK(std::get<int64_t>(*rows.loaded.method.output_scalar(1)) == 2 * n);
      CHECK(std::get<bool>(*rows.loaded.method.output_scalar(2)) == (n > 1));
    }
  }

  TEST_CASE(
      "an output over its bound, and a backend's own reason, are named and leave all usable") {
    Rows rows;
    CHECK(fails(
        rows.run_with(4), Code::output_too_small,
        "method 'forward': instruction 0, delegate backplane.stub: plugin 'stub': dimension 0 "
        "of output 0 would be 4, more than its bound 3"));
    rows.plugins.stub.execute = [&](const bp_run_t&) {
      return fail(rows.plugins.stub, BP_DEVICE_LOST, "the fan stopped");
    };
    CHECK(fails(rows.run_with(1), Code::device_lost, "plugin 'stub': the fan stopped"));
    rows.plugins.stub.execute = [](const bp_run_t&) { return 4711; };
    CHECK(fails(rows.run_with(1), Code::internal, "4711"));
    rows.plugins.stub.execute = [&](const bp_run_t& run) {
      return take_rows(rows.plugins.stub, run);
    };
    CHECK(rows.run_with(1).ok());
  }

  TEST_CASE(
      "a call says its bounds, its cancel flag, and when addresses are those of the last call") {
    Rows rows;
    std::vector<uint64_t> bindings;
    const volatile int32_t* cancel = nullptr;
    rows.plugins.stub.execute = [&](const bp_run_t& run) {
      CHECK(run.struct_size == sizeof(bp_run_t));
      CHECK(run.num_inputs == 2);
      CHECK(run.num_outputs == 3);
      CHECK(run.stream == nullptr);
      CHECK(BP_AT(bp_tensor_info_t, run.input_info, 0)->upper_bounds == nullptr);
      CHECK(BP_AT(bp_tensor_info_t, run.output_info, 0)->upper_bounds[0] == 3);
      CHECK(reinterpret_cast<uintptr_t>(run.outputs[0].data) % 64 == 0);
      bindings.push_back(run.binding);
      cancel = run.cancel;
      return take_rows(rows.plugins.stub, run);
    };
    volatile int32_t flag = 0;
    REQUIRE(rows.run_with(2).ok());
    REQUIRE(rows.run_with(2).ok());
    rows.data.reserve(1000);  // elsewhere now
    REQUIRE(rows.loaded.method.set_input(1, int64_t{2}).ok());
    REQUIRE(give(rows.loaded.method, 0, rows.data, {4, 2}).ok());
    REQUIRE(rows.loaded.method.execute({.cancel = &flag}).ok());
    CHECK((cancel == &flag));
    CHECK(bindings[0] != 0);
    CHECK(bindings[0] == bindings[1]);
    CHECK(bindings[1] != bindings[2]);
  }

  TEST_CASE("a backend gets payload, specs, options with defaults, and data by key") {
    TemporaryFolder folder;
    TestPlugins plugins;
    ProgramFile file;
    MethodBuilder b("forward");
    const auto x = b.loose({1});
    const auto y = b.planned({1});
    pte::Delegate delegate = delegate_of("backplane.stub", {1, 1, {}}, file.floats({3, 4}));
    delegate.compile_specs.push_back({"precision", {'f', 'p'}});
    b.delegate(std::move(delegate), {x, y});
    b.inputs({x}).outputs({y});
    file.add(b);
    const std::string path = file.write(folder, "model.pte", {{"w", {5, 6}}});
    std::string level;
    bool checked = false;
    plugins.stub.load = [&](const bp_load_t& request) {
      CHECK(to_view(request.method) == "forward");
      CHECK(to_view(request.delegate_id) == "backplane.stub");
      CHECK(request.num_threads >= 1);
      CHECK(request.payload.size == 8);
      CHECK(static_cast<const float*>(request.payload.ptr)[1] == 4);
      CHECK(to_view(BP_AT(bp_kv_t, request.specs, 1)->value) == "fp");
      level = to_view(BP_AT(bp_kv_t, request.options, 0)->value);
      bp_blob_t blob{};
      CHECK(plugins.stub.host->data_get(request.source, to_abi("w"), &blob) == BP_OK);
      CHECK(blob.size == 8);
      CHECK(static_cast<const float*>(blob.ptr)[0] == 5);
      CHECK(reinterpret_cast<uintptr_t>(blob.ptr) % blob.align == 0);
      CHECK((blob.id_lo | blob.id_hi) != 0);
      CHECK(plugins.stub.host->data_get(request.source, to_abi("v"), &blob) == BP_NOT_FOUND);
      checked = true;
      return BP_OK;
    };
    { load(path, plugins); }
    CHECK(checked);
    CHECK(level == "1");
    CHECK(plugins.stub.unloads == 1);
    CHECK(plugins.stub.instances == 0);
    CHECK(Program::load(path, plugins, {.options = {{"stub:level", "3"}}}).ok());
    CHECK(level == "3");
    CHECK(Program::load(path, plugins, {.options = {{"level", "4"}}}).ok());
    CHECK(level == "4");
    for (const auto& [key, value] : {std::pair{"level", "10"}, {"stub:lvl", "1"}, {"other", "1"}}) {
      const auto program = Program::load(path, plugins, {.options = {{key, value}}});
      REQUIRE_FALSE(program.ok());
      CHECK(program.error().code == Code::invalid_argument);
    }
  }

  TEST_CASE("a delegate that does not load is named with its method") {
    TemporaryFolder folder;
    TestPlugins plugins;
    plugins.stub.load = [&](const bp_load_t&) {
      return fail(plugins.stub, BP_INCOMPATIBLE, "a payload of version 3");
    };
    MethodBuilder b("forward");
    const auto x = b.loose({1});
    b.delegate(delegate_of("backplane.stub", {1, 1, {}}), {x, b.planned({1})});
    b.inputs({x});
    ProgramFile file;
    file.add(b);
    const auto program = Program::load(file.write(folder), plugins);
    REQUIRE_FALSE(program.ok());
    CHECK(program.error().code == Code::incompatible);
    CHECK(program.error().message.find("model.pte: method 'forward', delegate 0 (backplane.stub): "
                                       "plugin 'stub': a payload of version 3") !=
          std::string::npos);
  }

  TEST_CASE("without bp.io the tensors that nothing has made are the outputs") {
    TemporaryFolder folder;
    TestPlugins plugins;
    uint32_t inputs = 0;
    plugins.stub.execute = [&](const bp_run_t& run) {
      inputs = run.num_inputs;
      return BP_OK;
    };
    ProgramFile file;
    MethodBuilder b("forward");
    const auto x = b.loose({1});
    const auto c = b.constant({1}, file.constant({1}));
    const auto y = b.planned({1});
    const auto z = b.planned({1});
    b.call("aten::add.out", {x, x, b.value(int64_t{1}), y, y});
    b.delegate({"backplane.stub", {}, {}}, {y, c, b.state({1}, "s"), z});
    b.inputs({x}).outputs({z});
    file.add(b);
    auto loaded = load(file.write(folder), plugins);
    std::vector<float> in{1};
    REQUIRE(run(loaded.method, in, {1}).ok());
    CHECK(inputs == 3);
  }

  TEST_CASE("a backend's sessions follow ours: made, reset, copied and destroyed") {
    TemporaryFolder folder;
    TestPlugins plugins;
    MethodBuilder b("forward");
    b.delegate(delegate_of("backplane.stubstate", {0, 1, {}}), {b.planned({1})});
    ProgramFile file;
    file.add(b);
    auto program = Program::load(file.write(folder), plugins);
    REQUIRE(program.ok());
    {
      auto session = program->session();
      auto method = session->method("forward");
      const auto resets = [&] { return *reinterpret_cast<int*>(plugins.stub.last_session); };
      CHECK(resets() == 0);
      REQUIRE(session->reset().ok());
      CHECK(resets() == 1);
      auto copy = session->copy();
      REQUIRE(copy->reset().ok());
      CHECK(resets() == 1);
      auto other = copy->method("forward");
      CHECK(resets() == 2);
      CHECK(plugins.stub.sessions == 2);
    }
    CHECK(plugins.stub.sessions == 0);
    CHECK(plugins.stub.instances == 0);
  }
}
