// A folder of this process's own, removed with all that is in it.
#pragma once

#include <backplane/result.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

namespace backplane::cli {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    path_ = (std::filesystem::temp_directory_path(error) / "backplane-verify-XXXXXX").string();
    if (error || !mkdtemp(path_.data())) path_.clear();
  }
  ~TemporaryFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }  // empty: it could not be made

 private:
  std::string path_;
};

// The error with `name`, which the user gave, where it says `path`, a file in such a folder.
inline Error renamed(Error error, const std::string& path, const std::string& name) {
  std::string& text = error.message;
  for (size_t at = text.find(path); at != std::string::npos;
       at = text.find(path, at + name.size())) {
    text.replace(at, path.size(), name);
  }
  return error;
}

}  // namespace backplane::cli
