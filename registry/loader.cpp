#include "registry/loader.hpp"

#include <dlfcn.h>
#include <backplane/array.hpp>

// Boost.DLL 1.74 with std::filesystem forgets to include these.
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <boost/dll/shared_library.hpp>

#include <exception>
#include <mutex>
#include <string_view>

#include "common/mapped_file.hpp"
#include "format/sha256.hpp"
#include "plugin/table.hpp"
#include "registry/elf.hpp"

namespace backplane::registry {
namespace {

struct Opened {
  boost::dll::shared_library library;
  Plugin plugin;
};

// All that this process has opened. Never destroyed: plugins stay mapped (their threads and their
// unwinding tables with them), and a handle must not be closed while statics are being destroyed.
struct Store {
  std::mutex mutex;  // also since not every platform's loader may be used by several threads
  std::map<std::string, Opened> by_path;
};
Store& store() {
  static auto* const opened = new Store;  // NOLINT(cppcoreguidelines-owning-memory)
  return *opened;
}

Result<PluginSymbol> inspect(const std::string& path, const std::string& sha256_digits) {
  BP_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const auto named = [&](Error error) { return std::move(error).in(path); };
  auto library = read_library(file.bytes());
  if (!library.ok()) return named(std::move(library).error());
  auto symbol = find_plugin_symbol(*library);
  if (!symbol.ok()) return named(std::move(symbol).error());
  if (!sha256_digits.empty() && to_hex(sha256(file.bytes())) != sha256_digits) {
    return named({Code::incompatible,
                  "its SHA-256 is not the one in its manifest: the file was changed, or belongs to "
                  "another version; install the plugin again"});
  }
  return symbol;
}

Status open(const std::string& path, boost::dll::shared_library& library) {
  // Not lazily, so that what is undefined shows now; nothing of it is visible to others; and never
  // unmapped. Boost.DLL has no name for the last, but hands the number on.
  constexpr auto kMode =
      static_cast<boost::dll::load_mode::type>(RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  try {
    library.load(path, kMode);
    return Ok{};
  } catch (const std::exception& e) {
    return explain_loader(path, e.what());
  }
}

// `text` from behind `before`, up to one of `ends`.
std::string_view between(std::string_view text, std::string_view before, std::string_view ends) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + before.size());
  return text.substr(0, text.find_first_of(ends));
}

}  // namespace

Error explain_loader(const std::string& library, std::string_view loader_says) {
  if (const auto own = between(loader_says, "dlerror system message: ", ""); !own.empty()) {
    const size_t end = own.rfind("): ");
    loader_says = own.substr(0, end);
  }
  constexpr std::string_view kCannotOpen = ": cannot open shared object file";
  if (const size_t at = loader_says.find(kCannotOpen); at != std::string_view::npos) {
    const std::string missing(loader_says.substr(0, at));
    if (missing != library) {
      return {Code::unavailable, library + " needs " + missing +
                                     ", which is not there (looked for in its RUNPATH, in "
                                     "LD_LIBRARY_PATH and in the system's folders): install it"};
    }
  }
  if (const auto symbol = between(loader_says, "undefined symbol: ", " ,()\n"); !symbol.empty()) {
    return {Code::invalid_argument,
            library + " uses the symbol " + std::string(symbol) +
                ", which neither it nor a library that it names defines: link the plugin with "
                "-Wl,-z,defs to find the missing library"};
  }
  return {Code::invalid_argument,
          library + " can't be loaded; the loader says: " + std::string(loader_says)};
}

Status inspect_library(const std::filesystem::path& library, const std::string& sha256) {
  BP_TRY(inspect(library.string(), sha256));
  return Ok{};
}

Result<const Plugin*> load_library(const std::filesystem::path& library,
                                   const std::string& sha256) {
  const std::string path = library.string();
  const std::lock_guard lock(store().mutex);
  if (const auto known = store().by_path.find(path); known != store().by_path.end()) {
    return &known->second.plugin;
  }
  BP_ASSIGN_OR_RETURN(const PluginSymbol symbol, inspect(path, sha256));
  Opened opened;
  BP_TRY(open(path, opened.library));
  const void* address = ::dlsym(opened.library.native(), BP_PLUGIN_SYMBOL);
  if (address == nullptr) {
    return Error{Code::invalid_argument, path + ": the loader does not find " BP_PLUGIN_SYMBOL};
  }
  auto table = check_table(address, symbol.size_bytes);
  if (!table.ok()) return std::move(table).error().in(path);
  opened.plugin = {std::string(sdk::view((*table)->name)), path, *table};
  const auto [place, inserted] = store().by_path.emplace(path, std::move(opened));
  return &place->second.plugin;
}

}  // namespace backplane::registry
