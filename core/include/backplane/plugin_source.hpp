// How core asks for plugins. The registry answers; core opens nothing and knows no plugin by name.
#pragma once

#include <backplane/ext/kernels.h>
#include <backplane/plugin.h>
#include <backplane/result.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// A plugin that is loaded. Pointers live as long as the process.
struct Plugin {
  std::string name;
  std::string path;  // of the library, for messages
  const bp_plugin_t* table = nullptr;
};

// A kernel library that a plugin offers.
struct KernelLibrary {
  const Plugin* plugin = nullptr;
  const bp_kernels_t* kernels = nullptr;
};

class PluginSource {
 public:
  virtual ~PluginSource() = default;

  // The plugin called `name`, loaded if it is not yet. Never another one.
  // not_found lists what there is and where was looked; incompatible, invalid_argument, unavailable
  // say why it can't be loaded. [any thread]
  [[nodiscard]] virtual Result<const Plugin*> find(std::string_view name) = 0;

  // The plugin that runs delegates with this id of a `.pte`: "backplane.NAME" or one of a plugin's
  // delegate ids. [any thread]
  [[nodiscard]] virtual Result<const Plugin*> find_delegate(std::string_view id) = 0;

  // Kernel libraries, the first in `preferred` first, then in search order. Plugins that can't be
  // loaded are left out and their reasons put into `problems`. [any thread]
  [[nodiscard]] virtual std::vector<KernelLibrary> kernel_libraries(
      const std::vector<std::string>& preferred, std::vector<std::string>& problems) = 0;

  // Names of all plugins found, loaded or not, in search order.
  [[nodiscard]] virtual std::vector<std::string> names() = 0;
};

}  // namespace backplane
