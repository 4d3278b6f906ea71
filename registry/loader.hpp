// Opens a plugin's library. The only place that does; what was opened stays for the process's life.
#pragma once

#include <backplane/plugin_source.hpp>
#include <backplane/result.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace backplane::registry {

// What can be said of a library without loading it: its format, its machine, whether it is a plugin
// of this major version, and its SHA-256 if `sha256` is not empty. Messages begin with the path.
[[nodiscard]] Status inspect_library(const std::filesystem::path& library,
                                     const std::string& sha256);

// Loads the library at an absolute path that has passed check_library, and checks its table; no
// function of the plugin is called. Once for a path: later calls give the same Plugin, which lives
// as long as the process. [any thread]
// Codes: as inspect_library and check_table; unavailable: a library that it needs is missing
// (named); invalid_argument: a symbol is undefined (named), or the loader refuses.
// Messages begin with the path.
[[nodiscard]] Result<const Plugin*> load_library(const std::filesystem::path& library,
                                                 const std::string& sha256);

// Takes apart what the loader says, which begins with the name of the file that it speaks of.
[[nodiscard]] Error explain_loader(const std::string& library, std::string_view loader_says);

}  // namespace backplane::registry
