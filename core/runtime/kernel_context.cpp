#include "runtime/kernel_context.hpp"

#include <backplane/tensor.hpp>

#include <algorithm>
#include <exception>

#include "runtime/tensor_state.hpp"

namespace backplane::runtime {
namespace {

// Whether a call reads the tensor that it also writes.
bool is_read(const bp_tensor_t* tensor, std::span<const bp_boxed_t> arguments) {
  int64_t count = 0;
  for (const bp_boxed_t& box : arguments) {
    if (box.kind == BP_BOX_TENSOR) count += box.v.tensor == tensor ? 1 : 0;
    if (box.kind == BP_BOX_TENSORS) {
      count += std::count(box.v.tensors, box.v.tensors + box.count, tensor);
    }
  }
  return count > 1;
}

// Exceptions of a library end here, as the contract forbids them.
template <class F>
int32_t guarded(std::string& reason, F&& call) {
  try {
    return call();
  } catch (const std::exception& e) {
    reason = std::string("threw across the boundary: ") + e.what();
  } catch (...) {
    reason = "threw across the boundary";
  }
  return BP_INTERNAL;
}

}  // namespace

KernelContext::KernelContext(ThreadPool* its_pool, Random* its_random)
    : pool_(its_pool), random_(its_random) {
  table_.self = this;
  table_.functions.struct_size = sizeof(bp_kernel_ctx_t);
  table_.functions.fail = [](bp_kernel_ctx_t* ctx, int32_t code, bp_str_t message) {
    // The host's own reason, of a failed resize, is the better one.
    std::string& reason = of(ctx).reason_;
    if (reason.empty()) reason.assign(message.ptr, static_cast<size_t>(message.len));
    return code;
  };
  table_.functions.resize = [](bp_kernel_ctx_t* ctx, bp_tensor_t* out, uint32_t ndim,
                               const int64_t* shape) -> int32_t {
    KernelContext& self = of(ctx);
    TensorState& tensor = state_of(out);
    const std::span<const int64_t> sizes(shape, ndim);
    if (!std::equal(sizes.begin(), sizes.end(), tensor.sizes().begin(), tensor.sizes().end()) &&
        is_read(out, self.arguments_)) {
      return self.keep({Code::invalid_argument, tensor.plan->label +
                                                    " would change its sizes from " +
                                                    format_sizes(tensor.sizes()) + " to " +
                                                    format_sizes(sizes) + " while it is read"});
    }
    if (Status status = resize(tensor, sizes, self.retired_); !status.ok()) {
      return self.keep(status.error());
    }
    return BP_OK;
  };
  table_.functions.scratch = [](bp_kernel_ctx_t* ctx, uint64_t size_bytes) {
    return of(ctx).scratch_.allocate(size_bytes);
  };
  table_.functions.random = [](bp_kernel_ctx_t* ctx) {
    Random* random = of(ctx).random_;
    return random == nullptr ? 0 : random->next();
  };
  table_.functions.parallel_for = [](bp_kernel_ctx_t* ctx, int64_t n, int64_t grain,
                                     ThreadPool::Body body, void* arg) {
    if (ThreadPool* pool = of(ctx).pool_) {
      pool->parallel_for(n, grain, body, arg);
    } else if (n > 0) {
      body(arg, 0, n);
    }
  };
}

int32_t KernelContext::keep(const Error& error) {
  reason_ = error.message;
  return static_cast<int32_t>(error.code);
}

Status KernelContext::answer(int32_t code) {
  scratch_.reset();
  if (code == BP_OK) return Ok{};
  const bool known = code >= BP_INVALID_ARGUMENT && code <= BP_UNAVAILABLE;
  std::string message =
      reason_.empty() ? "failed with code " + std::to_string(code) + " and no reason" : reason_;
  return Error{known ? static_cast<Code>(code) : Code::internal, std::move(message)};
}

Status KernelContext::run(const bp_kernel_t& kernel, std::span<const bp_boxed_t> arguments) {
  reason_.clear();
  arguments_ = arguments;
  return answer(guarded(reason_, [&] {
    return kernel.run(&kernel, &table_.functions, arguments.data(),
                      static_cast<uint32_t>(arguments.size()));
  }));
}

Status KernelContext::supports(const bp_kernel_t& kernel, std::span<const bp_boxed_t> arguments) {
  if (kernel.supports == nullptr) return Ok{};
  reason_.clear();
  return answer(guarded(reason_, [&] {
    return kernel.supports(&kernel, &table_.functions, arguments.data(),
                           static_cast<uint32_t>(arguments.size()));
  }));
}

}  // namespace backplane::runtime
