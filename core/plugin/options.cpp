#include "plugin/options.hpp"

#include <backplane/array.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "common/nearest.hpp"
#include "plugin/option_values.hpp"

namespace backplane {
namespace {

using sdk::Array;
using sdk::view;

constexpr std::array<std::string_view, 4> kCoreKeys = {"method_name", "target_device", "data_name",
                                                       "data_placement"};

bool is_core_key(std::string_view key) {
  return std::find(kCoreKeys.begin(), kCoreKeys.end(), key) != kCoreKeys.end();
}

Error refused(const bp_plugin_t& plugin, std::string_view message) {
  return {Code::invalid_argument,
          "backend '" + std::string(view(plugin.name)) + "': " + std::string(message)};
}

std::string_view phase_name(uint32_t phase) {
  switch (phase) {
    case BP_PHASE_CREATE:
      return "creating the backend";
    case BP_PHASE_COMPILE:
      return "lowering";
    case BP_PHASE_LOAD:
      return "loading";
    default:
      return "running";
  }
}

std::string phases_of(const bp_option_t& option) {
  std::string out;
  for (const uint32_t phase : {BP_PHASE_CREATE, BP_PHASE_COMPILE, BP_PHASE_LOAD, BP_PHASE_RUN}) {
    if ((option.phases & phase) == 0) continue;
    if (!out.empty()) out += " and ";
    out += phase_name(phase);
  }
  return out;
}

const bp_option_t* find_option(const bp_plugin_t& plugin, std::string_view key) {
  for (const bp_option_t& option : Array<bp_option_t>(plugin.options)) {
    if (view(option.name) == key) return &option;
  }
  return nullptr;
}

std::optional<std::string_view> find(const Options& options, std::string_view key) {
  for (const auto& [name, value] : options) {
    if (name == key) return value;
  }
  return std::nullopt;
}

// The keys that may be given in a phase.
std::vector<std::string_view> keys_of(const bp_plugin_t& plugin, uint32_t phase) {
  std::vector<std::string_view> keys;
  for (const bp_option_t& option : Array<bp_option_t>(plugin.options)) {
    if ((option.phases & phase) != 0) keys.push_back(view(option.name));
  }
  if (phase == BP_PHASE_COMPILE) keys.insert(keys.end(), kCoreKeys.begin(), kCoreKeys.end());
  return keys;
}

Status check_own_option(const bp_plugin_t& plugin, uint32_t phase, std::string_view key,
                        std::string_view value) {
  const bp_option_t* option = find_option(plugin, key);
  if (option == nullptr) {
    const auto keys = keys_of(plugin, phase);
    std::string message = "no option is called " + quote(key) + did_you_mean(key, keys);
    message += keys.empty()
                   ? " (there are none for " + std::string(phase_name(phase)) + ")"
                   : " (for " + std::string(phase_name(phase)) + ": " + join_words(keys) + ")";
    return refused(plugin, message);
  }
  if ((option->phases & phase) == 0) {
    return refused(plugin, "option " + quote(key) + " is not for " +
                               std::string(phase_name(phase)) + ", but for " + phases_of(*option));
  }
  if (const Status allowed = check_value(*option, value); !allowed.ok()) {
    return refused(plugin, "option " + quote(key) + " can't be " + quote(value) + ": " +
                               allowed.error().message);
  }
  return Ok{};
}

Status check_duplicates(const bp_plugin_t& plugin, const Options& given) {
  for (size_t i = 0; i < given.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (given[i].first == given[k].first) {
        return refused(plugin, "option " + quote(given[i].first) + " is given twice, as " +
                                   quote(given[k].second) + " and as " + quote(given[i].second));
      }
    }
  }
  return Ok{};
}

// Those given and the defaults of the others, in the order of the schema.
Options filled(const bp_plugin_t& plugin, uint32_t phase, const Options& given) {
  Options out;
  for (const bp_option_t& option : Array<bp_option_t>(plugin.options)) {
    if ((option.phases & phase) == 0) continue;
    const std::string_view key = view(option.name);
    if (const auto value = find(given, key)) {
      out.emplace_back(key, *value);
    } else if (option.dflt.len != 0) {
      out.emplace_back(key, view(option.dflt));
    }
  }
  return out;
}

Result<uint32_t> parse_placement(const bp_plugin_t& plugin, const Options& given) {
  const uint32_t declared = plugin.data_placement;
  const auto value = find(given, "data_placement");
  if (!value) {
    return uint32_t{(declared & BP_DATA_EXTERNAL) != 0 ? BP_DATA_EXTERNAL : BP_DATA_INLINE};
  }
  const uint32_t placement = *value == "inline"     ? uint32_t{BP_DATA_INLINE}
                             : *value == "external" ? uint32_t{BP_DATA_EXTERNAL}
                                                    : 0;
  if ((declared & placement) != 0) return placement;
  std::vector<std::string_view> allowed;
  if ((declared & BP_DATA_INLINE) != 0) allowed.emplace_back("inline");
  if ((declared & BP_DATA_EXTERNAL) != 0) allowed.emplace_back("external");
  return refused(plugin, "data_placement can't be " + quote(*value) + ": it is " +
                             (allowed.size() == 1 ? "always " : "one of ") + join_words(allowed));
}

Status refuse_data_name(const bp_plugin_t& plugin, std::string_view name, std::string_view why) {
  return refused(plugin, "data_name " + quote(name) + " is refused: " + std::string(why) +
                             ", so there is no data file to name");
}

bool keeps_data_inline(const bp_plugin_t& plugin) {
  return (plugin.data_placement & BP_DATA_EXTERNAL) == 0;
}

// Whether a key that names no plugin is meant for this one.
bool takes(const bp_plugin_t& plugin, const Spec& spec) {
  if (spec.key == "data_name") return !keeps_data_inline(plugin);
  if (spec.key == "data_placement") {
    return parse_placement(plugin, {{spec.key, spec.value}}).ok();
  }
  if (spec.key == "target_device") return parse_target_device(plugin, spec.value).ok();
  return is_core_key(spec.key) || find_option(plugin, spec.key) != nullptr;
}

Error nobody_takes(std::span<const bp_plugin_t* const> plugins, const Spec& spec) {
  // One backend says best itself what is wrong; so do several with a key that all of them know.
  if (plugins.size() == 1 || is_core_key(spec.key)) {
    auto specs = check_compile_specs(*plugins.front(), {{spec.key, spec.value}}, spec.value);
    if (!specs.ok()) return std::move(specs).error();
  }
  std::vector<std::string_view> keys(kCoreKeys.begin(), kCoreKeys.end());
  for (const bp_plugin_t* plugin : plugins) {
    for (const bp_option_t& option : Array<bp_option_t>(plugin->options)) {
      keys.push_back(view(option.name));
    }
  }
  return {Code::invalid_argument, "none of the backends has an option called " + quote(spec.key) +
                                      did_you_mean(spec.key, keys) + " (" + join_words(keys) + ")"};
}

}  // namespace

Result<CompileSpecs> check_compile_specs(const bp_plugin_t& plugin, const Options& given,
                                         std::string_view method) {
  const auto data_name = find(given, "data_name");
  if (data_name && keeps_data_inline(plugin)) {
    BP_TRY(refuse_data_name(plugin, *data_name, "this backend keeps its data in the .pte"));
  }
  BP_TRY(check_duplicates(plugin, given));
  for (const auto& [key, value] : given) {
    if (!is_core_key(key)) BP_TRY(check_own_option(plugin, BP_PHASE_COMPILE, key, value));
  }
  CompileSpecs specs;
  specs.options = filled(plugin, BP_PHASE_COMPILE, given);
  if (const auto name = find(given, "method_name"); name && *name != method) {
    return refused(plugin, "method_name can't be " + quote(*name) + ": these are the specs of " +
                               quote(method));
  }
  const Array<bp_device_kind_t> kinds(plugin.device_kinds);
  if (const auto target = find(given, "target_device")) {
    specs.target_device = *target;
    BP_ASSIGN_OR_RETURN(specs.device, parse_target_device(plugin, *target));
  } else if (!kinds.empty()) {
    specs.target_device = view(kinds[0].name);
    specs.device = {kinds[0].type, 0};
  }
  BP_ASSIGN_OR_RETURN(specs.data_placement, parse_placement(plugin, given));
  if (data_name) {
    if (specs.data_placement == BP_DATA_INLINE) {
      BP_TRY(refuse_data_name(plugin, *data_name, "data_placement is inline"));
    }
    if (const Status rules = check_data_name(*data_name); !rules.ok()) {
      return refused(plugin, rules.error().message);
    }
    specs.data_name = *data_name;
  }
  return specs;
}

Result<Options> check_options(const bp_plugin_t& plugin, uint32_t phase, const Options& given) {
  BP_TRY(check_duplicates(plugin, given));
  for (const auto& [key, value] : given) BP_TRY(check_own_option(plugin, phase, key, value));
  return filled(plugin, phase, given);
}

Result<std::vector<Options>> route_specs(std::span<const bp_plugin_t* const> plugins,
                                         const std::vector<Spec>& specs) {
  std::vector<Options> routed(plugins.size());
  for (const Spec& spec : specs) {
    bool found = false;
    std::vector<std::string_view> names;
    for (size_t i = 0; i < plugins.size(); ++i) {
      names.push_back(view(plugins[i]->name));
      const bool meant =
          spec.plugin.empty() ? takes(*plugins[i], spec) : spec.plugin == names.back();
      if (!meant) continue;
      routed[i].emplace_back(spec.key, spec.value);
      found = true;
    }
    if (found) continue;
    if (!spec.plugin.empty()) {
      return Error{Code::invalid_argument,
                   "option " + quote(spec.key) + " is for " + quote(spec.plugin) +
                       ", which is not among the backends" + did_you_mean(spec.plugin, names) +
                       (names.empty() ? "" : " (" + join_words(names) + ")")};
    }
    if (plugins.empty()) {
      return Error{Code::invalid_argument,
                   "option " + quote(spec.key) + " is given, but no backend to take it"};
    }
    return nobody_takes(plugins, spec);
  }
  return routed;
}

Result<bp_devref_t> parse_target_device(const bp_plugin_t& plugin, std::string_view target) {
  const Array<bp_device_kind_t> kinds(plugin.device_kinds);
  const size_t colon = std::min(target.find(':'), target.size());
  const std::string_view name = target.substr(0, colon);
  std::vector<std::string_view> names;
  for (const bp_device_kind_t& kind : kinds) {
    names.push_back(view(kind.name));
    if (names.back() != name) continue;
    if (colon == target.size()) return bp_devref_t{kind.type, 0};
    const std::string_view digits = target.substr(colon + 1);
    int32_t index = 0;
    const auto error = std::from_chars(digits.data(), digits.data() + digits.size(), index).ec;
    // from_chars also takes "-1", "007" and "1x".
    if (error == std::errc() && index >= 0 && std::to_string(index) == digits) {
      return bp_devref_t{kind.type, index};
    }
    return refused(plugin, "target_device can't be " + quote(target) + ": what follows '" +
                               std::string(name) + ":' is the device's number");
  }
  std::string allowed =
      names.empty() ? "it can't choose a device" : "it is one of " + join_words(names);
  if (!names.empty()) allowed += ", each with ':' and a number where there are several";
  return refused(plugin, "target_device can't be " + quote(target) + ": " + allowed +
                             did_you_mean(name, names));
}

}  // namespace backplane
