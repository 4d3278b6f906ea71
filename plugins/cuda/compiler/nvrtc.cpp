#include "cuda/compiler/nvrtc.hpp"

#include "cuda/driver/shared_library.hpp"

namespace backplane::cuda::compiler {

Result<Nvrtc> Nvrtc::open() {
  static constexpr const char* kFiles[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  const LibraryName name{"NVRTC", kFiles,
                         "install the CUDA Toolkit's, or pip install nvidia-cuda-nvrtc"};
  BP_ASSIGN_OR_RETURN(const SharedLibrary library, SharedLibrary::open(name, vendor_folders()));
  Nvrtc n;
  BP_TRY(library.bind(n.get_version_, "nvrtcVersion"));
  BP_TRY(library.bind(n.create_, "nvrtcCreateProgram"));
  BP_TRY(library.bind(n.destroy_, "nvrtcDestroyProgram"));
  BP_TRY(library.bind(n.compile_, "nvrtcCompileProgram"));
  BP_TRY(library.bind(n.log_size_, "nvrtcGetProgramLogSize"));
  BP_TRY(library.bind(n.log_, "nvrtcGetProgramLog"));
  BP_TRY(library.bind(n.cubin_size_, "nvrtcGetCUBINSize"));
  BP_TRY(library.bind(n.cubin_, "nvrtcGetCUBIN"));
  BP_TRY(library.bind(n.ptx_size_, "nvrtcGetPTXSize"));
  BP_TRY(library.bind(n.ptx_, "nvrtcGetPTX"));
  int major = 0;
  int minor = 0;
  n.get_version_(&major, &minor);
  n.version_ = "nvrtc " + std::to_string(major) + "." + std::to_string(minor);
  return n;
}

Result<std::string> Nvrtc::compile(const std::string& text, const Architecture& to) const {
  NvrtcProgram program = nullptr;
  if (create_(&program, text.c_str(), "kernels.cu", 0, nullptr, nullptr) != 0)
    return Error{Code::internal, version_ + " takes no program"};
  const std::string target = "--gpu-architecture=" + to.name;
  // No contraction: what eager execution rounds twice is rounded twice.
  const char* const options[] = {target.c_str(), "--std=c++17", "--fmad=false"};
  const int failed = compile_(program, 3, options);
  std::string out;
  size_t size = 0;
  const bool is_ptx = to.kind == ImageKind::ptx;
  if (failed != 0) {
    log_size_(program, &size);
    out.resize(size);
    log_(program, out.data());
  } else if ((is_ptx ? ptx_size_ : cubin_size_)(program, &size) == 0) {
    out.resize(size);
    (is_ptx ? ptx_ : cubin_)(program, out.data());
  }
  destroy_(&program);
  if (failed != 0) {
    return Error{Code::internal, version_ + " for " + to.name + ": " +
                                     out.substr(0, out.find('\n', out.find("error")))};
  }
  if (out.empty()) return Error{Code::unsupported, version_ + " makes no code for " + to.name};
  return out;
}

}  // namespace backplane::cuda::compiler
