// Whether what a library exports is a table that this host can use. Reads it, calls nothing.
#pragma once

#include <backplane/plugin.h>
#include <backplane/result.hpp>

#include <cstddef>
#include <string_view>

namespace backplane {

// The table at `symbol`, of which `readable` bytes belong to the symbol. Messages don't name the
// library. incompatible: no table (magic), too small for any host of this major, for a newer host,
// or another sanitizer's. invalid_argument: a table whose contents break the contract (names,
// options, arrays, functions that belong together), named one by one.
[[nodiscard]] Result<const bp_plugin_t*> check_table(const void* symbol, size_t readable);

// A plugin's name, for tables, manifests and the command: [a-z0-9][a-z0-9_-]{0,63}.
[[nodiscard]] bool is_plugin_name(std::string_view name);

}  // namespace backplane
