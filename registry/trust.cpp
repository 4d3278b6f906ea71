#include "registry/trust.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "registry/own_path.hpp"

namespace backplane::registry {
namespace {

namespace fs = std::filesystem;

std::string octal(mode_t mode) {
  std::string digits = "0000";
  for (size_t i = 0; i < 4; ++i) {
    digits[3 - i] = static_cast<char>('0' + (mode >> (3 * i) & 7));
  }
  return digits;
}

Error untrusted(const fs::path& path, std::string_view why, std::string_view remedy) {
  return {Code::invalid_argument, path.string() + " " + std::string(why) +
                                      ": plugins there are not opened; " + std::string(remedy)};
}

Result<struct stat> status_of(const fs::path& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) == 0) return status;
  return Error{errno == ENOENT ? Code::not_found : Code::invalid_argument,
               path.string() + ": " + std::strerror(errno)};
}

// `sticky_allowed`: for a folder above, in which what follows has been checked.
Status check_one(const fs::path& path, const struct stat& status, const Trust& trust,
                 bool sticky_allowed) {
  if (status.st_uid != 0 && status.st_uid != trust.caller) {
    return untrusted(path, "belongs to user " + std::to_string(status.st_uid),
                     "it must belong to root or to you");
  }
  const bool sticky = sticky_allowed && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & S_IWOTH) != 0 && !sticky) {
    return untrusted(path, "can be written by everybody (mode " + octal(status.st_mode) + ")",
                     "chmod o-w " + path.string());
  }
  if ((status.st_mode & S_IWGRP) != 0 && trust.caller == 0 && status.st_gid != 0 && !sticky) {
    return untrusted(path,
                     "can be written by group " + std::to_string(status.st_gid) + " (mode " +
                         octal(status.st_mode) + ") and you are root",
                     "chmod g-w " + path.string());
  }
  return Ok{};
}

// Whether `folder` is `below` or above it.
bool leads_to(const fs::path& folder, const fs::path& below) {
  return std::mismatch(folder.begin(), folder.end(), below.begin(), below.end()).first ==
         folder.end();
}

}  // namespace

Trust process_trust() {
  return {::geteuid(), own_path().parent_path()};
}

Status check_folder(const fs::path& folder, const Trust& trust) {
  BP_ASSIGN_OR_RETURN(const struct stat status, status_of(folder));
  if (!S_ISDIR(status.st_mode)) {
    return Error{Code::invalid_argument, folder.string() + " is not a folder"};
  }
  BP_TRY(check_one(folder, status, trust, false));
  for (fs::path above = folder; above != above.parent_path();) {
    above = above.parent_path();
    if (leads_to(above, trust.own_folder)) continue;
    BP_ASSIGN_OR_RETURN(const struct stat outer, status_of(above));
    BP_TRY(check_one(above, outer, trust, true));
  }
  return Ok{};
}

Result<fs::path> check_library(const fs::path& folder, const std::string& name,
                               const Trust& trust) {
  std::error_code error;
  const fs::path path = fs::canonical(folder / name, error);
  if (error) {
    return Error{Code::not_found, (folder / name).string() + ": " + error.message()};
  }
  if (path.parent_path() != folder) {
    return Error{Code::invalid_argument, (folder / name).string() + " is a link to " +
                                             path.string() + ", outside of its folder: copy it"};
  }
  BP_ASSIGN_OR_RETURN(const struct stat status, status_of(path));
  if (!S_ISREG(status.st_mode)) {
    return Error{Code::invalid_argument, path.string() + " is not a regular file"};
  }
  BP_TRY(check_one(path, status, trust, false));
  return path;
}

}  // namespace backplane::registry
