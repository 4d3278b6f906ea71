// Runs the built command as a user would, and keeps what it printed.
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern char** environ;

namespace backplane::cli {

// A folder of this test's own, gone afterwards.
struct Folder {
  std::filesystem::path path;
  explicit Folder(const std::string& name)
      : path(std::filesystem::temp_directory_path() / (name + std::to_string(getpid()))) {
    std::filesystem::create_directory(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path / name).string();
  }
};

inline std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

struct Outcome {
  int code = -1;  // -1: ended by a signal
  std::string out;
  std::string err;
};

// `out`: where stdout goes; empty: it is kept.
inline Outcome command(const std::vector<std::string>& words, const std::string& out = {}) {
  const Folder folder("backplane_command_");
  const char* path = std::getenv("BACKPLANE_COMMAND");
  REQUIRE_MESSAGE(path, "BACKPLANE_COMMAND is not set; meson test does it");
  std::vector<char*> argv = {const_cast<char*>(path)};
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::string out_path = out.empty() ? folder / "out" : out;
  const std::string err_path = folder / "err";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out_path.c_str(), O_WRONLY | O_CREAT, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err_path.c_str(), O_WRONLY | O_CREAT, 0600);
  pid_t child = 0;
  REQUIRE(posix_spawn(&child, path, &actions, nullptr, argv.data(), environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out.empty() ? text_of(out_path) : "",
          text_of(err_path)};
}

}  // namespace backplane::cli
