// Vendor libraries, opened when they are first needed and never closed.
//
// Nothing of NVIDIA's is linked: the plugin loads, lists and answers on a machine without any of
// it. What is not there is `unavailable`, with where it was looked for and how to get it.
#pragma once

#include <backplane/result.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::cuda {

// How to find and to name a library.
struct LibraryName {
  std::string_view title;              // "cuDNN 9"
  std::span<const char* const> files;  // sonames, the preferred one first
  std::string_view remedy;             // "install it, such as with pip install nvidia-cudnn-cu13"
};

// The variable with further folders, separated by colons; they are searched first.
inline constexpr const char* kLibraryPathVariable = "BACKPLANE_CUDA_PATH";

class SharedLibrary {
 public:
  // The library that this process has loaded already, else the first that opens: in `folders`, then
  // where the system's loader looks.
  static Result<SharedLibrary> open(const LibraryName& name, std::span<const std::string> folders);

  // Points `function` at the library's `symbol`. incompatible: it has none.
  template <class F>
  Status bind(F*& function, const char* symbol) const {
    BP_ASSIGN_OR_RETURN(void* const address, find(symbol));
    function = reinterpret_cast<F*>(address);
    return Ok{};
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  SharedLibrary(void* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  [[nodiscard]] Result<void*> find(const char* symbol) const;

  void* handle_;
  std::string path_;
};

// Where NVIDIA's libraries may lie beside the loader's places: the variable's folders, the CUDA
// Toolkit's, and where pip puts them for the Python that is active or first in PATH.
[[nodiscard]] std::vector<std::string> vendor_folders();

}  // namespace backplane::cuda
