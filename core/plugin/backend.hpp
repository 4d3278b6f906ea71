// A created backend: the plugin's table with everything around a call that a host must do.
//
// Text that a plugin gives to `fail` becomes the Error's message, with the plugin's name in front;
// exceptions that cross the boundary are caught; slots that a plugin lacks are `unsupported`.
#pragma once

#include <backplane/ext/state.h>
#include <backplane/plugin.h>
#include <backplane/result.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <backplane/plugin_source.hpp>
#include "plugin/options.hpp"

namespace backplane {

// Views of `options` for one call.
class OptionViews {
 public:
  explicit OptionViews(const Options& options);
  [[nodiscard]] bp_array_t get() const {
    return {views_.data(), static_cast<uint32_t>(views_.size()), sizeof(bp_kv_t)};
  }

 private:
  std::vector<bp_kv_t> views_;
};

inline bp_str_t to_abi(std::string_view text) {
  return {text.data(), text.size()};
}
inline std::string_view to_view(bp_str_t text) {
  return {text.ptr, static_cast<size_t>(text.len)};
}

// Answers the host functions that need a lowering call's context.
class SinkHandler {
 public:
  virtual ~SinkHandler() = default;
  virtual Status claim(const bp_claim_t& claim) = 0;
  virtual Status refuse(int32_t graph, int32_t node, std::string_view reason) = 0;
  virtual Status emit(const bp_emit_t& emitted) = 0;
};

// Answers data_get. The bytes stay valid until the program is unloaded.
class DataHandler {
 public:
  virtual ~DataHandler() = default;
  virtual Result<bp_blob_t> get(std::string_view key) = 0;
};

// Answers resize_output during one run.
class RunHandler {
 public:
  virtual ~RunHandler() = default;
  virtual Status resize_output(uint32_t index, std::span<const int64_t> shape) = 0;
};

// Pointers of the C interface to the handlers above, for the params' sink, data and ctx.
inline bp_sink_t* to_abi(SinkHandler& handler) {
  return reinterpret_cast<bp_sink_t*>(&handler);
}
inline bp_source_t* to_abi(DataHandler& handler) {
  return reinterpret_cast<bp_source_t*>(&handler);
}
inline bp_ctx_t* to_abi(RunHandler& handler) {
  return reinterpret_cast<bp_ctx_t*>(&handler);
}

class Backend {
 public:
  // Creates the backend; `options` are those of phase CREATE, already checked.
  [[nodiscard]] static Result<Backend> create(const Plugin& plugin, const Options& options);
  ~Backend();
  Backend(Backend&&) noexcept;
  Backend& operator=(Backend&&) noexcept;

  [[nodiscard]] const Plugin& plugin() const { return *plugin_; }
  [[nodiscard]] const bp_plugin_t& table() const { return *plugin_->table; }

  // [serial]
  Status validate(uint32_t phase, const Options& options);
  Result<std::vector<bp_device_t>> devices();
  Status partition(const bp_lower_t& request);
  Status compile(const bp_lower_t& request);
  // BP_FIT_* and, unless it fits, why.
  Result<std::pair<uint32_t, std::string>> check(std::string_view fingerprint, bp_devref_t device);
  // [any thread]
  Result<bp_program_t*> load(const bp_load_t& request) const;
  void unload(bp_program_t* program) const;
  Result<bp_instance_t*> instance_create(bp_program_t* program, bp_session_t* session) const;
  void instance_destroy(bp_instance_t* instance) const;
  // bp.state/1. Null, without an error, if the plugin does not offer it. [any thread]
  Result<bp_session_t*> session_create(std::span<bp_program_t* const> programs) const;
  void session_destroy(bp_session_t* session) const;
  Status session_reset(bp_session_t* session) const;
  Result<bp_session_t*> session_copy(bp_session_t* session) const;
  // [one per instance]
  Status execute(bp_instance_t* instance, const bp_run_t& run) const;
  Status finish(bp_instance_t* instance, const bp_run_t& run) const;
  // [any thread]
  Result<void*> alloc(bp_devref_t device, uint32_t kind, uint64_t size_bytes, void* stream) const;
  void free(bp_devref_t device, void* memory, void* stream) const;
  Status copy(const bp_tensor_t& to, const bp_tensor_t& from, void* stream) const;
  Result<void*> stream_create(bp_devref_t device) const;
  void stream_destroy(void* stream) const;
  Status stream_sync(void* stream) const;
  // Null if the plugin does not offer it.
  [[nodiscard]] const void* extension(std::string_view id) const;

 private:
  [[nodiscard]] const bp_state_t* state() const;

  Backend(const Plugin& plugin, bp_backend_t* handle) : plugin_(&plugin), handle_(handle) {}
  const Plugin* plugin_;
  bp_backend_t* handle_;
};

// The host table that plugins are given.
[[nodiscard]] const bp_host_t& host_table();

// Where log messages of plugins go; null drops them. Errors are not logged: they are returned.
// Set once at the start. The level is BP_LOG_*.
using LogFunction = void (*)(int32_t level, std::string_view message);
void set_log(LogFunction function, int32_t max_level);

// Where progress of lowering and loading goes; null drops it. Set once at the start.
using ProgressFunction = void (*)(double fraction, std::string_view what);
void set_progress(ProgressFunction function);

// The Error of a plugin's code and the reason that it gave on this thread.
[[nodiscard]] Error plugin_error(const Plugin& plugin, int32_t code);

}  // namespace backplane
