#include "cuda/runtime/library_handles.hpp"

namespace backplane::cuda {

LibraryHandles::~LibraryHandles() {
  const Current current(device_);
  if (lt_.handle != nullptr) lt_.library->destroy(lt_.handle);
  if (dnn_.handle != nullptr) dnn_.library->destroy(dnn_.handle);
}

Result<LibraryHandles::Lt> LibraryHandles::cublaslt() {
  if (lt_.handle != nullptr) return lt_;
  const Current current(device_);
  BP_ASSIGN_OR_RETURN(lt_.library, libraries_.cublaslt());
  BP_TRY(lt_.library->check(lt_.library->create(&lt_.handle), "cuBLASLt does not start"));
  return lt_;
}

Result<LibraryHandles::Dnn> LibraryHandles::cudnn() {
  if (dnn_.handle != nullptr) return dnn_;
  const Current current(device_);
  BP_ASSIGN_OR_RETURN(dnn_.library, libraries_.cudnn());
  BP_TRY(dnn_.library->check(dnn_.library->create(&dnn_.handle), "cuDNN does not start"));
  return dnn_;
}

}  // namespace backplane::cuda
