// The vendor's libraries that a backend uses: each opened when it is first asked for.
#pragma once

#include <backplane/result.hpp>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cuda/driver/cublaslt.hpp"
#include "cuda/driver/cuda.hpp"
#include "cuda/driver/cudnn.hpp"
#include "cuda/driver/shared_library.hpp"

namespace backplane::cuda {

// What was answered once is the answer from then on, an error too. [any thread]
class Libraries {
 public:
  Result<const Driver*> driver() { return get(driver_); }
  Result<const CublasLt*> cublaslt() { return get(cublaslt_); }
  Result<const Cudnn*> cudnn() { return get(cudnn_); }

 private:
  template <class T>
  Result<const T*> get(std::optional<Result<T>>& library) {
    const std::scoped_lock lock(mutex_);
    if (!folders_) folders_ = vendor_folders();
    if (!library) library = T::open(*folders_);
    if (!library->ok()) return library->error();
    return &**library;
  }

  std::mutex mutex_;
  std::optional<std::vector<std::string>> folders_;
  std::optional<Result<Driver>> driver_;
  std::optional<Result<CublasLt>> cublaslt_;
  std::optional<Result<Cudnn>> cudnn_;
};

}  // namespace backplane::cuda
