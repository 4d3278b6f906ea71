#include <backplane/array.hpp>

#include <malloc.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "check/checks.hpp"
#include "plugin/backend.hpp"
#include "plugin/options.hpp"

namespace backplane::cli {
namespace {

namespace fs = std::filesystem;
using sdk::Array;
using sdk::view;

Error broken(std::string what) {
  return {Code::internal, std::move(what)};
}

Result<Backend> make_backend(const Plugin& plugin) {
  BP_ASSIGN_OR_RETURN(const Options options, check_options(*plugin.table, BP_PHASE_CREATE, {}));
  return Backend::create(plugin, options);
}

int64_t count_entries(const char* folder) {
  int64_t count = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++count;
  return count;
}

Status opens(const Target& target) {
  Plugins plugins = Plugins::standard();
  BP_TRY(target.open(plugins));
  return Ok{};
}

Status loading_does_no_work(const Target& target) {
  Plugins plugins = Plugins::standard();
  const int64_t threads = count_entries("/proc/self/task");
  const int64_t files = count_entries("/proc/self/fd");
  BP_TRY(target.open(plugins));
  if (count_entries("/proc/self/task") != threads)
    return broken("a thread runs after loading; start it in create");
  if (count_entries("/proc/self/fd") != files)
    return broken("a file stays open after loading; open it in create");
  return Ok{};
}

Status options_are_sound(const Target& target) {
  Plugins plugins = Plugins::standard();
  BP_ASSIGN_OR_RETURN(const Plugin* plugin, target.open(plugins));
  for (const bp_option_t& option : Array<bp_option_t>(plugin->table->options)) {
    const std::string name(view(option.name));
    if (option.doc.len == 0) return broken("option '" + name + "' has no doc");
    if (option.phases == 0) return broken("option '" + name + "' is of no phase");
    if (option.dflt.len == 0) continue;
    for (const uint32_t phase : {BP_PHASE_CREATE, BP_PHASE_COMPILE, BP_PHASE_LOAD, BP_PHASE_RUN}) {
      if ((option.phases & phase) == 0) continue;
      const Options given = {{name, std::string(view(option.dflt))}};
      const Status fits = phase == BP_PHASE_COMPILE ? [&]() -> Status {
        BP_TRY(check_compile_specs(*plugin->table, given, "forward"));
        return Ok{};
      }()
          : [&]() -> Status {
              BP_TRY(check_options(*plugin->table, phase, given));
              return Ok{};
            }();
      if (!fits.ok()) return broken("its own default is refused: " + fits.error().message);
    }
  }
  return Ok{};
}

Status lives_a_hundred_times(const Target& target) {
  constexpr int kWarmUp = 10;
  constexpr int kCycles = 100;
  constexpr size_t kSlack = 4096;  // of what the allocator itself keeps
  Plugins plugins = Plugins::standard();
  BP_ASSIGN_OR_RETURN(const Plugin* plugin, target.open(plugins));
  size_t before = 0;
  for (int i = 0; i < kWarmUp + kCycles; ++i) {
    if (i == kWarmUp) before = mallinfo2().uordblks;
    BP_TRY(make_backend(*plugin));
  }
  const size_t after = mallinfo2().uordblks;
  if (after <= before + kSlack) return Ok{};
  return broken("memory grew by " + std::to_string(after - before) + " bytes over " +
                std::to_string(kCycles) + " times create and destroy");
}

Status lives_in_threads(const Target& target) {
  Plugins plugins = Plugins::standard();
  BP_ASSIGN_OR_RETURN(const Plugin* plugin, target.open(plugins));
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) failed += make_backend(*plugin).ok() ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failed == 0) return Ok{};
  return broken(std::to_string(failed) + " of 160 times, create failed beside other threads");
}

Status leaves_when_the_process_ends(const Target& target) {
  Plugins plugins = Plugins::standard();
  BP_ASSIGN_OR_RETURN(const Plugin* plugin, target.open(plugins));
  BP_ASSIGN_OR_RETURN(Backend backend, make_backend(*plugin));
  // Never destroyed: the process exits with it, and that must end well too.
  new Backend(std::move(backend));  // NOLINT
  return Ok{};
}

// The host without what a plugin may not count on.
Status needs_no_optional_service(const Target& target) {
  Plugins plugins = Plugins::standard();
  BP_ASSIGN_OR_RETURN(const Plugin* plugin, target.open(plugins));
  static bp_host_t host = host_table();  // valid until destroy returns
  host.log = nullptr;
  host.progress = nullptr;
  host.span = nullptr;
  host.extension = nullptr;
  BP_ASSIGN_OR_RETURN(const Options options, check_options(*plugin->table, BP_PHASE_CREATE, {}));
  const OptionViews views(options);
  bp_backend_t* backend = nullptr;
  clear_reason();
  const int32_t code = plugin->table->create(&host, views.get(), &backend);
  if (code == BP_UNAVAILABLE) return Error{Code::unsupported, call_reason()};
  if (code != BP_OK) return broken("create answers " + std::to_string(code) + ": " + call_reason());
  plugin->table->destroy(backend);
  return Ok{};
}

Status knows_its_extensions(const Target& target) {
  Plugins plugins = Plugins::standard();
  BP_ASSIGN_OR_RETURN(const Plugin* plugin, target.open(plugins));
  BP_ASSIGN_OR_RETURN(const Backend backend, make_backend(*plugin));
  if (backend.extension("no.such.extension/1") == nullptr) return Ok{};
  return broken("extension(\"no.such.extension/1\") gives a table; answer NULL to unknown ids");
}

Status describes_devices(const Target& target) {
  Plugins plugins = Plugins::standard();
  BP_ASSIGN_OR_RETURN(const Plugin* plugin, target.open(plugins));
  if (!BP_HAS(plugin->table, devices)) return Error{Code::unsupported, "it has no devices"};
  BP_ASSIGN_OR_RETURN(Backend backend, make_backend(*plugin));
  BP_ASSIGN_OR_RETURN(const std::vector<bp_device_t> devices, backend.devices());
  for (const bp_device_t& device : devices) {
    if (device.name.len == 0) return broken("a device has no name");
  }
  return Ok{};
}

// A data source that has nothing.
struct NoData final : DataHandler {
  Result<bp_blob_t> get(std::string_view key) override {
    return Error{Code::not_found, "no datum '" + std::string(key) + "'"};
  }
};

Status refuses_strange_payloads(const Target& target) {
  Plugins plugins = Plugins::standard();
  BP_ASSIGN_OR_RETURN(const Plugin* plugin, target.open(plugins));
  if (!BP_HAS(plugin->table, load)) return Error{Code::unsupported, "it loads nothing"};
  BP_ASSIGN_OR_RETURN(const Backend backend, make_backend(*plugin));
  BP_ASSIGN_OR_RETURN(const Options options, check_options(*plugin->table, BP_PHASE_LOAD, {}));
  const OptionViews views(options);
  const std::string id = "backplane." + plugin->name;
  uint32_t random = 1;
  for (size_t size = 0; size <= 4096; size = size * 2 + 1) {
    alignas(64) static char bytes[4096];
    for (char& byte : bytes)
      byte = static_cast<char>((random = random * 1664525 + 1013904223) >> 24);
    NoData data;
    bp_load_t request = {};
    request.struct_size = sizeof request;
    request.payload.align = 64;
    request.payload.ptr = bytes;
    request.payload.size = size;
    request.source = to_abi(data);
    request.options = views.get();
    request.delegate_id = to_abi(id);
    request.method = to_abi(std::string_view("forward"));
    request.device = {BP_DEV_CPU, 0};
    request.num_threads = 1;
    const auto program = backend.load(request);
    if (!program.ok()) continue;
    backend.unload(*program);
    if (size > 0) return broken("loads " + std::to_string(size) + " random bytes as a payload");
  }
  return Ok{};
}

}  // namespace

Result<const Plugin*> Target::open(Plugins& plugins) const {
  if (name.find('/') == std::string::npos) return plugins.find(name);
  return plugins.open(fs::absolute(name).string());
}

std::vector<Check> lifecycle_checks(const Target& target) {
  constexpr struct {
    const char* name;
    Status (*run)(const Target&);
  } kChecks[] = {
      {"the library opens and its table is sound", opens},
      {"loading it starts no thread and keeps no file open", loading_does_no_work},
      {"every option has a doc, a phase and a default that it takes itself", options_are_sound},
      {"a hundred times create and destroy lose no memory", lives_a_hundred_times},
      {"backends live in eight threads at once", lives_in_threads},
      {"a process may end with a backend in it", leaves_when_the_process_ends},
      {"it does without a host's log, progress, spans and extensions", needs_no_optional_service},
      {"an unknown extension is NULL", knows_its_extensions},
      {"its devices have names", describes_devices},
      {"payloads of random bytes are refused", refuses_strange_payloads},
  };
  std::vector<Check> checks;
  for (const auto& check : kChecks) {
    checks.push_back({check.name, [run = check.run, target] { return run(target); }});
  }
  return checks;
}

}  // namespace backplane::cli
