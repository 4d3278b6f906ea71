// What a shared library says of itself, read from its file: nothing is loaded, no code runs.
#pragma once

#include <backplane/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace backplane::registry {

// A defined dynamic symbol whose name begins with "backplane_plugin_v".
struct PluginSymbol {
  std::string name;
  uint64_t size_bytes = 0;
  bool is_data = false;
};

struct Library {
  std::vector<PluginSymbol> symbols;
  std::vector<std::string> needed;  // libraries that it is linked with, by name
};

// Reads the file's bytes; every offset is checked. invalid_argument: not an ELF library, or
// damaged. incompatible: for another machine, named. Messages don't name the file.
[[nodiscard]] Result<Library> read_library(std::span<const std::byte> file);

// The table's symbol of this host's major version. invalid_argument: the library is no plugin.
// incompatible: it speaks other majors only, named.
[[nodiscard]] Result<PluginSymbol> find_plugin_symbol(const Library& library);

}  // namespace backplane::registry
