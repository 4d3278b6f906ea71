// What a plugin may be told, checked: compile specs and other options.
//
// Pure functions over the static data of a plugin's table: nothing of the plugin has run, and no
// graph has been looked at, when they refuse. Four keys of compile specs are the core's and mean
// the same for all: method_name, target_device, data_name, data_placement.
//
// All refuse with invalid_argument, and with a message that names plugin, key, value and what is
// allowed.
#pragma once

#include <backplane/plugin.h>
#include <backplane/lower.hpp>
#include <backplane/result.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace backplane {

// Keys and values. Of options the values are text, of what a file carries any bytes.
using Options = std::vector<std::pair<std::string, std::string>>;

// Compile specs that have been checked.
struct CompileSpecs {
  Options options;            // the plugin's own, in the order of its schema, defaults filled in
  std::string target_device;  // as given, or the first kind of device that the plugin declares
  bp_devref_t device = {BP_DEV_CPU, 0};      // that it means
  std::string data_name;                     // empty if not given
  uint32_t data_placement = BP_DATA_INLINE;  // or BP_DATA_EXTERNAL, which is the default if allowed
};

// The specs of one plugin for `method`, given to it by hand or by a caller. A plugin that can only
// keep its data inline refuses a data_name before anything else is looked at.
[[nodiscard]] Result<CompileSpecs> check_compile_specs(const bp_plugin_t& plugin,
                                                       const Options& given,
                                                       std::string_view method);

// Options for one of the other phases (BP_PHASE_CREATE, _LOAD, _RUN): those given, and defaults.
[[nodiscard]] Result<Options> check_options(const bp_plugin_t& plugin, uint32_t phase,
                                            const Options& given);

// Specs by plugin, in the order of `plugins`: one that names a plugin goes to it; any other goes to
// every plugin that declares its key, of the core's keys to every one that could take the value.
// Also refuses a plugin that is not among `plugins`, and a key that none declares.
[[nodiscard]] Result<std::vector<Options>> route_specs(std::span<const bp_plugin_t* const> plugins,
                                                       const std::vector<Spec>& specs);

// "cuda" or "cuda:1" as a device of a kind that the plugin declares.
[[nodiscard]] Result<bp_devref_t> parse_target_device(const bp_plugin_t& plugin,
                                                      std::string_view target);

}  // namespace backplane
