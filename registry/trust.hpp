// Whether a plugin on disk is what root or the caller put there.
//
// A loaded library can do all that this process can, so nobody else may be able to change it:
// neither the file, nor its folder, nor, by renaming, a folder above. Only write bits and owners
// count: a file that all may read is fine.
#pragma once

#include <backplane/result.hpp>

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace backplane::registry {

struct Trust {
  uid_t caller = 0;  // effective user
  // The folder that libbackplane itself lies in. Whoever can rename a folder above it can replace
  // this library too, so the folders that lead to it are taken as they are. May be empty.
  std::filesystem::path own_folder;
};

// Of this process.
[[nodiscard]] Trust process_trust();

// Whether plugins of `folder` (absolute, without links: canonical) may be opened. Its owner is root
// or the caller; others can't write it, nor the group if the caller is root and the group is not
// root's. The folders above likewise, but one with the sticky bit may be writable by all.
// invalid_argument names the folder that fails, its mode and what to do.
[[nodiscard]] Status check_folder(const std::filesystem::path& folder, const Trust& trust);

// Whether the library `name` in a folder that passed is a regular file there (also through a link
// that stays in the folder) that only root or the caller can write. Gives its path without links.
// not_found, invalid_argument.
[[nodiscard]] Result<std::filesystem::path> check_library(const std::filesystem::path& folder,
                                                          const std::string& name,
                                                          const Trust& trust);

}  // namespace backplane::registry
