// NVRTC: CUDA C++ to cubins and PTX, in memory. Opened when first needed, never linked.
#pragma once

#include <backplane/result.hpp>

#include <string>
#include <vector>

#include "cuda/compiler/architectures.hpp"

namespace backplane::cuda::compiler {

class Nvrtc {
 public:
  // unavailable: it is not on this machine; says how to get it.
  static Result<Nvrtc> open();

  // "nvrtc 13.0"
  [[nodiscard]] const std::string& version() const { return version_; }
  // The image of `text` for that architecture. internal: it does not compile; with the first error.
  [[nodiscard]] Result<std::string> compile(const std::string& text,
                                            const Architecture& architecture) const;

 private:
  using NvrtcProgram = struct NvrtcProgramObject*;
  int (*get_version_)(int*, int*);
  int (*create_)(NvrtcProgram*, const char* text, const char* name, int num_headers,
                 const char* const* headers, const char* const* names);
  int (*destroy_)(NvrtcProgram*);
  int (*compile_)(NvrtcProgram, int num_options, const char* const* options);
  int (*log_size_)(NvrtcProgram, size_t*);
  int (*log_)(NvrtcProgram, char*);
  int (*cubin_size_)(NvrtcProgram, size_t*);
  int (*cubin_)(NvrtcProgram, char*);
  int (*ptx_size_)(NvrtcProgram, size_t*);
  int (*ptx_)(NvrtcProgram, char*);
  std::string version_;
};

}  // namespace backplane::cuda::compiler
