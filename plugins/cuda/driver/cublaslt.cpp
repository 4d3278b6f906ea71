#include "cuda/driver/cublaslt.hpp"

#include "cuda/driver/shared_library.hpp"

namespace backplane::cuda {
namespace {

constexpr const char* kFiles[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
constexpr LibraryName kName = {
    .title = "cuBLASLt",
    .files = kFiles,
    .remedy =
        "install it, such as with `pip install nvidia-cublas`, or name its folder in "
        "BACKPLANE_CUDA_PATH",
};

}  // namespace

Result<CublasLt> CublasLt::open(std::span<const std::string> folders) {
  BP_ASSIGN_OR_RETURN(const SharedLibrary lib, SharedLibrary::open(kName, folders));
  CublasLt lt{};
  BP_TRY(lib.bind(lt.get_version, "cublasLtGetVersion"));
  BP_TRY(lib.bind(lt.get_status_name, "cublasLtGetStatusName"));
  BP_TRY(lib.bind(lt.create, "cublasLtCreate"));
  BP_TRY(lib.bind(lt.destroy, "cublasLtDestroy"));
  BP_TRY(lib.bind(lt.matmul_create, "cublasLtMatmulDescCreate"));
  BP_TRY(lib.bind(lt.matmul_destroy, "cublasLtMatmulDescDestroy"));
  BP_TRY(lib.bind(lt.matmul_set, "cublasLtMatmulDescSetAttribute"));
  BP_TRY(lib.bind(lt.layout_create, "cublasLtMatrixLayoutCreate"));
  BP_TRY(lib.bind(lt.layout_destroy, "cublasLtMatrixLayoutDestroy"));
  BP_TRY(lib.bind(lt.layout_set, "cublasLtMatrixLayoutSetAttribute"));
  BP_TRY(lib.bind(lt.preference_create, "cublasLtMatmulPreferenceCreate"));
  BP_TRY(lib.bind(lt.preference_destroy, "cublasLtMatmulPreferenceDestroy"));
  BP_TRY(lib.bind(lt.preference_set, "cublasLtMatmulPreferenceSetAttribute"));
  BP_TRY(lib.bind(lt.choose, "cublasLtMatmulAlgoGetHeuristic"));
  BP_TRY(lib.bind(lt.matmul, "cublasLtMatmul"));
  lt.version = lt.get_version();
  return lt;
}

Status CublasLt::check(LtStatus status, std::string_view what) const {
  if (status == kLtSuccess) return Ok{};
  const Code code = status == kLtAllocFailed       ? Code::out_of_memory
                    : status == kLtNotSupported    ? Code::unsupported
                    : status == kLtArchMismatch    ? Code::unsupported
                    : status == kLtExecutionFailed ? Code::device_lost
                                                   : Code::internal;
  const char* name = get_status_name(status);
  return Error{code,
               std::string(what) + ": " + (name != nullptr ? name : "unknown") + " (cuBLASLt)"};
}

}  // namespace backplane::cuda
