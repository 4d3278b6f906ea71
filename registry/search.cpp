#include "registry/search.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include "registry/manifest.hpp"

namespace backplane::registry {
namespace {

namespace fs = std::filesystem;

void add(std::vector<SearchFolder>& folders, Origin origin, const std::string& given) {
  SearchFolder folder{origin, given, {}, {}};
  if (!given.starts_with('/')) {
    folder.problem = "it is not an absolute path";
    folders.push_back(std::move(folder));
    return;
  }
  std::error_code error;
  folder.folder = fs::canonical(given, error);
  if (error) {
    folder.folder.clear();
    folder.problem = error == std::errc::no_such_file_or_directory ? "not there" : error.message();
  }
  const bool known = std::any_of(folders.begin(), folders.end(), [&](const SearchFolder& other) {
    return folder.problem.empty() ? other.folder == folder.folder : other.given == given;
  });
  if (!known) folders.push_back(std::move(folder));
}

// LIBDIR/backplane/plugins beside an installed library; plugins.d in the build folder, some levels
// above what the build has just linked. Only those that are there.
void add_relative(std::vector<SearchFolder>& folders, const fs::path& own_path) {
  constexpr int kLevels = 3;
  fs::path folder = own_path.parent_path();
  std::error_code error;
  if (const fs::path beside = folder / "backplane" / "plugins"; fs::is_directory(beside, error)) {
    add(folders, Origin::relative, beside.string());
    return;
  }
  for (int level = 0; level < kLevels && folder != folder.parent_path(); ++level) {
    folder = folder.parent_path();
    if (!fs::is_directory(folder / "plugins.d", error)) continue;
    add(folders, Origin::relative, (folder / "plugins.d").string());
    return;
  }
}

}  // namespace

std::vector<SearchFolder> search_folders(const std::vector<std::string>& named,
                                         const std::string& environment, const fs::path& own_path) {
  std::vector<SearchFolder> folders;
  for (const std::string& folder : named) add(folders, Origin::caller, folder);
  for (size_t start = 0; start < environment.size();) {
    const size_t end = std::min(environment.find(':', start), environment.size());
    if (end != start) add(folders, Origin::environment, environment.substr(start, end - start));
    start = end + 1;
  }
  if (!own_path.empty()) add_relative(folders, own_path);
  add(folders, Origin::compiled_in, BACKPLANE_PLUGIN_DIR);
  return folders;
}

std::string plugin_path_variable() {
  const char* value = ::secure_getenv("BACKPLANE_PLUGIN_PATH");
  return value == nullptr ? "" : value;
}

Result<std::vector<fs::path>> find_manifests(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  if (error) return Error{Code::invalid_argument, folder.string() + ": " + error.message()};
  for (; entry != fs::directory_iterator(); entry.increment(error)) {
    if (error) break;
    if (entry->path().filename().string().ends_with(kManifestSuffix))
      found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace backplane::registry
