// `backplane plugins show`.
#pragma once

#include <backplane/plugins.hpp>

#include <string>

#include "console.hpp"

namespace backplane::cli {

// Opens the plugin of that name, or at that path if it has a `/`, and prints what its table says:
// options, operators. Gives the exit code.
[[nodiscard]] int show_plugin(Plugins& plugins, const std::string& name, const Console& console);

}  // namespace backplane::cli
