#include "registry/own_path.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string_view>
#include <system_error>

namespace backplane::registry {
namespace {

// An object of this library: its address tells which file it came from.
const char anchor = 0;

}  // namespace

std::filesystem::path own_path() {
  Dl_info info = {};
  link_map* map = nullptr;
  if (::dladdr1(&anchor, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 ||
      map == nullptr || map->l_name == nullptr) {
    return {};
  }
  // The program itself has no name there, and dli_fname is argv[0], which anybody may set.
  const std::string_view name = *map->l_name == '\0' ? "/proc/self/exe" : map->l_name;
  if (!name.starts_with('/')) return {};
  std::error_code error;
  std::filesystem::path path = std::filesystem::canonical(name, error);
  return error ? std::filesystem::path() : path;
}

}  // namespace backplane::registry
