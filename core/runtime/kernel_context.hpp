// What a kernel is given to call back during one run: the host's side of bp_kernel_ctx_t.
#pragma once

#include <backplane/ext/kernels.h>
#include <backplane/result.hpp>

#include <span>
#include <string>
#include <vector>

#include "runtime/memory.hpp"
#include "runtime/random.hpp"
#include "runtime/thread_pool.hpp"

namespace backplane::runtime {

class KernelContext {
 public:
  // Both must outlive this. Without a pool loops run on the calling thread; without a generator,
  // random numbers are zero.
  KernelContext(ThreadPool* pool, Random* random);
  KernelContext(const KernelContext&) = delete;
  KernelContext& operator=(const KernelContext&) = delete;

  // Runs a kernel; what it says with `fail` becomes the error's message. Scratch memory is taken
  // back.
  Status run(const bp_kernel_t& kernel, std::span<const bp_boxed_t> arguments);
  // Asks it whether it computes with such values.
  Status supports(const bp_kernel_t& kernel, std::span<const bp_boxed_t> arguments);

  // Memory that tensors had before they grew.
  [[nodiscard]] std::vector<Block>& retired() { return retired_; }

 private:
  // First, so that the kernel's pointer leads back here.
  struct Table {
    bp_kernel_ctx_t functions{};
    KernelContext* self = nullptr;
  };
  static KernelContext& of(bp_kernel_ctx_t* functions) {
    return *reinterpret_cast<Table*>(functions)->self;
  }
  int32_t keep(const Error& error);
  Status answer(int32_t code);

  Table table_;
  ThreadPool* pool_;
  Random* random_;
  Scratch scratch_;
  std::vector<Block> retired_;
  std::string reason_;
  std::span<const bp_boxed_t> arguments_;  // of the present run
};

}  // namespace backplane::runtime
