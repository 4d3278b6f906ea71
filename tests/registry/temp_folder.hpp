// A folder that is gone with its test. It lies in the system's temporary folder, which all may
// write and which has the sticky bit: as good a place for plugins as the rules allow.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace backplane::test {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "backplane-test-XXXXXX").string();
    path_ = std::filesystem::canonical(::mkdtemp(pattern.data()));
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string str() const { return path_.string(); }

  // A folder inside it, with those before it.
  std::filesystem::path folder(const std::string& name) const {
    std::filesystem::create_directories(path_ / name);
    return path_ / name;
  }
  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    mode(name, 0644);
    return path_ / name;
  }
  void mode(const std::string& name, mode_t mode) const { ::chmod((path_ / name).c_str(), mode); }

 private:
  std::filesystem::path path_;
};

// A manifest that says what is needed and no more.
inline std::string manifest(const std::string& name, const std::string& more = "") {
  return "manifest: 1\nname: " + name + "\nlibrary: " + name +
         ".so\nversion: 1.0\nabi: {major: 1, min_host_minor: 0}\n" + more;
}

}  // namespace backplane::test
