// A created backend: the plugin's table with everything around a call that a host must do.
//
// Text that a plugin gives to `fail` becomes the Error's message, with the plugin's name in front,
// and a call without text one that names the function; exceptions that cross the boundary are
// caught; slots that a plugin lacks are `unsupported`.
#pragma once

#include <backplane/ext/describe.h>
#include <backplane/ext/state.h>
#include <backplane/plugin.h>
#include <backplane/plugin_source.hpp>
#include <backplane/result.hpp>

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plugin/host.hpp"
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

// Topics with what there is to say of each.
using Facts = std::vector<std::pair<std::string, std::string>>;

class Backend {
 public:
  // Creates the backend; `options` are those of phase CREATE, already checked.
  [[nodiscard]] static Result<Backend> create(const Plugin& plugin, const Options& options);
  ~Backend();
  Backend(Backend&&) noexcept;
  Backend& operator=(Backend&&) noexcept;

  [[nodiscard]] const Plugin& plugin() const { return *plugin_; }
  [[nodiscard]] const bp_plugin_t& table() const { return *plugin_->table; }

  // [one at a time], which is seen to here.
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
  Status event_record(void* stream, void*& event) const;
  Status event_wait(void* stream, void* event) const;
  void event_destroy(void* event) const;
  // bp.describe/1: what the payload consists of; nothing if the plugin does not offer it.
  [[nodiscard]] Result<Facts> describe(const bp_blob_t& payload) const;
  // Null if the plugin does not offer it.
  [[nodiscard]] const void* extension(std::string_view id) const;

 private:
  [[nodiscard]] const bp_state_t* state() const;

  Backend(const Plugin& plugin, bp_backend_t* handle);
  const Plugin* plugin_;
  bp_backend_t* handle_;
  std::unique_ptr<std::mutex> serial_;
};

}  // namespace backplane
