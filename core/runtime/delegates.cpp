#include "runtime/delegates.hpp"

#include <algorithm>

namespace backplane::runtime {
namespace {

std::string_view text_of(const std::vector<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

const pte::CompileSpec* find_spec(const pte::Delegate& delegate, std::string_view key) {
  const auto& specs = delegate.compile_specs;
  const auto at = std::find_if(specs.begin(), specs.end(),
                               [&](const pte::CompileSpec& s) { return s.key == key; });
  return at == specs.end() ? nullptr : &*at;
}

const bp_option_t* find_option(const bp_plugin_t& table, std::string_view key) {
  for (uint32_t i = 0; i < table.options.count; ++i) {
    const bp_option_t* option = BP_AT(bp_option_t, table.options, i);
    if (to_view(option->name) == key) return option;
  }
  return nullptr;
}

struct PhasedOptions {
  Options create;
  Options load;
};

// Those of `given` that are for one plugin. `used[i]` is set where given[i] is.
PhasedOptions options_for(const BackendUse& use, const Options& given, std::vector<bool>& used) {
  PhasedOptions mine;
  for (size_t i = 0; i < given.size(); ++i) {
    std::string_view key = given[i].first;
    const bool named = key.starts_with(use.plugin->name + ":");
    if (named) key.remove_prefix(use.plugin->name.size() + 1);
    const bp_option_t* option = find_option(*use.plugin->table, key);
    if (!named && option == nullptr) continue;
    used[i] = true;
    const bool at_create = option != nullptr && (option->phases & BP_PHASE_CREATE) != 0;
    const bool at_load = option == nullptr || (option->phases & BP_PHASE_LOAD) != 0 || !at_create;
    if (at_create) mine.create.emplace_back(key, given[i].second);
    if (at_load) mine.load.emplace_back(key, given[i].second);
  }
  return mine;
}

std::string describe(const bp_device_t& device) {
  return std::to_string(device.device.type) + ":" + std::to_string(device.device.index) + " (" +
         std::string(to_view(device.name)) + ")";
}

bool is_host(int32_t type) {
  return type == BP_DEV_CPU || type == BP_DEV_CUDA_HOST || type == BP_DEV_CUDA_MANAGED;
}

std::string place(const pte::Plan& plan, size_t index) {
  return "method '" + plan.name + "', delegate " + std::to_string(index) + " (" +
         plan.delegates[index].id + ")";
}

}  // namespace

Delegates::~Delegates() {
  for (const BackendUse& use : uses_) {
    for (bp_program_t* program : use.programs) use.backend->unload(program);
  }
}

void Delegates::find(const pte::Program& program, PluginSource& plugins,
                     std::vector<std::string>& missing) {
  std::vector<std::pair<std::string, size_t>>
      known;  // ids; nobody's have the place uses_ can't have
  for (const pte::Plan& plan : program.plans) {
    std::vector<size_t>& uses = use_of_.emplace_back();
    for (const pte::Delegate& delegate : plan.delegates) {
      const auto same = std::find_if(known.begin(), known.end(),
                                     [&](const auto& k) { return k.first == delegate.id; });
      if (same != known.end()) {
        uses.push_back(same->second);
        continue;
      }
      size_t use = SIZE_MAX;
      auto plugin = plugins.find_delegate(delegate.id);
      if (!plugin.ok()) {
        missing.push_back("delegate '" + delegate.id + "': " + plugin.error().message);
      } else {
        const auto at = std::find_if(uses_.begin(), uses_.end(),
                                     [&](const BackendUse& u) { return u.plugin == *plugin; });
        use = static_cast<size_t>(at - uses_.begin());
        if (at == uses_.end()) uses_.push_back({.plugin = *plugin});
      }
      known.emplace_back(delegate.id, use);
      uses.push_back(use);
    }
  }
}

Status Delegates::create_backends(const Options& given) {
  std::vector<bool> used(given.size());
  for (BackendUse& use : uses_) {
    const bp_plugin_t& table = *use.plugin->table;
    const PhasedOptions mine = options_for(use, given, used);
    BP_ASSIGN_OR_RETURN(const Options create, check_options(table, BP_PHASE_CREATE, mine.create));
    BP_ASSIGN_OR_RETURN(use.load_options, check_options(table, BP_PHASE_LOAD, mine.load));
    BP_ASSIGN_OR_RETURN(Backend backend, Backend::create(*use.plugin, create));
    use.backend = std::make_unique<Backend>(std::move(backend));
    BP_TRY(use.backend->validate(BP_PHASE_LOAD, use.load_options));
    BP_ASSIGN_OR_RETURN(use.devices, use.backend->devices());
  }
  const auto unused = std::find(used.begin(), used.end(), false);
  if (unused == used.end()) return Ok{};
  return Error{Code::invalid_argument, "no backend of this program has an option '" +
                                           given[static_cast<size_t>(unused - used.begin())].first +
                                           "'"};
}

Status Delegates::load(const pte::Program& program, DataHandler& data, const Options& given,
                       uint32_t num_threads) {
  BP_TRY(create_backends(given));
  loaded_.resize(program.plans.size());
  for (size_t p = 0; p < program.plans.size(); ++p) {
    const pte::Plan& plan = program.plans[p];
    for (size_t d = 0; d < plan.delegates.size(); ++d) {
      bp_load_t request{};
      request.struct_size = sizeof(request);
      request.source = to_abi(data);
      request.method = to_abi(plan.name);
      request.num_threads = num_threads;
      auto loaded = load_one(plan.delegates[d], use_of_[p][d], request);
      if (!loaded.ok()) return std::move(loaded).error().in(place(plan, d));
      loaded_[p].push_back(std::move(loaded).value());
    }
  }
  return Ok{};
}

Result<LoadedDelegate> Delegates::load_one(const pte::Delegate& delegate, size_t use_index,
                                           bp_load_t& request) {
  BackendUse& use = uses_[use_index];
  LoadedDelegate loaded{.use = use_index};
  BP_ASSIGN_OR_RETURN(request.device, device_of(delegate, use));
  if (const pte::CompileSpec* print = find_spec(delegate, kFingerprintKey)) {
    BP_ASSIGN_OR_RETURN(const auto fit, use.backend->check(text_of(print->value), request.device));
    if (fit.first > BP_FIT_SUBOPTIMAL) {
      return Error{Code::incompatible,
                   "plugin '" + use.plugin->name + "': was compiled for another device: " +
                       fit.second + (fit.first == BP_FIT_RECOMPILE ? "; lower it again" : "")};
    }
  }
  if (const pte::CompileSpec* io = find_spec(delegate, kDelegateIoKey)) {
    if (const auto decoded = decode_delegate_io(io->value)) loaded.on_device = decoded->on_device;
  }
  std::vector<bp_kv_t> specs;
  for (const pte::CompileSpec& spec : delegate.compile_specs) {
    specs.push_back({to_abi(spec.key), to_abi(text_of(spec.value))});
  }
  const OptionViews options(use.load_options);
  const auto address = reinterpret_cast<uintptr_t>(delegate.payload.data());
  request.payload = {delegate.payload.data(), delegate.payload.size(), address & (~address + 1), 0,
                     0};
  request.specs = {specs.data(), static_cast<uint32_t>(specs.size()), sizeof(bp_kv_t)};
  request.options = options.get();
  request.delegate_id = to_abi(delegate.id);
  BP_ASSIGN_OR_RETURN(loaded.program, use.backend->load(request));
  use.programs.push_back(loaded.program);
  loaded.target = target_of(*use.backend, request.device);
  return loaded;
}

Result<bp_devref_t> Delegates::device_of(const pte::Delegate& delegate,
                                         const BackendUse& use) const {
  const bp_plugin_t& table = *use.plugin->table;
  const pte::CompileSpec* spec = find_spec(delegate, "target_device");
  bp_devref_t wanted{BP_DEV_CPU, -1};
  if (spec != nullptr) {
    BP_ASSIGN_OR_RETURN(wanted, parse_target_device(table, text_of(spec->value)));
    if (text_of(spec->value).find(':') == std::string_view::npos) wanted.index = -1;  // any
  } else if (table.device_kinds.count > 0) {
    wanted.type = BP_AT(bp_device_kind_t, table.device_kinds, 0)->type;
  }
  if (wanted.type == BP_DEV_CPU) return bp_devref_t{BP_DEV_CPU, 0};
  const bp_device_t* best = nullptr;
  std::string others;
  for (const bp_device_t& device : use.devices) {
    const bool fits = device.device.type == wanted.type &&
                      (wanted.index < 0 || device.device.index == wanted.index);
    if (fits && device.score > 0 && (best == nullptr || device.score > best->score)) best = &device;
    others += (others.empty() ? "" : ", ") + describe(device);
  }
  if (best != nullptr) return best->device;
  return Error{Code::unavailable,
               "plugin '" + use.plugin->name + "' has no usable device " +
                   (spec == nullptr ? "" : std::string(text_of(spec->value)) + " ") +
                   "here; there is " + (others.empty() ? "none" : others)};
}

const DeviceTarget* Delegates::target_of(const Backend& backend, bp_devref_t device) {
  const bp_plugin_t& table = backend.table();
  const bool has_memory = BP_HAS(&table, alloc) && BP_HAS(&table, free) && BP_HAS(&table, copy);
  if (is_host(device.type) || !has_memory) return nullptr;
  for (const auto& target : targets_) {
    if (target->backend == &backend && target->device.type == device.type &&
        target->device.index == device.index) {
      return target.get();
    }
  }
  targets_.push_back(std::make_unique<DeviceTarget>(DeviceTarget{&backend, device}));
  return targets_.back().get();
}

Result<DelegateSessions> DelegateSessions::create(const Delegates& delegates) {
  DelegateSessions sessions(delegates);
  for (const BackendUse& use : delegates.uses()) {
    BP_ASSIGN_OR_RETURN(bp_session_t* const session, use.backend->session_create(use.programs));
    sessions.sessions_.push_back(session);
  }
  return sessions;
}

DelegateSessions::~DelegateSessions() {
  for (size_t i = 0; i < sessions_.size(); ++i) {
    delegates_->uses()[i].backend->session_destroy(sessions_[i]);
  }
}

Status DelegateSessions::reset() {
  for (size_t i = 0; i < sessions_.size(); ++i) {
    BP_TRY(delegates_->uses()[i].backend->session_reset(sessions_[i]));
  }
  return Ok{};
}

Result<DelegateSessions> DelegateSessions::copy() const {
  DelegateSessions copies(*delegates_);
  for (size_t i = 0; i < sessions_.size(); ++i) {
    BP_ASSIGN_OR_RETURN(bp_session_t* const session,
                        delegates_->uses()[i].backend->session_copy(sessions_[i]));
    copies.sessions_.push_back(session);
  }
  return copies;
}

}  // namespace backplane::runtime
