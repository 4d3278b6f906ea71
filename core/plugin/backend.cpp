#include "plugin/backend.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace backplane {
namespace {

std::string name_of(const Plugin& plugin) {
  return "plugin '" + plugin.name + "'";
}

void threw(std::string_view slot, const char* what) {
  set_reason("threw across the boundary in " + std::string(slot) + (what == nullptr ? "" : ": ") +
             (what == nullptr ? "" : what));
}

// Calls the plugin's function called `slot`; an exception that comes out of it becomes a code.
template <class Function, class... Arguments>
int32_t guarded(std::string_view slot, Function function, Arguments... arguments) {
  clear_reason();
  try {
    if constexpr (std::is_void_v<decltype(function(arguments...))>) {
      function(arguments...);
      return BP_OK;
    } else {
      return function(arguments...);
    }
  } catch (const std::exception& e) {
    threw(slot, e.what());
  } catch (...) {
    threw(slot, nullptr);
  }
  return BP_INTERNAL;
}

Error failure(const Plugin& plugin, std::string_view slot, int32_t code) {
  const bool known = code >= BP_INVALID_ARGUMENT && code <= BP_UNAVAILABLE;
  std::string text = call_reason();
  if (text.empty()) {
    text = std::string(slot) + " failed with code " + std::to_string(code) + " and gave no reason";
  }
  return {known ? static_cast<Code>(code) : Code::internal, name_of(plugin) + ": " + text};
}

template <class Function, class... Arguments>
Status call(const Plugin& plugin, std::string_view slot, Function function,
            Arguments... arguments) {
  const int32_t code = guarded(slot, function, arguments...);
  if (code == BP_OK) return Ok{};
  return failure(plugin, slot, code);
}

// A function without a result: all that can be done is to let no exception out, and to say it.
template <class Function, class... Arguments>
void give_back(const Plugin& plugin, std::string_view slot, Function function,
               Arguments... arguments) {
  if (guarded(slot, function, arguments...) == BP_OK) return;
  const std::string text = name_of(plugin) + ": " + call_reason();
  host_table().log(&host_table(), BP_LOG_ERROR, to_abi(text));
}

// A function that makes something, whose last parameter says where to put it.
template <class T, class Function, class... Arguments>
Result<T*> make(const Plugin& plugin, std::string_view slot, Function function,
                Arguments... arguments) {
  T* object = nullptr;
  BP_TRY(call(plugin, slot, function, arguments..., &object));
  if (object != nullptr) return object;
  return Error{Code::internal,
               name_of(plugin) + ": " + std::string(slot) + " succeeded, but gave nothing"};
}

Error lacks(const Plugin& plugin, std::string_view what) {
  return {Code::unsupported, name_of(plugin) + " does not offer " + std::string(what)};
}

}  // namespace

OptionViews::OptionViews(const Options& options) {
  for (const auto& [key, value] : options) views_.push_back({to_abi(key), to_abi(value)});
}

Result<Backend> Backend::create(const Plugin& plugin, const Options& options) {
  const OptionViews views(options);
  BP_ASSIGN_OR_RETURN(
      bp_backend_t* const handle,
      make<bp_backend_t>(plugin, "create", plugin.table->create, &host_table(), views.get()));
  return Backend(plugin, handle);
}

Backend::Backend(const Plugin& plugin, bp_backend_t* handle)
    : plugin_(&plugin), handle_(handle), serial_(std::make_unique<std::mutex>()) {}
Backend::~Backend() {
  if (handle_ != nullptr) give_back(*plugin_, "destroy", table().destroy, handle_);
}
Backend::Backend(Backend&& other) noexcept
    : plugin_(other.plugin_),
      handle_(std::exchange(other.handle_, nullptr)),
      serial_(std::move(other.serial_)) {}
Backend& Backend::operator=(Backend&& other) noexcept {
  std::swap(plugin_, other.plugin_);
  std::swap(handle_, other.handle_);
  std::swap(serial_, other.serial_);
  return *this;
}

Status Backend::validate(uint32_t phase, const Options& options) {
  if (!BP_HAS(&table(), validate)) return Ok{};
  const OptionViews views(options);
  const std::lock_guard lock(*serial_);
  return call(*plugin_, "validate", table().validate, handle_, phase, views.get());
}

Result<std::vector<bp_device_t>> Backend::devices() {
  constexpr uint32_t kMost = 1024;
  constexpr uint32_t kStride = sizeof(bp_device_t);
  std::vector<bp_device_t> list;
  if (!BP_HAS(&table(), devices)) return list;
  const std::lock_guard lock(*serial_);
  uint32_t count = 0;
  BP_TRY(call(*plugin_, "devices", table().devices, handle_, nullptr, kStride, 0u, &count));
  list.resize(std::min(count, kMost));
  for (bp_device_t& device : list) device.struct_size = kStride;
  const auto capacity = static_cast<uint32_t>(list.size());
  BP_TRY(
      call(*plugin_, "devices", table().devices, handle_, list.data(), kStride, capacity, &count));
  list.resize(std::min(count, capacity));
  return list;
}

Status Backend::partition(const bp_lower_t& request) {
  if (!BP_HAS(&table(), partition)) return lacks(*plugin_, "lowering (partition)");
  const std::lock_guard lock(*serial_);
  return call(*plugin_, "partition", table().partition, handle_, &request);
}

Status Backend::compile(const bp_lower_t& request) {
  if (!BP_HAS(&table(), compile)) return lacks(*plugin_, "lowering (compile)");
  const std::lock_guard lock(*serial_);
  return call(*plugin_, "compile", table().compile, handle_, &request);
}

Result<std::pair<uint32_t, std::string>> Backend::check(std::string_view fingerprint,
                                                        bp_devref_t device) {
  uint32_t fit = BP_FIT;
  if (!BP_HAS(&table(), check)) return std::pair{fit, std::string()};
  const std::lock_guard lock(*serial_);
  BP_TRY(call(*plugin_, "check", table().check, handle_, to_abi(fingerprint), device, &fit));
  return std::pair{fit, call_reason()};
}

Result<bp_program_t*> Backend::load(const bp_load_t& request) const {
  if (!BP_HAS(&table(), load)) return lacks(*plugin_, "running (load)");
  return make<bp_program_t>(*plugin_, "load", table().load, handle_, &request);
}

void Backend::unload(bp_program_t* program) const {
  if (program != nullptr) give_back(*plugin_, "unload", table().unload, program);
}

Result<bp_instance_t*> Backend::instance_create(bp_program_t* program,
                                                bp_session_t* session) const {
  if (!BP_HAS(&table(), instance_create)) return lacks(*plugin_, "running (instance_create)");
  const bp_instance_args_t args{sizeof(bp_instance_args_t), 0, session};
  return make<bp_instance_t>(*plugin_, "instance_create", table().instance_create, program, &args);
}

void Backend::instance_destroy(bp_instance_t* instance) const {
  if (instance == nullptr) return;
  give_back(*plugin_, "instance_destroy", table().instance_destroy, instance);
}

Status Backend::execute(bp_instance_t* instance, const bp_run_t& run) const {
  if (!BP_HAS(&table(), execute)) return lacks(*plugin_, "running (execute)");
  return call(*plugin_, "execute", table().execute, instance, &run);
}

Status Backend::finish(bp_instance_t* instance, const bp_run_t& run) const {
  if (!BP_HAS(&table(), finish)) return Ok{};
  return call(*plugin_, "finish", table().finish, instance, &run);
}

Result<void*> Backend::alloc(bp_devref_t device, uint32_t kind, uint64_t size_bytes,
                             void* stream) const {
  if (!BP_HAS(&table(), alloc)) return lacks(*plugin_, "device memory (alloc)");
  const bp_alloc_t request{sizeof(bp_alloc_t), kind, device, size_bytes, 64, stream};
  return make<void>(*plugin_, "alloc", table().alloc, handle_, &request);
}

void Backend::free(bp_devref_t device, void* memory, void* stream) const {
  if (!BP_HAS(&table(), free)) return;
  give_back(*plugin_, "free", table().free, handle_, device, memory, stream);
}

Status Backend::copy(const bp_tensor_t& to, const bp_tensor_t& from, void* stream) const {
  if (!BP_HAS(&table(), copy)) return lacks(*plugin_, "device memory (copy)");
  return call(*plugin_, "copy", table().copy, handle_, &to, &from, stream);
}

Result<void*> Backend::stream_create(bp_devref_t device) const {
  if (!BP_HAS(&table(), stream_create)) return lacks(*plugin_, "streams");
  return make<void>(*plugin_, "stream_create", table().stream_create, handle_, device);
}

void Backend::stream_destroy(void* stream) const {
  if (!BP_HAS(&table(), stream_destroy)) return;
  give_back(*plugin_, "stream_destroy", table().stream_destroy, handle_, stream);
}

Status Backend::stream_sync(void* stream) const {
  if (!BP_HAS(&table(), stream_sync)) return Ok{};
  return call(*plugin_, "stream_sync", table().stream_sync, handle_, stream);
}

Status Backend::event_record(void* stream, void*& event) const {
  if (!BP_HAS(&table(), event_record)) return lacks(*plugin_, "events");
  return call(*plugin_, "event_record", table().event_record, handle_, stream, &event);
}

Status Backend::event_wait(void* stream, void* event) const {
  if (!BP_HAS(&table(), event_wait)) return lacks(*plugin_, "events");
  return call(*plugin_, "event_wait", table().event_wait, handle_, stream, event);
}

void Backend::event_destroy(void* event) const {
  if (event == nullptr || !BP_HAS(&table(), event_destroy)) return;
  give_back(*plugin_, "event_destroy", table().event_destroy, handle_, event);
}

const void* Backend::extension(std::string_view id) const {
  if (!BP_HAS(&table(), extension)) return nullptr;
  const void* found = nullptr;
  give_back(*plugin_, "extension", [&] { found = table().extension(handle_, to_abi(id)); });
  return found;
}

const bp_state_t* Backend::state() const {
  const auto* table = static_cast<const bp_state_t*>(extension(BP_EXT_STATE));
  const bool complete = table != nullptr && BP_HAS(table, create) && BP_HAS(table, destroy) &&
                        BP_HAS(table, reset) && BP_HAS(table, copy);
  return complete ? table : nullptr;
}

Result<bp_session_t*> Backend::session_create(std::span<bp_program_t* const> programs) const {
  const bp_state_t* table = state();
  if (table == nullptr) return static_cast<bp_session_t*>(nullptr);
  const auto count = static_cast<uint32_t>(programs.size());
  return make<bp_session_t>(*plugin_, "bp.state create", table->create, handle_, programs.data(),
                            count);
}

void Backend::session_destroy(bp_session_t* session) const {
  if (session != nullptr) give_back(*plugin_, "bp.state destroy", state()->destroy, session);
}

Status Backend::session_reset(bp_session_t* session) const {
  if (session == nullptr) return Ok{};
  return call(*plugin_, "bp.state reset", state()->reset, session);
}

Result<bp_session_t*> Backend::session_copy(bp_session_t* session) const {
  if (session == nullptr) return session;
  return make<bp_session_t>(*plugin_, "bp.state copy", state()->copy, session);
}

Result<Facts> Backend::describe(const bp_blob_t& payload) const {
  Facts facts;
  const auto* table = static_cast<const bp_describe_t*>(extension(BP_EXT_DESCRIBE));
  if (table == nullptr || !BP_HAS(table, describe)) return facts;
  const auto say = [](void* arg, bp_str_t topic, bp_str_t text) {
    static_cast<Facts*>(arg)->emplace_back(to_view(topic), to_view(text));
  };
  BP_TRY(call(*plugin_, "bp.describe", table->describe, handle_, &payload,
              static_cast<void (*)(void*, bp_str_t, bp_str_t)>(say), static_cast<void*>(&facts)));
  return facts;
}

}  // namespace backplane
