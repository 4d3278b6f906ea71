#include "cuda/driver/shared_library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace backplane::cuda {
namespace {

namespace fs = std::filesystem;

std::string_view variable(const char* name) {
  const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody here sets any
  return text == nullptr ? std::string_view() : std::string_view(text);
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(':'));
    if (!part.empty()) parts.emplace_back(part);
    list.remove_prefix(std::min(list.size(), part.size() + 1));
  }
  return parts;
}

void add(std::vector<std::string>& folders, const fs::path& folder) {
  std::error_code none;
  if (!fs::is_directory(folder, none)) return;
  if (std::find(folders.begin(), folders.end(), folder.string()) == folders.end())
    folders.push_back(folder.string());
}

// Folders of `parent` whose names begin with `start`, in the order of their names.
std::vector<fs::path> children(const fs::path& parent, std::string_view start) {
  std::vector<fs::path> found;
  std::error_code none;
  for (fs::directory_iterator at(parent, none), end; !none && at != end; at.increment(none)) {
    if (at->path().filename().string().starts_with(start)) found.push_back(at->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// PREFIX/lib/python3.N/site-packages/nvidia/PACKAGE/lib, for each that is there.
void add_python(std::vector<std::string>& folders, const fs::path& prefix) {
  for (const fs::path& version : children(prefix / "lib", "python3")) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      for (const fs::path& package : children(version / packages / "nvidia", ""))
        add(folders, package / "lib");
    }
  }
}

bool has_file(const std::string& folder, const char* file) {
  std::error_code none;
  return fs::exists(fs::path(folder) / file, none);
}

std::string why_not() {
  const char* text = dlerror();
  return text == nullptr ? "unknown reason" : text;
}

}  // namespace

std::vector<std::string> vendor_folders() {
  std::vector<std::string> folders;
  for (const std::string& folder : split(variable(kLibraryPathVariable))) add(folders, folder);
  for (const char* home : {"CUDA_HOME", "CUDA_PATH"}) {
    if (!variable(home).empty()) add(folders, fs::path(variable(home)) / "lib64");
  }
  for (const char* python : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (!variable(python).empty()) add_python(folders, variable(python));
  }
  for (const std::string& folder : split(variable("PATH"))) {
    std::error_code none;
    if (!fs::exists(fs::path(folder) / "python3", none)) continue;
    add_python(folders, fs::path(folder).parent_path());
    break;
  }
  add_python(folders, "/usr/local");
  add(folders, "/usr/local/cuda/lib64");
  return folders;
}

Result<SharedLibrary> SharedLibrary::open(const LibraryName& name,
                                          std::span<const std::string> folders) {
  constexpr int kHow = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;
  std::string broken;  // why one that is there did not open
  for (const char* file : name.files) {
    if (void* handle = dlopen(file, kHow | RTLD_NOLOAD)) return SharedLibrary(handle, file);
  }
  for (const char* file : name.files) {
    for (const std::string& folder : folders) {
      if (!has_file(folder, file)) continue;
      const std::string path = folder + "/" + file;
      if (void* handle = dlopen(path.c_str(), kHow)) return SharedLibrary(handle, path);
      if (broken.empty()) broken = why_not();
    }
    if (void* handle = dlopen(file, kHow)) return SharedLibrary(handle, file);
    (void)dlerror();
  }
  std::string message(name.title);
  if (!broken.empty()) {
    message += " can't be opened: " + broken;
  } else {
    message += " is not here: no " + std::string(name.files[0]) + " where the loader looks";
    for (const std::string& folder : folders) message += ", nor in " + folder;
  }
  return Error{Code::unavailable, message + "; " + std::string(name.remedy)};
}

Result<void*> SharedLibrary::find(const char* symbol) const {
  if (void* address = dlsym(handle_, symbol)) return address;
  return Error{Code::incompatible, path_ + " has no " + symbol + ": it is too old for this plugin"};
}

}  // namespace backplane::cuda
