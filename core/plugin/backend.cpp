#include "plugin/backend.hpp"

#include <algorithm>
#include <exception>

namespace backplane {
namespace {

// The reason that the last failing call on this thread gave; cleared before each call.
thread_local std::string reason;
thread_local uint64_t reason_node = 0;

LogFunction log_function = nullptr;
ProgressFunction progress_function = nullptr;

// What a handler says inside a plugin's call, kept so that it survives the plugin's own text.
int32_t keep(const Error& error) {
  reason = error.message;
  return static_cast<int32_t>(error.code);
}
int32_t keep(const Status& status) {
  return status.ok() ? BP_OK : keep(status.error());
}

int32_t host_fail(const bp_host_t*, int32_t code, uint64_t node, bp_str_t message) {
  // A reason from the host's own side (a taken claim, a missing datum) is the better one.
  if (reason.empty()) reason.assign(message.ptr, static_cast<size_t>(message.len));
  reason_node = node;
  return code;
}
void host_log(const bp_host_t* host, int32_t level, bp_str_t message) {
  if (log_function != nullptr && level <= host->log_level) log_function(level, to_view(message));
}
SinkHandler& handler(bp_sink_t* sink) {
  return *reinterpret_cast<SinkHandler*>(sink);
}
int32_t host_claim(bp_sink_t* sink, const bp_claim_t* claim) {
  return keep(handler(sink).claim(*claim));
}
int32_t host_refuse(bp_sink_t* sink, int32_t graph, int32_t node, bp_str_t why) {
  return keep(handler(sink).refuse(graph, node, to_view(why)));
}
int32_t host_emit(bp_sink_t* sink, const bp_emit_t* emitted) {
  return keep(handler(sink).emit(*emitted));
}
void host_progress(const bp_host_t*, double fraction, bp_str_t what) {
  if (progress_function != nullptr) progress_function(fraction, to_view(what));
}
int32_t host_data_get(bp_source_t* source, bp_str_t key, bp_blob_t* out) {
  auto blob = reinterpret_cast<DataHandler*>(source)->get(to_view(key));
  if (!blob) return keep(blob.error());
  *out = *blob;
  return BP_OK;
}
void host_data_release(bp_source_t*, const bp_blob_t*) {}
int32_t host_resize_output(bp_ctx_t* ctx, uint32_t index, uint32_t ndim, const int64_t* shape) {
  return keep(reinterpret_cast<RunHandler*>(ctx)->resize_output(index, {shape, ndim}));
}
void host_span(const bp_host_t*, const bp_span_t*) {}
const void* host_extension(const bp_host_t*, bp_str_t) {
  return nullptr;
}

constexpr std::string_view kVersion = BACKPLANE_VERSION;
bp_host_t host = {sizeof(bp_host_t),
                  BP_ABI_MINOR,
                  BP_LOG_WARN,
                  0,
                  {kVersion.data(), kVersion.size()},
                  host_fail,
                  host_log,
                  host_progress,
                  host_span,
                  host_claim,
                  host_refuse,
                  host_emit,
                  host_data_get,
                  host_data_release,
                  host_resize_output,
                  host_extension};

// Calls into a plugin; a thrown exception becomes BP_INTERNAL.
template <class F>
int32_t guarded(F&& call) {
  reason.clear();
  reason_node = 0;
  try {
    return call();
  } catch (const std::exception& e) {
    reason = std::string("threw across the boundary: ") + e.what();
  } catch (...) {
    reason = "threw across the boundary";
  }
  return BP_INTERNAL;
}

template <class F>
Status checked(const Plugin& plugin, F&& call) {
  const int32_t code = guarded(call);
  if (code == BP_OK) return Ok{};
  return plugin_error(plugin, code);
}

// For slots without a result: nothing can be done but not to let an exception out.
template <class F>
void quietly(F&& call) {
  guarded([&] {
    call();
    return BP_OK;
  });
}

Error lacks(const Plugin& plugin, std::string_view what) {
  return {Code::unsupported, "plugin '" + plugin.name + "' does not offer " + std::string(what)};
}

}  // namespace

OptionViews::OptionViews(const Options& options) {
  for (const auto& [key, value] : options) views_.push_back({to_abi(key), to_abi(value)});
}

Error plugin_error(const Plugin& plugin, int32_t code) {
  const bool known = code >= BP_INVALID_ARGUMENT && code <= BP_UNAVAILABLE;
  std::string text =
      reason.empty() ? "failed with code " + std::to_string(code) + " and no reason" : reason;
  return {known ? static_cast<Code>(code) : Code::internal,
          "plugin '" + plugin.name + "': " + text};
}

const bp_host_t& host_table() {
  return host;
}

void set_log(LogFunction function, int32_t max_level) {
  log_function = function;
  host.log_level = max_level;
}

void set_progress(ProgressFunction function) {
  progress_function = function;
}

Result<Backend> Backend::create(const Plugin& plugin, const Options& options) {
  if (!BP_HAS(plugin.table, create) || !BP_HAS(plugin.table, destroy))
    return lacks(plugin, "create and destroy");
  const OptionViews views(options);
  bp_backend_t* handle = nullptr;
  BP_TRY(checked(plugin, [&] { return plugin.table->create(&host, views.get(), &handle); }));
  if (handle == nullptr) {
    return Error{Code::internal,
                 "plugin '" + plugin.name + "': create succeeded but gave no backend"};
  }
  return Backend(plugin, handle);
}

Backend::~Backend() {
  if (handle_ != nullptr) quietly([&] { table().destroy(handle_); });
}
Backend::Backend(Backend&& other) noexcept
    : plugin_(other.plugin_), handle_(std::exchange(other.handle_, nullptr)) {}
Backend& Backend::operator=(Backend&& other) noexcept {
  std::swap(plugin_, other.plugin_);
  std::swap(handle_, other.handle_);
  return *this;
}

Status Backend::validate(uint32_t phase, const Options& options) {
  if (!BP_HAS(&table(), validate)) return Ok{};
  const OptionViews views(options);
  return checked(*plugin_, [&] { return table().validate(handle_, phase, views.get()); });
}

Result<std::vector<bp_device_t>> Backend::devices() {
  if (!BP_HAS(&table(), devices)) return std::vector<bp_device_t>{};
  uint32_t count = 0;
  BP_TRY(checked(
      *plugin_, [&] { return table().devices(handle_, nullptr, sizeof(bp_device_t), 0, &count); }));
  std::vector<bp_device_t> list(std::min<uint32_t>(count, 1024));
  for (bp_device_t& device : list) device.struct_size = sizeof(bp_device_t);
  BP_TRY(checked(*plugin_, [&] {
    return table().devices(handle_, list.data(), sizeof(bp_device_t),
                           static_cast<uint32_t>(list.size()), &count);
  }));
  list.resize(std::min<size_t>(count, list.size()));
  return list;
}

Status Backend::partition(const bp_lower_t& request) {
  if (!BP_HAS(&table(), partition)) return lacks(*plugin_, "lowering (partition)");
  return checked(*plugin_, [&] { return table().partition(handle_, &request); });
}

Status Backend::compile(const bp_lower_t& request) {
  if (!BP_HAS(&table(), compile)) return lacks(*plugin_, "lowering (compile)");
  return checked(*plugin_, [&] { return table().compile(handle_, &request); });
}

Result<std::pair<uint32_t, std::string>> Backend::check(std::string_view fingerprint,
                                                        bp_devref_t device) {
  uint32_t fit = BP_FIT;
  if (!BP_HAS(&table(), check)) return std::pair{fit, std::string()};
  BP_TRY(
      checked(*plugin_, [&] { return table().check(handle_, to_abi(fingerprint), device, &fit); }));
  return std::pair{fit, reason};
}

Result<bp_program_t*> Backend::load(const bp_load_t& request) const {
  if (!BP_HAS(&table(), load)) return lacks(*plugin_, "running (load)");
  bp_program_t* program = nullptr;
  BP_TRY(checked(*plugin_, [&] { return table().load(handle_, &request, &program); }));
  if (program == nullptr) {
    return Error{Code::internal,
                 "plugin '" + plugin_->name + "': load succeeded but gave no program"};
  }
  return program;
}

void Backend::unload(bp_program_t* program) const {
  if (program != nullptr && BP_HAS(&table(), unload)) quietly([&] { table().unload(program); });
}

Result<bp_instance_t*> Backend::instance_create(bp_program_t* program,
                                                bp_session_t* session) const {
  if (!BP_HAS(&table(), instance_create)) return lacks(*plugin_, "running (instance_create)");
  const bp_instance_args_t args{sizeof(bp_instance_args_t), 0, session};
  bp_instance_t* instance = nullptr;
  BP_TRY(checked(*plugin_, [&] { return table().instance_create(program, &args, &instance); }));
  if (instance == nullptr) {
    return Error{Code::internal,
                 "plugin '" + plugin_->name + "': instance_create succeeded but gave no instance"};
  }
  return instance;
}

void Backend::instance_destroy(bp_instance_t* instance) const {
  if (instance != nullptr && BP_HAS(&table(), instance_destroy))
    quietly([&] { table().instance_destroy(instance); });
}

const bp_state_t* Backend::state() const {
  const auto* table = static_cast<const bp_state_t*>(extension(BP_EXT_STATE));
  const bool complete = table != nullptr && BP_HAS(table, create) && BP_HAS(table, destroy) &&
                        BP_HAS(table, reset) && BP_HAS(table, copy);
  return complete ? table : nullptr;
}

Result<bp_session_t*> Backend::session_create(std::span<bp_program_t* const> programs) const {
  const bp_state_t* table = state();
  bp_session_t* session = nullptr;
  if (table == nullptr) return session;
  const auto count = static_cast<uint32_t>(programs.size());
  BP_TRY(
      checked(*plugin_, [&] { return table->create(handle_, programs.data(), count, &session); }));
  return session;
}

void Backend::session_destroy(bp_session_t* session) const {
  if (session != nullptr) quietly([&] { state()->destroy(session); });
}

Status Backend::session_reset(bp_session_t* session) const {
  if (session == nullptr) return Ok{};
  return checked(*plugin_, [&] { return state()->reset(session); });
}

Result<bp_session_t*> Backend::session_copy(bp_session_t* session) const {
  bp_session_t* copy = nullptr;
  if (session == nullptr) return copy;
  BP_TRY(checked(*plugin_, [&] { return state()->copy(session, &copy); }));
  return copy;
}

Status Backend::execute(bp_instance_t* instance, const bp_run_t& run) const {
  if (!BP_HAS(&table(), execute)) return lacks(*plugin_, "running (execute)");
  return checked(*plugin_, [&] { return table().execute(instance, &run); });
}

Status Backend::finish(bp_instance_t* instance, const bp_run_t& run) const {
  if (!BP_HAS(&table(), finish)) return Ok{};
  return checked(*plugin_, [&] { return table().finish(instance, &run); });
}

Result<void*> Backend::alloc(bp_devref_t device, uint32_t kind, uint64_t size_bytes,
                             void* stream) const {
  if (!BP_HAS(&table(), alloc)) return lacks(*plugin_, "device memory (alloc)");
  const bp_alloc_t request{sizeof(bp_alloc_t), kind, device, size_bytes, 64, stream};
  void* out = nullptr;
  BP_TRY(checked(*plugin_, [&] { return table().alloc(handle_, &request, &out); }));
  return out;
}

void Backend::free(bp_devref_t device, void* memory, void* stream) const {
  if (BP_HAS(&table(), free)) quietly([&] { table().free(handle_, device, memory, stream); });
}

Status Backend::copy(const bp_tensor_t& to, const bp_tensor_t& from, void* stream) const {
  if (!BP_HAS(&table(), copy)) return lacks(*plugin_, "device memory (copy)");
  return checked(*plugin_, [&] { return table().copy(handle_, &to, &from, stream); });
}

Result<void*> Backend::stream_create(bp_devref_t device) const {
  if (!BP_HAS(&table(), stream_create)) return lacks(*plugin_, "streams");
  void* out = nullptr;
  BP_TRY(checked(*plugin_, [&] { return table().stream_create(handle_, device, &out); }));
  return out;
}

void Backend::stream_destroy(void* stream) const {
  if (BP_HAS(&table(), stream_destroy)) quietly([&] { table().stream_destroy(handle_, stream); });
}

Status Backend::stream_sync(void* stream) const {
  if (!BP_HAS(&table(), stream_sync)) return Ok{};
  return checked(*plugin_, [&] { return table().stream_sync(handle_, stream); });
}

const void* Backend::extension(std::string_view id) const {
  if (!BP_HAS(&table(), extension)) return nullptr;
  const void* found = nullptr;
  quietly([&] { found = table().extension(handle_, to_abi(id)); });
  return found;
}

}  // namespace backplane
