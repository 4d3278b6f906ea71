// A plugin's whole life across the boundary: claims, results, data, a run; and what it throws.
#include <doctest/doctest.h>

#include <backplane/array.hpp>

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "fixture.hpp"
#include "plugin/backend.hpp"

using namespace backplane;

namespace {

class Sink final : public SinkHandler {
 public:
  Status claim(const bp_claim_t& claim) override {
    for (uint32_t i = 0; i < claim.num_nodes; ++i) claimed.push_back(claim.nodes[i]);
    return Ok{};
  }
  Status refuse(int32_t, int32_t node, std::string_view reason) override {
    refused[node] = reason;
    return Ok{};
  }
  Status emit(const bp_emit_t& emitted) override {
    if (full) return Error{Code::internal, "the disk is full"};
    const std::string bytes(static_cast<const char*>(emitted.ptr), emitted.size);
    if (emitted.kind == BP_EMIT_PAYLOAD) payload += bytes;
    if (emitted.kind == BP_EMIT_DATUM) data[std::string(to_view(emitted.key))] = bytes;
    if (emitted.kind == BP_EMIT_FINGERPRINT) fingerprint += bytes;
    return Ok{};
  }
  std::vector<int32_t> claimed;
  std::map<int32_t, std::string> refused;
  std::map<std::string, std::string> data;
  std::string payload, fingerprint;
  bool full = false;
};

class Data final : public DataHandler {
 public:
  explicit Data(const std::map<std::string, std::string>& given) : data(given) {}
  Result<bp_blob_t> get(std::string_view key) override {
    const auto found = data.find(std::string(key));
    if (found == data.end()) return Error{Code::not_found, "no datum '" + std::string(key) + "'"};
    return bp_blob_t{found->second.data(), found->second.size(), 8, 0, 0};
  }
  std::map<std::string, std::string> data;
};

class Outputs final : public RunHandler {
 public:
  explicit Outputs(bp_tensor_t& tensor) : tensor_(tensor) {}
  Status resize_output(uint32_t, std::span<const int64_t> shape) override {
    if (shape[0] > 4) return Error{Code::output_too_small, "output 0 has room for 4"};
    tensor_.shape[0] = shape[0];
    return Ok{};
  }

 private:
  bp_tensor_t& tensor_;
};

// Nodes of these operators; each element longer than plugins know, as of a later host.
struct LaterNode {
  bp_node_t node;
  uint64_t more[5];
};
struct Request {
  explicit Request(std::vector<std::string_view> ops) {
    for (size_t i = 0; i < ops.size(); ++i) {
      LaterNode later = {};
      later.node.op = to_abi(ops[i]);
      later.node.debug_id = 100 + i;
      nodes.push_back(later);
    }
    graph.struct_size = sizeof graph;
    graph.nodes = {nodes.data(), static_cast<uint32_t>(nodes.size()), sizeof(LaterNode)};
    raw.struct_size = sizeof raw;
    raw.graph = &graph;
    raw.sink = to_abi(static_cast<SinkHandler&>(sink));
  }
  std::vector<LaterNode> nodes;
  bp_graph_t graph = {};
  bp_lower_t raw = {};
  Sink sink;
};

const Plugin& open(Plugins& plugins, const char* name) {
  const auto plugin = plugins.find(name);
  REQUIRE_MESSAGE(plugin.ok(), plugin.error().message);
  return **plugin;
}

// Lowers, loads and runs `x * factor`.
void live(const Plugin& plugin) {
  auto backend = Backend::create(plugin, {});
  REQUIRE(backend.ok());
  Request request({"test::scale", "test::other", "test::scale"});
  REQUIRE(backend->partition(request.raw).ok());
  CHECK(request.sink.claimed == std::vector<int32_t>{0, 2});
  CHECK(request.sink.refused.at(1) == "not test::scale");

  const auto specs = check_compile_specs(*plugin.table, {{"factor", "-3.5"}}, "forward");
  REQUIRE(specs.ok());
  REQUIRE(backend->validate(BP_PHASE_COMPILE, specs->options).ok());
  const OptionViews views(specs->options);
  Request part({"test::scale"});
  part.raw.options = views.get();
  REQUIRE(backend->compile(part.raw).ok());
  CHECK(part.sink.fingerprint == plugin.name + " 1.0");
  CHECK(backend->check(part.sink.fingerprint, {})->first == BP_FIT);
  const auto fit = backend->check("of another", {});
  CHECK(fit->first == BP_FIT_RECOMPILE);
  CHECK(fit->second == "made by another version");

  Data data(part.sink.data);
  bp_load_t load = {};
  load.struct_size = sizeof load;
  load.source = to_abi(static_cast<DataHandler&>(data));
  const auto program = backend->load(load);
  REQUIRE(program.ok());
  const auto instance = backend->instance_create(*program, nullptr);
  REQUIRE(instance.ok());

  std::array<float, 3> x = {1, -2, 4};
  std::array<float, 4> y = {};
  int64_t shape = 3, stride = 1, out_shape = 4;
  const bp_tensor_t in = {x.data(), {BP_DEV_CPU, 0}, 1, {BP_DT_FLOAT, 32, 1}, &shape, &stride, 0};
  bp_tensor_t out = {y.data(), {BP_DEV_CPU, 0}, 1, {BP_DT_FLOAT, 32, 1}, &out_shape, &stride, 0};
  Outputs outputs(out);
  bp_run_t run = {};
  run.struct_size = sizeof run;
  run.num_inputs = run.num_outputs = 1;
  run.inputs = &in;
  run.outputs = &out;
  run.ctx = to_abi(static_cast<RunHandler&>(outputs));
  REQUIRE(backend->execute(*instance, run).ok());
  CHECK(out_shape == 3);
  CHECK(y == std::array<float, 4>{-3.5F, 7, -14, 0});

  shape = 5;
  const Status too_small = backend->execute(*instance, run);
  REQUIRE_FALSE(too_small.ok());
  CHECK(too_small.error().code == Code::output_too_small);
  CHECK(too_small.error().message == "plugin '" + plugin.name + "': output 0 has room for 4");
  int32_t cancel = 1;
  run.cancel = &cancel;
  CHECK(backend->execute(*instance, run).error().code == Code::cancelled);
  backend->instance_destroy(*instance);
  backend->unload(*program);
}

void fail(const Plugin& plugin) {
  auto backend = Backend::create(plugin, {});
  REQUIRE(backend.ok());
  Request wrong({"test::scale", "test::other"});
  const Status refused = backend->compile(wrong.raw);
  CHECK(refused.error().message == "plugin '" + plugin.name + "': only test::scale");
  CHECK(call_node() == 101);
  Request thrown({"test::throw"});
  CHECK(backend->compile(thrown.raw).error().message ==
        "plugin '" + plugin.name + "': unexpected exception: thrown in compile");
  Request full({"test::scale"});
  full.sink.full = true;
  CHECK(backend->compile(full.raw).error().message ==
        "plugin '" + plugin.name + "': the disk is full");
  Data nothing({});
  bp_load_t load = {};
  load.struct_size = sizeof load;
  load.source = to_abi(static_cast<DataHandler&>(nothing));
  CHECK(backend->load(load).error().message == "plugin '" + plugin.name + "': no datum 'factor'");
  CHECK_FALSE(backend->validate(BP_PHASE_COMPILE, {{"factor", "0"}}).ok());
  CHECK(backend->copy({}, {}, nullptr).error().code == Code::unsupported);
}

}  // namespace

TEST_SUITE("abi") {
  TEST_CASE("a plugin lives from create to destroy, whatever compiler and C++ library it has") {
    const test::PluginFolder folder;
    for (const char* name : {"modern", "visible", "other_cxx"}) {
      if (!folder.was_built(name)) continue;
      CAPTURE(name);
      folder.add(name, name, test::kModern);
      Plugins plugins = folder.plugins();
      live(open(plugins, name));
      fail(open(plugins, name));
      for (int i = 0; i < 100; ++i) CHECK(Backend::create(open(plugins, name), {}).ok());
    }
  }

  TEST_CASE("a plugin in C claims, compiles and says which node it can't") {
    const test::PluginFolder folder;
    folder.add("plain", "plain", test::kPlain);
    Plugins plugins = folder.plugins();
    auto backend = Backend::create(open(plugins, "plain"), {});
    REQUIRE(backend.ok());
    Request request({"aten::relu", "aten::add.Tensor", "aten::relu"});
    REQUIRE(backend->partition(request.raw).ok());
    CHECK(request.sink.claimed == std::vector<int32_t>{0, 2});
    CHECK(backend->compile(request.raw).error().message == "plugin 'plain': only aten::relu");
    CHECK(call_node() == 101);
    Request part({"aten::relu", "aten::relu"});
    REQUIRE(backend->compile(part.raw).ok());
    CHECK(part.sink.payload == "rr");
    CHECK(backend->load({}).error().code == Code::unsupported);
  }

  TEST_CASE("the longer table and options of a later minor version are read as far as known") {
    const test::PluginFolder folder;
    folder.add("later");
    Plugins plugins = folder.plugins();
    const Plugin& later = open(plugins, "later");
    CHECK(later.table->struct_size > sizeof(bp_plugin_t));
    const auto options = check_options(*later.table, BP_PHASE_CREATE, {{"second", "5"}});
    REQUIRE(options.ok());
    CHECK(*options == Options{{"first", "1"}, {"second", "5"}});
    CHECK(Backend::create(later, *options).ok());
  }

  TEST_CASE("exceptions that leave a library are caught, also those of another C++ library") {
    const test::PluginFolder folder;
    for (const char* library : {"thrower", "thrower_other_cxx"}) {
      if (!folder.was_built(library)) continue;
      CAPTURE(library);
      folder.add(library);
      Plugins plugins = folder.plugins();
      const auto plugin = plugins.open(folder.library(library));
      REQUIRE(plugin.ok());
      CHECK(Backend::create(**plugin, {})
                .error()
                .message.find("plugin 'thrower': threw across the boundary in create") == 0);
      auto backend = Backend::create(**plugin, {{"survive", "true"}});
      REQUIRE(backend.ok());
      CHECK_FALSE(backend->compile({}).ok());
      CHECK_FALSE(backend->load({}).ok());
      int object = 0;
      CHECK_FALSE(backend->execute(reinterpret_cast<bp_instance_t*>(&object), {}).ok());
      backend->unload(reinterpret_cast<bp_program_t*>(&object));
    }
  }
}
