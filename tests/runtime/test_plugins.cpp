#include "test_plugins.hpp"

#include <cstdlib>

#include "runtime/tensor_state.hpp"

namespace backplane::test {
namespace {

Stub* stub = nullptr;

bp_backend_t* backend() {
  return reinterpret_cast<bp_backend_t*>(stub);
}

int32_t create(const bp_host_t* host, bp_array_t, bp_backend_t** out) {
  stub->host = host;
  *out = backend();
  return BP_OK;
}
void destroy(bp_backend_t*) {}
int32_t devices(bp_backend_t*, bp_device_t* out, uint32_t, uint32_t capacity, uint32_t* n) {
  *n = 1;
  if (capacity > 0) {
    out->score = 1;
    out->device = {kStubDevice, 0};
    out->name = BP_TEXT("stub device");
  }
  return BP_OK;
}
int32_t load(bp_backend_t*, const bp_load_t* request, bp_program_t** out) {
  ++stub->loads;
  *out = reinterpret_cast<bp_program_t*>(stub);
  return stub->load ? stub->load(*request) : BP_OK;
}
void unload(bp_program_t*) {
  ++stub->unloads;
}
int32_t instance_create(bp_program_t*, const bp_instance_args_t* args, bp_instance_t** out) {
  ++stub->instances;
  stub->last_session = args->session;
  *out = reinterpret_cast<bp_instance_t*>(stub);
  return BP_OK;
}
void instance_destroy(bp_instance_t*) {
  --stub->instances;
}
int32_t execute(bp_instance_t*, const bp_run_t* run) {
  return stub->execute ? stub->execute(*run) : BP_OK;
}
int32_t finish(bp_instance_t*, const bp_run_t* run) {
  return stub->finish ? stub->finish(*run) : BP_OK;
}
int32_t alloc(bp_backend_t*, const bp_alloc_t* request, void** out) {
  ++stub->allocations;
  *out = std::aligned_alloc(64, (request->size + 63) / 64 * 64);
  return BP_OK;
}
void free_memory(bp_backend_t*, bp_devref_t, void* memory, void*) {
  ++stub->frees;
  std::free(memory);
}
int32_t copy_tensor(bp_backend_t*, const bp_tensor_t* to, const bp_tensor_t* from, void* stream) {
  ++stub->copies;
  if (stub->copy) return stub->copy(*to, *from, stream);
  runtime::copy_elements(*from, *to);
  return BP_OK;
}
int32_t stream_create(bp_backend_t*, bp_devref_t, void** out) {
  ++stub->streams;
  *out = &stub->streams;
  return BP_OK;
}
void stream_destroy(bp_backend_t*, void*) {
  --stub->streams;
}
int32_t stream_sync(bp_backend_t*, void*) {
  ++stub->syncs;
  return BP_OK;
}

// A session is a number: how often it was reset.
int32_t session_create(bp_backend_t*, bp_program_t* const*, uint32_t, bp_session_t** out) {
  ++stub->sessions;
  *out = reinterpret_cast<bp_session_t*>(new int(0));
  return BP_OK;
}
void session_destroy(bp_session_t* session) {
  --stub->sessions;
  delete reinterpret_cast<int*>(session);
}
int32_t session_reset(bp_session_t* session) {
  ++*reinterpret_cast<int*>(session);
  return BP_OK;
}
int32_t session_copy(bp_session_t* from, bp_session_t** out) {
  ++stub->sessions;
  *out = reinterpret_cast<bp_session_t*>(new int(*reinterpret_cast<int*>(from)));
  return BP_OK;
}
constexpr bp_state_t kState = {sizeof(bp_state_t), 0,           session_create, session_destroy,
                               session_reset,      session_copy};
const void* state_extension(bp_backend_t*, bp_str_t id) {
  return to_view(id) == BP_EXT_STATE ? &kState : nullptr;
}

constexpr bp_option_t kOptions[] = {{BP_TEXT("level"), BP_TEXT("how hard it tries"), BP_TEXT("1"),
                                     BP_TEXT(""), BP_OPT_INT, BP_PHASE_LOAD, 0, 9}};
constexpr bp_device_kind_t kKinds[] = {{BP_TEXT("stub"), kStubDevice, 0}};

bp_plugin_t host_plugin(std::string_view name) {
  bp_plugin_t table{};
  table.magic = BP_MAGIC;
  table.struct_size = sizeof(table);
  table.name = to_abi(name);
  table.options = BP_ARRAY(kOptions);
  table.create = create;
  table.destroy = destroy;
  table.load = load;
  table.unload = unload;
  table.instance_create = instance_create;
  table.instance_destroy = instance_destroy;
  table.execute = execute;
  return table;
}

const bp_plugin_t& table(std::string_view name) {
  static const bp_plugin_t host = host_plugin("stub");
  static const bp_plugin_t device = [] {
    bp_plugin_t t = host_plugin("stubdev");
    t.device_kinds = BP_ARRAY(kKinds);
    t.devices = devices;
    t.finish = finish;
    t.alloc = alloc;
    t.free = free_memory;
    t.copy = copy_tensor;
    t.stream_create = stream_create;
    t.stream_destroy = stream_destroy;
    t.stream_sync = stream_sync;
    return t;
  }();
  static const bp_plugin_t state = [] {
    bp_plugin_t t = host_plugin("stubstate");
    t.extension = state_extension;
    return t;
  }();
  return name == "stub" ? host : name == "stubdev" ? device : state;
}

}  // namespace

TestPlugins::TestPlugins() {
  test::stub = &stub;
  for (const char* name : {"stub", "stubdev", "stubstate"})
    plugins_.push_back({name, "in the test", &table(name)});
}
TestPlugins::~TestPlugins() {
  test::stub = nullptr;
}

Result<const Plugin*> TestPlugins::find(std::string_view name) {
  for (const Plugin& plugin : plugins_) {
    if (plugin.name == name) return &plugin;
  }
  return Error{Code::not_found, "there is no plugin '" + std::string(name) + "'"};
}

Result<const Plugin*> TestPlugins::find_delegate(std::string_view id) {
  return find(id.starts_with("backplane.") ? id.substr(10) : id);
}

std::vector<KernelLibrary> TestPlugins::kernel_libraries(const std::vector<std::string>&,
                                                         std::vector<std::string>&) {
  std::vector<KernelLibrary> all = more_libraries;
  if (has_kernels) all.push_back({plugins_.data(), &test_kernels()});
  return all;
}

std::vector<std::string> TestPlugins::names() {
  return {"stub", "stubdev", "stubstate"};
}

}  // namespace backplane::test
