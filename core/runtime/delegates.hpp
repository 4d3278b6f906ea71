// The delegates of a Program: who runs each, and what its backend made of it. Loaded once, shared
// by all sessions.
#pragma once

#include <backplane/result.hpp>

#include <memory>
#include <string>
#include <vector>

#include "format/pte.hpp"
#include "plugin/backend.hpp"
#include "runtime/delegate_io.hpp"
#include "runtime/device.hpp"

namespace backplane::runtime {

// A plugin that runs some delegate of the program.
struct BackendUse {
  const Plugin* plugin = nullptr;
  std::unique_ptr<Backend> backend;  // once it is loaded
  Options load_options;
  std::vector<bp_device_t> devices;
  std::vector<bp_program_t*> programs;  // all that it loaded
};

// One delegate of one method.
struct LoadedDelegate {
  size_t use = 0;  // into Delegates::uses()
  bp_program_t* program = nullptr;
  const DeviceTarget* target = nullptr;  // null: works in host memory
  std::vector<uint8_t> on_device;        // as DelegateIo has it
};

class Delegates {
 public:
  Delegates() = default;
  Delegates(const Delegates&) = delete;
  Delegates& operator=(const Delegates&) = delete;
  ~Delegates();

  // Finds the plugin of every delegate. Ids that nobody runs are put into `missing`, with the
  // reason.
  void find(const pte::Program& program, PluginSource& plugins, std::vector<std::string>& missing);
  // Creates the backends and loads all delegates. `given`: "plugin:key" or "key" with the value.
  // Errors name method and delegate, or the option.
  Status load(const pte::Program& program, DataHandler& data, const Options& given,
              uint32_t num_threads);

  // Delegate `index` of the program's method `plan`.
  [[nodiscard]] const LoadedDelegate& at(size_t plan, size_t index) const {
    return loaded_[plan][index];
  }
  [[nodiscard]] const std::vector<BackendUse>& uses() const { return uses_; }
  [[nodiscard]] const std::vector<std::unique_ptr<DeviceTarget>>& targets() const {
    return targets_;
  }

 private:
  Status create_backends(const Options& given);
  Result<LoadedDelegate> load_one(const pte::Delegate& delegate, size_t use, bp_load_t& request);
  Result<bp_devref_t> device_of(const pte::Delegate& delegate, const BackendUse& use) const;
  const DeviceTarget* target_of(const Backend& backend, bp_devref_t device);

  std::vector<BackendUse> uses_;
  std::vector<std::vector<size_t>> use_of_;  // by method and delegate
  std::vector<std::vector<LoadedDelegate>> loaded_;
  std::vector<std::unique_ptr<DeviceTarget>> targets_;
};

// The backends' part of one session: for each, the state of its programs.
class DelegateSessions {
 public:
  // `delegates` must outlive the sessions.
  [[nodiscard]] static Result<DelegateSessions> create(const Delegates& delegates);
  DelegateSessions(DelegateSessions&& other) noexcept = default;
  DelegateSessions& operator=(DelegateSessions&& other) = delete;
  ~DelegateSessions();

  Status reset();
  [[nodiscard]] Result<DelegateSessions> copy() const;
  // Of a backend, by its place in uses(); null if it has no state.
  [[nodiscard]] bp_session_t* of(size_t use) const { return sessions_[use]; }

 private:
  explicit DelegateSessions(const Delegates& delegates) : delegates_(&delegates) {}
  const Delegates* delegates_;
  std::vector<bp_session_t*> sessions_;
};

}  // namespace backplane::runtime
