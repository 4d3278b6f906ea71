// Calls into plugins that misbehave: they throw, give no reason, or say that all went well.
#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "plugin/backend.hpp"

using namespace backplane;

namespace {

// How the plugin below behaves in each of its functions.
enum class Manner { well, throws, throws_number, silent, explains, explains_twice, gives_nothing };
Manner manner = Manner::well;
const bp_host_t* host = nullptr;

bp_str_t str(std::string_view text) {
  return {text.data(), text.size()};
}

template <class T>
int32_t act(T** out) {
  static int object = 0;
  switch (manner) {
    case Manner::throws:
      throw std::runtime_error("oops");
    case Manner::throws_number:
      throw 7;
    case Manner::silent:
      return 1234;
    case Manner::explains:
      return host->fail(host, BP_UNAVAILABLE, 42, str("no device here"));
    case Manner::explains_twice:
      host->fail(host, BP_INTERNAL, 0, str("first"));
      return host->fail(host, BP_OUT_OF_MEMORY, 0, str("second"));
    case Manner::gives_nothing:
      return BP_OK;
    case Manner::well:
      break;
  }
  if (out != nullptr) *out = reinterpret_cast<T*>(&object);
  return BP_OK;
}
int32_t act() {
  return act<void>(nullptr);
}

bp_plugin_t make_table() {
  bp_plugin_t t = {};
  t.magic = BP_MAGIC;
  t.struct_size = sizeof t;
  t.create = [](const bp_host_t* h, bp_array_t, bp_backend_t** out) {
    host = h;
    return act(out);
  };
  t.destroy = [](bp_backend_t*) { act(); };
  t.devices = [](bp_backend_t*, bp_device_t*, uint32_t, uint32_t, uint32_t*) { return act(); };
  t.validate = [](bp_backend_t*, uint32_t, bp_array_t) { return act(); };
  t.partition = t.compile = [](bp_backend_t*, const bp_lower_t*) { return act(); };
  t.check = [](bp_backend_t*, bp_str_t, bp_devref_t, uint32_t*) { return act(); };
  t.load = [](bp_backend_t*, const bp_load_t*, bp_program_t** out) { return act(out); };
  t.unload = [](bp_program_t*) { act(); };
  t.instance_create = [](bp_program_t*, const bp_instance_args_t*, bp_instance_t** out) {
    return act(out);
  };
  t.instance_destroy = [](bp_instance_t*) { act(); };
  t.execute = t.finish = [](bp_instance_t*, const bp_run_t*) { return act(); };
  t.alloc = [](bp_backend_t*, const bp_alloc_t*, void** out) { return act(out); };
  t.free = [](bp_backend_t*, bp_devref_t, void*, void*) { act(); };
  t.copy = [](bp_backend_t*, const bp_tensor_t*, const bp_tensor_t*, void*) { return act(); };
  t.stream_create = [](bp_backend_t*, bp_devref_t, void** out) { return act(out); };
  t.stream_destroy = [](bp_backend_t*, void*) { act(); };
  t.stream_sync = [](bp_backend_t*, void*) { return act(); };
  t.event_record = [](bp_backend_t*, void*, void** out) { return act(out); };
  t.event_wait = [](bp_backend_t*, void*, void*) { return act(); };
  t.event_destroy = [](bp_backend_t*, void*) { act(); };
  t.extension = [](bp_backend_t*, bp_str_t) -> const void* {
    act();
    return nullptr;
  };
  return t;
}

const bp_plugin_t table = make_table();
const Plugin plugin = {"test", "/nowhere/test.so", &table};

template <class T>
Status status_of(const Result<T>& result) {
  if (result.ok()) return Ok{};
  return Error(result.error());
}

// Every function that can fail, in its present manner.
std::vector<Status> call_all(Backend& backend) {
  auto* program = reinterpret_cast<bp_program_t*>(&backend);
  auto* instance = reinterpret_cast<bp_instance_t*>(&backend);
  void* event = nullptr;
  return {backend.validate(BP_PHASE_LOAD, {}),
          status_of(backend.devices()),
          backend.partition({}),
          backend.compile({}),
          status_of(backend.check("", {})),
          status_of(backend.load({})),
          status_of(backend.instance_create(program, nullptr)),
          backend.execute(instance, {}),
          backend.finish(instance, {}),
          status_of(backend.alloc({}, BP_MEM_DEVICE, 8, nullptr)),
          backend.copy({}, {}, nullptr),
          status_of(backend.stream_create({})),
          backend.stream_sync(nullptr),
          backend.event_record(nullptr, event),
          backend.event_wait(nullptr, nullptr)};
}

void give_all_back(const Backend& backend) {
  int object = 0;
  backend.unload(reinterpret_cast<bp_program_t*>(&object));
  backend.instance_destroy(reinterpret_cast<bp_instance_t*>(&object));
  backend.free({}, &object, nullptr);
  backend.stream_destroy(&object);
  backend.event_destroy(&object);
  CHECK(backend.extension("bp.none/1") == nullptr);
}

std::string logged;

}  // namespace

TEST_SUITE("core/plugin") {
  TEST_CASE("a plugin that throws in every function is named, and the host goes on") {
    set_log([](int32_t, std::string_view text) { logged = text; }, BP_LOG_WARN);
    for (const Manner how : {Manner::throws, Manner::throws_number}) {
      manner = how;
      const auto created = Backend::create(plugin, {});
      REQUIRE_FALSE(created.ok());
      CHECK(created.error().message.find("plugin 'test': threw across the boundary in create") ==
            0);
      manner = Manner::well;
      auto backend = Backend::create(plugin, {});
      REQUIRE(backend.ok());
      manner = how;
      for (const Status& status : call_all(*backend)) {
        REQUIRE_FALSE(status.ok());
        CHECK(status.error().code == Code::internal);
        CHECK(status.error().message.find("threw across the boundary") != std::string::npos);
      }
      give_all_back(*backend);
      CHECK(logged.find("plugin 'test': threw across the boundary in extension") == 0);
    }
    CHECK(logged == "plugin 'test': threw across the boundary in destroy");
    manner = Manner::well;
    set_log(nullptr, BP_LOG_WARN);
  }

  TEST_CASE("a code without a reason names the function, and an unknown one is internal") {
    manner = Manner::well;
    auto backend = Backend::create(plugin, {});
    REQUIRE(backend.ok());
    manner = Manner::silent;
    const Status status = backend->compile({});
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code == Code::internal);
    CHECK(status.error().message ==
          "plugin 'test': compile failed with code 1234 and gave no reason");
    for (const Status& each : call_all(*backend)) CHECK_FALSE(each.ok());
    manner = Manner::well;
  }

  TEST_CASE("the reason is the call's own, with the node that is to blame") {
    manner = Manner::well;
    auto backend = Backend::create(plugin, {});
    REQUIRE(backend.ok());
    manner = Manner::explains;
    const Status status = backend->compile({});
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().code == Code::unavailable);
    CHECK(status.error().message == "plugin 'test': no device here");
    CHECK(call_node() == 42);
    manner = Manner::explains_twice;
    CHECK(backend->compile({}).error().message == "plugin 'test': first");
    CHECK(call_node() == 0);
    manner = Manner::silent;
    CHECK(backend->compile({}).error().message.find("gave no reason") != std::string::npos);
    manner = Manner::well;
  }

  TEST_CASE("success without what was to be made is an error") {
    manner = Manner::gives_nothing;
    CHECK(Backend::create(plugin, {}).error().message ==
          "plugin 'test': create succeeded, but gave nothing");
    manner = Manner::well;
    auto backend = Backend::create(plugin, {});
    REQUIRE(backend.ok());
    manner = Manner::gives_nothing;
    CHECK_FALSE(backend->load({}).ok());
    CHECK_FALSE(backend->alloc({}, BP_MEM_DEVICE, 8, nullptr).ok());
    manner = Manner::well;
  }

  TEST_CASE("what a plugin does not offer is unsupported, or needs nothing done") {
    manner = Manner::well;
    bp_plugin_t bare = make_table();
    bare.struct_size = offsetof(bp_plugin_t, devices);  // the rest lies past its end
    const Plugin small = {"small", "", &bare};
    auto backend = Backend::create(small, {});
    REQUIRE(backend.ok());
    CHECK(backend->compile({}).error().code == Code::unsupported);
    CHECK(backend->load({}).error().message == "plugin 'small' does not offer running (load)");
    CHECK(backend->validate(BP_PHASE_LOAD, {}).ok());
    CHECK(backend->devices()->empty());
    CHECK(backend->check("x", {})->first == BP_FIT);
    CHECK(backend->extension("bp.state/1") == nullptr);
  }

  TEST_CASE("a reason of any length is cut between characters") {
    clear_reason();
    std::string text(5000, 'x');
    for (size_t i = 0; i + 1 < text.size(); i += 2) text.replace(i, 2, "\xc3\xa9");
    host_table().fail(&host_table(), BP_INTERNAL, 0, str("y" + text));
    const std::string kept = call_reason();
    CHECK(kept.size() == 1999);
    CHECK(kept.substr(1) == text.substr(0, 1998));
  }

  TEST_CASE("each thread has its own reason") {
    clear_reason();
    host_table().fail(&host_table(), BP_INTERNAL, 1, str("mine"));
    std::thread([] {
      CHECK(call_reason().empty());
      host_table().fail(&host_table(), BP_INTERNAL, 2, str("yours"));
    }).join();
    CHECK(call_reason() == "mine");
    CHECK(call_node() == 1);
  }

  TEST_CASE("calls that may not overlap are kept apart") {
    static std::atomic<int> inside = 0;
    static std::atomic<bool> overlapped = false;
    manner = Manner::well;
    bp_plugin_t slow = make_table();
    slow.compile = [](bp_backend_t*, const bp_lower_t*) -> int32_t {
      if (inside.fetch_add(1) != 0) overlapped = true;
      std::this_thread::yield();
      inside.fetch_sub(1);
      return BP_OK;
    };
    const Plugin serial = {"serial", "", &slow};
    auto backend = Backend::create(serial, {});
    REQUIRE(backend.ok());
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 200; ++k) (void)backend->compile({});
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK_FALSE(overlapped);
  }
}
