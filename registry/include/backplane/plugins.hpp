// The plugins on this machine: found by their manifests, opened when they are asked for.
//
//   auto plugins = backplane::Plugins::standard();
//   auto program = backplane::Program::load("digits.pte", plugins);
//
// Nothing is opened to be listed. What is opened stays in the process for its life; what was
// created for this object (backends of kernel libraries) is destroyed with it.
#pragma once

#include <backplane/plugin_source.hpp>
#include <backplane/result.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// Where to look, before the installed folder.
struct PluginSearch {
  std::vector<std::string> folders = {};  // absolute, the first one first
  // Folders separated by ':'; if not set, BACKPLANE_PLUGIN_PATH's, unless the process runs setuid.
  std::optional<std::string> environment = {};
  bool installed = true;  // also the folder that belongs to this library
};

enum class PluginState {
  available,
  shadowed,      // another one of its name comes first
  untrusted,     // somebody else could change it
  incompatible,  // of another version of the contract, or for another machine
  unloadable,    // damaged, incomplete, or no plugin
};

struct PluginInfo {
  std::string name;
  PluginState state = PluginState::available;
  std::string reason;    // unless available
  std::string manifest;  // path
  std::string library;   // path
  std::string version;
  std::vector<std::string> provides;  // compile, run, kernels
  std::vector<std::string> devices;
  std::vector<std::string> delegate_ids;
  std::vector<std::string> aliases;
  std::vector<std::string> warnings;  // of its manifest
};

// "available", "shadowed", …
[[nodiscard]] std::string_view name_of(PluginState state);

struct PluginFolder {
  std::string path;
  std::string origin;   // "given", "BACKPLANE_PLUGIN_PATH", "beside the library", "installed"
  std::string problem;  // why nothing was found in it; empty if it was read
};

class Plugins final : public PluginSource {
 public:
  // Reads the manifests; what is wrong with one, or with a folder, shows when it is asked for.
  explicit Plugins(const PluginSearch& search);
  [[nodiscard]] static Plugins standard() { return Plugins(PluginSearch{}); }
  ~Plugins() override;
  Plugins(Plugins&&) noexcept;
  Plugins& operator=(Plugins&&) noexcept;

  // By name or alias.
  [[nodiscard]] Result<const Plugin*> find(std::string_view name) override;
  [[nodiscard]] Result<const Plugin*> find_delegate(std::string_view id) override;
  [[nodiscard]] std::vector<KernelLibrary> kernel_libraries(
      const std::vector<std::string>& preferred, std::vector<std::string>& problems) override;
  [[nodiscard]] std::vector<std::string> names() override;

  // The plugin of a library or manifest at an absolute path, wherever it lies. Checked as all
  // others.
  [[nodiscard]] Result<const Plugin*> open(const std::string& path);

  // All manifests found, in search order, and the folders looked in. [any thread]
  [[nodiscard]] std::vector<PluginInfo> list() const;
  [[nodiscard]] std::vector<PluginFolder> folders() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace backplane
