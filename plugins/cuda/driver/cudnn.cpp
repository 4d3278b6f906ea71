#include "cuda/driver/cudnn.hpp"

#include <array>

#include "cuda/driver/shared_library.hpp"

namespace backplane::cuda {
namespace {

constexpr const char* kFiles[] = {"libcudnn.so.9"};
constexpr LibraryName kName = {
    .title = "cuDNN 9",
    .files = kFiles,
    .remedy =
        "install it, such as with `pip install nvidia-cudnn-cu13`, or name its folder in "
        "BACKPLANE_CUDA_PATH",
};

}  // namespace

Result<Cudnn> Cudnn::open(std::span<const std::string> folders) {
  BP_ASSIGN_OR_RETURN(const SharedLibrary lib, SharedLibrary::open(kName, folders));
  Cudnn dnn{};
  BP_TRY(lib.bind(dnn.get_version, "cudnnGetVersion"));
  BP_TRY(lib.bind(dnn.get_error_string, "cudnnGetErrorString"));
  BP_TRY(lib.bind(dnn.get_last_error, "cudnnGetLastErrorString"));
  BP_TRY(lib.bind(dnn.create, "cudnnCreate"));
  BP_TRY(lib.bind(dnn.destroy, "cudnnDestroy"));
  BP_TRY(lib.bind(dnn.set_stream, "cudnnSetStream"));
  BP_TRY(lib.bind(dnn.descriptor_create, "cudnnBackendCreateDescriptor"));
  BP_TRY(lib.bind(dnn.descriptor_destroy, "cudnnBackendDestroyDescriptor"));
  BP_TRY(lib.bind(dnn.descriptor_finalize, "cudnnBackendFinalize"));
  BP_TRY(lib.bind(dnn.set, "cudnnBackendSetAttribute"));
  BP_TRY(lib.bind(dnn.get, "cudnnBackendGetAttribute"));
  BP_TRY(lib.bind(dnn.execute, "cudnnBackendExecute"));
  dnn.version = dnn.get_version();
  return dnn;
}

Status Cudnn::check(DnnStatus status, std::string_view what) const {
  if (status == kDnnSuccess) return Ok{};
  std::array<char, 512> last{};
  get_last_error(last.data(), last.size());
  const char* name = get_error_string(status);
  std::string message =
      std::string(what) + ": " + (name != nullptr ? name : "unknown") + " (cuDNN)";
  if (last[0] != '\0') message += ": " + std::string(last.data());
  const int family = static_cast<int>(status) / 1000;
  const Code code = family == 3   ? Code::unsupported
                    : family == 5 ? Code::device_lost
                    : family == 1 ? Code::unavailable
                                  : Code::internal;
  return Error{code, std::move(message)};
}

}  // namespace backplane::cuda
