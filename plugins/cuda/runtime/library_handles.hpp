// The handles that cuBLASLt and cuDNN work with, made when a program first needs them. Of one
// instance: cuDNN's is for one thread at a time.
#pragma once

#include <backplane/result.hpp>

#include "cuda/driver/libraries.hpp"
#include "cuda/runtime/device.hpp"

namespace backplane::cuda {

class LibraryHandles {
 public:
  struct Lt {
    const CublasLt* library = nullptr;
    LtHandle handle = nullptr;
  };
  struct Dnn {
    const Cudnn* library = nullptr;
    DnnHandle handle = nullptr;
  };

  LibraryHandles(Libraries& libraries, const Device& device)
      : libraries_(libraries), device_(device) {}
  LibraryHandles(const LibraryHandles&) = delete;
  LibraryHandles& operator=(const LibraryHandles&) = delete;
  ~LibraryHandles();

  // unavailable: the library is not here.
  Result<Lt> cublaslt();
  Result<Dnn> cudnn();

 private:
  Libraries& libraries_;
  const Device& device_;
  Lt lt_;
  Dnn dnn_;
};

}  // namespace backplane::cuda
