#include <backplane/ext/kernels.h>
#include <backplane/array.hpp>
#include <backplane/plugins.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "common/nearest.hpp"
#include "plugin/backend.hpp"
#include "plugin/option_values.hpp"
#include "plugin/options.hpp"
#include "registry/catalog.hpp"
#include "registry/own_path.hpp"

namespace backplane {
namespace {

using registry::Catalog;
using registry::Entry;
using registry::Origin;

Catalog make_catalog(const PluginSearch& search) {
  const std::string environment =
      search.environment ? *search.environment : registry::plugin_path_variable();
  auto folders = registry::search_folders(search.folders, environment, registry::own_path());
  if (!search.installed) {
    std::erase_if(folders, [](const registry::SearchFolder& folder) {
      return folder.origin == Origin::relative || folder.origin == Origin::compiled_in;
    });
  }
  return {std::move(folders), registry::process_trust()};
}

std::string_view name_of(Origin origin) {
  switch (origin) {
    using enum Origin;
    case caller:
      return "given";
    case environment:
      return "BACKPLANE_PLUGIN_PATH";
    case relative:
      return "beside the library";
    case compiled_in:
      return "installed";
  }
  return "";
}

Status check_kernels(const Plugin& plugin, const bp_kernels_t* kernels) {
  if (kernels == nullptr) {
    return Error{Code::incompatible, "plugin '" + plugin.name +
                                         "' has no kernels, though its manifest says that it "
                                         "provides them"};
  }
  if (kernels->struct_size >= sizeof(bp_kernels_t) &&
      (kernels->num_kernels == 0 ||
       (kernels->kernels != nullptr && kernels->kernel_stride >= sizeof(bp_kernel_t)))) {
    return Ok{};
  }
  return Error{Code::incompatible, "plugin '" + plugin.name + "': its table of kernels is damaged"};
}

}  // namespace

struct Plugins::Impl {
  explicit Impl(const PluginSearch& search) : catalog(make_catalog(search)) {}

  Result<KernelLibrary> open_kernels(const Entry& entry) {
    BP_ASSIGN_OR_RETURN(const Plugin* plugin, catalog.open(entry));
    const std::lock_guard lock(mutex);
    auto known = backends.find(plugin);
    if (known == backends.end()) {
      BP_ASSIGN_OR_RETURN(const Options options,
                          check_options(*plugin->table, BP_PHASE_CREATE, {}));
      BP_ASSIGN_OR_RETURN(Backend backend, Backend::create(*plugin, options));
      known = backends.emplace(plugin, std::move(backend)).first;
    }
    const auto* kernels = static_cast<const bp_kernels_t*>(known->second.extension(BP_EXT_KERNELS));
    BP_TRY(check_kernels(*plugin, kernels));
    return KernelLibrary{plugin, kernels};
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Entry& entry : catalog.entries()) {
      if (entry.shadowed_by.empty()) names.push_back(entry.manifest.name);
    }
    return names;
  }
  [[nodiscard]] Error not_found(std::string message, std::string_view wanted) const {
    const std::vector<std::string> known = names();
    const std::vector<std::string_view> views(known.begin(), known.end());
    message += did_you_mean(wanted, views);
    if (!known.empty()) message += " (there are: " + join_words(views) + ")";
    return {Code::not_found, message + "; " + catalog.looked_in()};
  }

  Catalog catalog;
  std::mutex mutex;                           // of what follows
  std::map<const Plugin*, Backend> backends;  // of kernel libraries
};

Plugins::Plugins(const PluginSearch& search) : impl_(std::make_unique<Impl>(search)) {}
Plugins::~Plugins() = default;
Plugins::Plugins(Plugins&&) noexcept = default;
Plugins& Plugins::operator=(Plugins&&) noexcept = default;

Result<const Plugin*> Plugins::find(std::string_view name) {
  if (const Entry* entry = impl_->catalog.find(name)) return impl_->catalog.open(*entry);
  return impl_->not_found("no plugin is called " + quote(name), name);
}

Result<const Plugin*> Plugins::find_delegate(std::string_view id) {
  if (const Entry* entry = impl_->catalog.find_delegate(id)) return impl_->catalog.open(*entry);
  return impl_->not_found("no plugin runs delegates with the id " + quote(id), {});
}

std::vector<KernelLibrary> Plugins::kernel_libraries(const std::vector<std::string>& preferred,
                                                     std::vector<std::string>& problems) {
  std::vector<const Entry*> order;
  const auto add = [&](const Entry* entry) {
    const bool wanted =
        entry != nullptr && entry->shadowed_by.empty() &&
        std::find(order.begin(), order.end(), entry) == order.end() &&
        std::count(entry->manifest.provides.begin(), entry->manifest.provides.end(), "kernels");
    if (wanted) order.push_back(entry);
  };
  for (const std::string& name : preferred) add(impl_->catalog.find(name));
  for (const Entry& entry : impl_->catalog.entries()) add(&entry);
  std::vector<KernelLibrary> libraries;
  for (const Entry* entry : order) {
    auto library = impl_->open_kernels(*entry);
    if (library.ok()) {
      libraries.push_back(*library);
    } else {
      problems.push_back(library.error().message);
    }
  }
  return libraries;
}

std::vector<std::string> Plugins::names() {
  return impl_->names();
}

Result<const Plugin*> Plugins::open(const std::string& path) {
  return impl_->catalog.open_path(path);
}

std::vector<PluginInfo> Plugins::list() const {
  std::vector<PluginInfo> list;
  for (const Entry& entry : impl_->catalog.entries()) {
    const registry::Manifest& m = entry.manifest;
    PluginInfo info{
        .name = m.name,
        .manifest = entry.path.string(),
        .library = m.library.empty() ? "" : (entry.path.parent_path() / m.library).string(),
        .version = m.version,
        .provides = m.provides,
        .devices = m.devices,
        .delegate_ids = m.delegate_ids,
        .aliases = m.aliases,
        .warnings = m.warnings};
    if (!entry.shadowed_by.empty()) {
      info.state = PluginState::shadowed;
      info.reason = "shadowed by " + entry.shadowed_by;
    } else {
      const registry::Verdict verdict = impl_->catalog.examine(entry);
      info.state = verdict.state;
      info.reason = verdict.error.message;
    }
    list.push_back(std::move(info));
  }
  return list;
}

std::vector<PluginFolder> Plugins::folders() const {
  std::vector<PluginFolder> folders;
  for (const registry::SearchFolder& folder : impl_->catalog.folders()) {
    folders.push_back({folder.given, std::string(name_of(folder.origin)), folder.problem});
  }
  return folders;
}

std::string_view name_of(PluginState state) {
  switch (state) {
    using enum PluginState;
    case available:
      return "available";
    case shadowed:
      return "shadowed";
    case untrusted:
      return "untrusted";
    case incompatible:
      return "incompatible";
    case unloadable:
      return "unloadable";
  }
  return "";
}

}  // namespace backplane
