// The plugins of tests/abi/plugins, laid out in a folder as an installation would.
#pragma once

#include <backplane/plugins.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "../registry/temp_folder.hpp"

namespace backplane::test {

class PluginFolder {
 public:
  PluginFolder() : built_(std::getenv("ABI_PLUGINS")) {}

  [[nodiscard]] bool was_built(const std::string& name) const {
    return std::filesystem::exists(built_ / (name + ".so"));
  }
  // The library `from` as plugin `name`, with a manifest of these further lines.
  void add(const std::string& name, const std::string& from, const std::string& more = "") const {
    const std::string library = name + ".so";
    std::filesystem::copy_file(built_ / (from + ".so"), folder_.path() / library);
    folder_.mode(library, 0755);
    folder_.write(name + ".backplane.yaml", manifest(name, more));
  }
  void add(const std::string& name) const { add(name, name); }

  [[nodiscard]] const TempFolder& folder() const { return folder_; }
  [[nodiscard]] std::string library(const std::string& name) const {
    return (folder_.path() / (name + ".so")).string();
  }
  // The plugins of this folder alone.
  [[nodiscard]] Plugins plugins() const {
    return Plugins({.folders = {folder_.str()}, .environment = "", .installed = false});
  }

 private:
  std::filesystem::path built_;
  TempFolder folder_;
};

// What the tables of modern.cpp and plain.c say, for manifests.
inline constexpr const char* kModern =
    "devices: [cpu]\ndata_placement: [inline, external]\ndelegate_ids: [OtherBackend]\n";
inline constexpr const char* kPlain = "data_placement: [inline]\n";

}  // namespace backplane::test
