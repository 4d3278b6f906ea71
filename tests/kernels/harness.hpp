// Calls kernels of a library by name, without a runtime: a small host of bp.kernels/1.
//
//   Call call(*portable::library(), "aten::add.out");         // call.hpp
//   call.tensor(x).tensor(y).number(int64_t{1}).out(z);
//   REQUIRE(call.run() == BP_OK);                            // else call.error()
//
// run() asks `supports` first, with tensors that have no data, as a host does. Outputs start
// empty; resize gives them memory, row-major or, if asked, with the dimensions' order reversed.
#pragma once

#include <backplane/ext/kernels.h>

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::testing {

// A tensor with its memory. Strides count elements.
struct HostTensor {
  bp_dtype_t dtype{2, 32, 1};
  std::vector<int64_t> shape, strides;
  int64_t offset = 0;  // elements before the first one
  std::vector<std::byte> bytes;
  bp_tensor_t view{};
  bool resized = false;

  // A row-major tensor of plain values.
  template <class T>
  static HostTensor of(bp_dtype_t dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
    HostTensor tensor;
    tensor.dtype = dtype;
    tensor.bytes.resize(values.size() * sizeof(T));
    if (!values.empty()) {
      std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    }
    tensor.set_shape(std::move(shape), false);
    return tensor;
  }
  static HostTensor of(std::vector<int64_t> shape, const std::vector<float>& values) {
    return of<float>({2, 32, 1}, std::move(shape), values);
  }

  // Dense strides for a shape; `reversed`: the first dimension is the innermost.
  void set_shape(std::vector<int64_t> new_shape, bool reversed) {
    shape = std::move(new_shape);
    strides.assign(shape.size(), 1);
    int64_t step = 1;
    for (size_t k = 0; k < shape.size(); ++k) {
      const size_t d = reversed ? k : shape.size() - 1 - k;
      strides[d] = step;
      step *= shape[d];
    }
  }
  [[nodiscard]] int64_t numel() const {
    int64_t n = 1;
    for (const int64_t size : shape) {
      n *= size;
    }
    return n;
  }
  [[nodiscard]] size_t width() const { return dtype.bits / 8U; }
  // The bytes of the element at a row-major position.
  [[nodiscard]] const std::byte* element(int64_t linear) const {
    int64_t at = offset;
    for (size_t d = shape.size(); d-- > 0;) {
      at += linear % shape[d] * strides[d];
      linear /= shape[d];
    }
    return bytes.data() + static_cast<size_t>(at) * width();
  }
  template <class T>
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> result(static_cast<size_t>(numel()));
    for (size_t i = 0; i < result.size(); ++i) {
      std::memcpy(&result[i], element(static_cast<int64_t>(i)), sizeof(T));
    }
    return result;
  }
  bp_tensor_t* prepare() {
    view = {bytes.data(), {BP_DEV_CPU, 0}, static_cast<int32_t>(shape.size()),     dtype,
            shape.data(), strides.data(),  static_cast<uint64_t>(offset) * width()};
    return &view;
  }
};

// The host's side of one run.
class Host {
 public:
  Host() {
    raw_.base = {sizeof(bp_kernel_ctx_t), 0, fail, resize, scratch, random, parallel_for};
    raw_.self = this;
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

  std::string error;
  bool reversed_outputs = false;
  std::deque<HostTensor*> outputs;
  bp_kernel_ctx_t* ctx() { return &raw_.base; }

 private:
  struct Raw {
    bp_kernel_ctx_t base;
    Host* self;
  };
  static Host& from(bp_kernel_ctx_t* ctx) { return *reinterpret_cast<Raw*>(ctx)->self; }

  static int32_t fail(bp_kernel_ctx_t* ctx, int32_t code, bp_str_t message) {
    from(ctx).error.assign(message.ptr, message.len);
    return code;
  }
  static int32_t resize(bp_kernel_ctx_t* ctx, bp_tensor_t* out, uint32_t ndim,
                        const int64_t* shape) {
    Host& host = from(ctx);
    for (HostTensor* tensor : host.outputs) {
      if (&tensor->view == out) {
        tensor->set_shape({shape, shape + ndim}, host.reversed_outputs);
        tensor->bytes.assign(static_cast<size_t>(tensor->numel()) * tensor->width(),
                             std::byte{0xa5});
        tensor->resized = true;
        tensor->prepare();
        return BP_OK;
      }
    }
    return fail(ctx, BP_INTERNAL, {"resize of what is no output", 28});
  }
  static void* scratch(bp_kernel_ctx_t* ctx, uint64_t size) {
    if (size > (uint64_t{1} << 34)) {
      return nullptr;
    }
    auto& blocks = from(ctx).blocks_;
    blocks.emplace_back(new std::byte[size + 64]);
    std::memset(blocks.back().get(), 0xa5, size + 64);
    const auto address = reinterpret_cast<uintptr_t>(blocks.back().get());
    return reinterpret_cast<void*>((address + 63) / 64 * 64);
  }
  static uint64_t random(bp_kernel_ctx_t* ctx) {
    uint64_t z = (from(ctx).state_ += 0x9e3779b97f4a7c15U);  // splitmix64
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }
  static void parallel_for(bp_kernel_ctx_t*, int64_t n, int64_t grain,
                           void (*body)(void*, int64_t, int64_t), void* arg) {
    for (int64_t begin = 0; begin < n; begin += grain) {
      body(arg, begin, begin + grain < n ? begin + grain : n);
    }
  }

  Raw raw_{};
  uint64_t state_ = 0;
  std::vector<std::unique_ptr<std::byte[]>> blocks_;
};

// The kernel of that name, or null.
inline const bp_kernel_t* find_kernel(const bp_kernels_t& library, std::string_view name) {
  for (uint32_t i = 0; i < library.num_kernels; ++i) {
    const auto* kernel = reinterpret_cast<const bp_kernel_t*>(
        static_cast<const char*>(library.kernels) + size_t{i} * library.kernel_stride);
    if (std::string_view(kernel->schema.ptr, kernel->schema.len) == name) {
      return kernel;
    }
  }
  return nullptr;
}

}  // namespace backplane::testing
