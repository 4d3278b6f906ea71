// All manifests that were found, and what can be said of each without loading it.
#pragma once

#include <backplane/plugin_source.hpp>
#include <backplane/plugins.hpp>
#include <backplane/result.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "registry/manifest.hpp"
#include "registry/search.hpp"
#include "registry/trust.hpp"

namespace backplane::registry {

// A manifest that was found. Immutable once scanned.
struct Entry {
  Manifest manifest;
  Status readable = Ok{};  // why the manifest can't be read: then only its name is known
  std::filesystem::path path;
  Status folder_trusted = Ok{};
  std::string shadowed_by;  // path of the manifest that comes first; empty if none does
};

struct Verdict {
  PluginState state = PluginState::available;
  Error error = {Code::internal, {}};  // unless available
  std::filesystem::path library;       // if it was found
};

class Catalog {
 public:
  Catalog(std::vector<SearchFolder> folders, Trust trust);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] const std::vector<SearchFolder>& folders() const { return folders_; }

  // The first entry of that name, else of that alias; null if there is none.
  [[nodiscard]] const Entry* find(std::string_view name) const;
  // The first entry that runs delegates with that id, its own or one of delegate_ids.
  [[nodiscard]] const Entry* find_delegate(std::string_view id) const;

  // Whether the entry's library may be opened, from what lies on disk now. Shadowing is left out.
  [[nodiscard]] Verdict examine(const Entry& entry) const;
  // Opens it, or says why not, and compares the table with the manifest.
  [[nodiscard]] Result<const Plugin*> open(const Entry& entry) const;
  // A library or manifest anywhere.
  [[nodiscard]] Result<const Plugin*> open_path(const std::string& path) const;

  // "looked in: /a, /b (not there)".
  [[nodiscard]] std::string looked_in() const;

 private:
  void scan(SearchFolder& folder);

  std::vector<SearchFolder> folders_;
  Trust trust_;
  std::vector<Entry> entries_;
};

}  // namespace backplane::registry
