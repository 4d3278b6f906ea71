#include "registry/catalog.hpp"

#include <backplane/plugin.h>
#include <backplane/array.hpp>

#include <algorithm>
#include <system_error>

#include "plugin/option_values.hpp"
#include "registry/loader.hpp"

namespace backplane::registry {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDelegatePrefix = "backplane.";

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

Entry read_entry(const fs::path& path, const Status& folder_trusted) {
  Entry entry;
  entry.path = path;
  entry.folder_trusted = folder_trusted;
  auto manifest = read_manifest(path.string());
  if (manifest.ok()) {
    entry.manifest = std::move(manifest).value();
  } else {
    const std::string file = path.filename().string();
    entry.manifest.name = file.substr(0, file.size() - kManifestSuffix.size());
    entry.readable = std::move(manifest).error();
  }
  return entry;
}

std::string sorted(std::vector<std::string> words) {
  std::sort(words.begin(), words.end());
  return words.empty() ? "none" : join_words({words.begin(), words.end()});
}

std::vector<std::string> device_names(const bp_plugin_t& table) {
  std::vector<std::string> names;
  for (const bp_device_kind_t& kind : sdk::Array<bp_device_kind_t>(table.device_kinds)) {
    names.emplace_back(sdk::view(kind.name));
  }
  return names;
}

std::vector<std::string> delegate_ids(const bp_plugin_t& table) {
  std::vector<std::string> ids;
  for (const bp_str_t& id : sdk::Array<bp_str_t>(table.delegate_ids)) {
    ids.emplace_back(sdk::view(id));
  }
  return ids;
}

std::vector<std::string> placements(const bp_plugin_t& table) {
  std::vector<std::string> names;
  if ((table.data_placement & BP_DATA_EXTERNAL) != 0) names.emplace_back("external");
  if ((table.data_placement & BP_DATA_INLINE) != 0) names.emplace_back("inline");
  return names;
}

// A manifest that is believed before the library is opened must say what the library does.
Status compare(const Entry& entry, const Plugin& plugin) {
  const Manifest& manifest = entry.manifest;
  const bp_plugin_t& table = *plugin.table;
  const struct {
    std::string_view what;
    std::string listed, actual;
  } facts[] = {
      {"name", manifest.name, plugin.name},
      {"version", manifest.version, std::string(sdk::view(table.version))},
      {"devices", sorted(manifest.devices), sorted(device_names(table))},
      {"data_placement", sorted(manifest.data_placement), sorted(placements(table))},
      {"delegate_ids", sorted(manifest.delegate_ids), sorted(delegate_ids(table))},
  };
  for (const auto& [what, listed, actual] : facts) {
    if (listed == actual) continue;
    return Error{Code::incompatible, entry.path.string() + " and " + plugin.path +
                                         " don't belong together: the manifest says that " +
                                         std::string(what) + " is " + listed + ", the library " +
                                         actual + "; install both anew"};
  }
  return Ok{};
}

Status check_abi(const Entry& entry) {
  const Manifest& manifest = entry.manifest;
  if (manifest.abi_major == BP_ABI_MAJOR && manifest.min_host_minor <= BP_ABI_MINOR) return Ok{};
  const auto version = [](uint32_t major, uint32_t minor) {
    return std::to_string(major) + "." + std::to_string(minor);
  };
  return Error{
      Code::incompatible,
      entry.path.string() + ": it needs plugin contract " +
          version(manifest.abi_major, manifest.min_host_minor) + ", and this host speaks " +
          version(BP_ABI_MAJOR, BP_ABI_MINOR) +
          (manifest.abi_major < BP_ABI_MAJOR ? ": update the plugin" : ": update backplane")};
}

}  // namespace

Catalog::Catalog(std::vector<SearchFolder> folders, Trust trust)
    : folders_(std::move(folders)), trust_(std::move(trust)) {
  for (SearchFolder& folder : folders_) {
    if (folder.problem.empty()) scan(folder);
  }
  for (Entry& entry : entries_) {
    const auto first = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& other) {
      return other.manifest.name == entry.manifest.name;
    });
    if (&*first != &entry) entry.shadowed_by = first->path.string();
  }
}

void Catalog::scan(SearchFolder& folder) {
  const Status trusted = check_folder(folder.folder, trust_);
  auto manifests = find_manifests(folder.folder);
  if (!manifests.ok()) {
    folder.problem = manifests.error().message;
    return;
  }
  for (const fs::path& path : *manifests) entries_.push_back(read_entry(path, trusted));
}

const Entry* Catalog::find(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.manifest.name == name) return &entry;
  }
  for (const Entry& entry : entries_) {
    if (entry.shadowed_by.empty() && contains(entry.manifest.aliases, name)) return &entry;
  }
  return nullptr;
}

const Entry* Catalog::find_delegate(std::string_view id) const {
  if (id.starts_with(kDelegatePrefix)) {
    const std::string_view name = id.substr(kDelegatePrefix.size());
    const Entry* entry = find(name);
    return entry != nullptr && entry->manifest.name == name ? entry : nullptr;
  }
  for (const Entry& entry : entries_) {
    if (entry.shadowed_by.empty() && contains(entry.manifest.delegate_ids, id)) return &entry;
  }
  return nullptr;
}

Verdict Catalog::examine(const Entry& entry) const {
  using enum PluginState;
  const auto refused = [](PluginState state, Error error) {
    return Verdict{state, std::move(error), {}};
  };
  if (!entry.folder_trusted.ok()) return refused(untrusted, entry.folder_trusted.error());
  if (!entry.readable.ok()) {
    const bool newer = entry.readable.error().code == Code::incompatible;
    return refused(newer ? incompatible : unloadable, entry.readable.error());
  }
  if (Status abi = check_abi(entry); !abi.ok()) return refused(incompatible, abi.error());
  auto library = check_library(entry.path.parent_path(), entry.manifest.library, trust_);
  if (!library.ok()) {
    const bool missing = library.error().code == Code::not_found;
    return refused(missing ? unloadable : untrusted, std::move(library).error());
  }
  if (Status fit = inspect_library(*library, {}); !fit.ok()) {
    const bool other = fit.error().code == Code::incompatible;
    return {other ? incompatible : unloadable, fit.error(), *library};
  }
  return {available, {Code::internal, {}}, *library};
}

Result<const Plugin*> Catalog::open(const Entry& entry) const {
  Verdict verdict = examine(entry);
  if (verdict.state != PluginState::available) return std::move(verdict.error);
  BP_ASSIGN_OR_RETURN(const Plugin* plugin, load_library(verdict.library, entry.manifest.sha256));
  BP_TRY(compare(entry, *plugin));
  return plugin;
}

Result<const Plugin*> Catalog::open_path(const std::string& path) const {
  if (!path.starts_with('/')) {
    return Error{Code::invalid_argument,
                 path + ": a plugin that is given by its path needs an absolute one"};
  }
  std::error_code error;
  const fs::path folder = fs::canonical(fs::path(path).parent_path(), error);
  if (error) return Error{Code::not_found, path + ": " + error.message()};
  const std::string file = fs::path(path).filename().string();
  const Status trusted = check_folder(folder, trust_);
  if (file.ends_with(kManifestSuffix)) {
    if (!fs::exists(folder / file, error)) {
      return Error{Code::not_found, path + ": there is no such file"};
    }
    return open(read_entry(folder / file, trusted));
  }
  BP_TRY(trusted);
  BP_ASSIGN_OR_RETURN(const fs::path library, check_library(folder, file, trust_));
  return load_library(library, {});
}

std::string Catalog::looked_in() const {
  std::string out;
  for (const SearchFolder& folder : folders_) {
    out += (out.empty() ? "looked in: " : ", ") + folder.given;
    if (!folder.problem.empty()) out += " (" + folder.problem + ")";
  }
  return out.empty() ? "there is no folder to look in" : out;
}

}  // namespace backplane::registry
