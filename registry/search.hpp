// Where plugins are looked for, and which manifests lie there.
//
// In this order: folders that the caller names, BACKPLANE_PLUGIN_PATH, the folder found relative to
// this library, the one that was compiled in. Never the working directory, and no subfolders.
#pragma once

#include <backplane/result.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace backplane::registry {

enum class Origin : uint8_t { caller, environment, relative, compiled_in };

struct SearchFolder {
  Origin origin = Origin::caller;
  std::string given;             // as it was named
  std::filesystem::path folder;  // absolute, without links; empty if it is not there or not used
  std::string problem;           // why it is not used: relative, or not there
};

// Each folder once, the first time that it is named. `environment` is the value of
// BACKPLANE_PLUGIN_PATH: folders separated by ':'; `own_path` this library's file, or empty.
[[nodiscard]] std::vector<SearchFolder> search_folders(const std::vector<std::string>& named,
                                                       const std::string& environment,
                                                       const std::filesystem::path& own_path);

// The variable's value; empty if it is not set or the process runs with more rights than its caller
// (setuid): then it is not looked at.
[[nodiscard]] std::string plugin_path_variable();

// Paths of the manifests in a folder, in the order of their names. What can't be read is skipped.
// invalid_argument: the folder itself can't be read.
[[nodiscard]] Result<std::vector<std::filesystem::path>> find_manifests(
    const std::filesystem::path& folder);

}  // namespace backplane::registry
