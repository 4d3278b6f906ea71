// The kernels of the tests' library.
#include <algorithm>
#include <array>
#include <atomic>
#include <backplane/tensor.hpp>
#include <cstring>

#include "runtime/tensor_state.hpp"
#include "test_plugins.hpp"

namespace backplane::test {
namespace {

std::atomic<int> runs{0};

float* data(const bp_boxed_t& box) {
  return static_cast<float*>(box.v.tensor->data);
}

std::span<const int64_t> sizes(const bp_boxed_t& box) {
  return {box.v.tensor->shape, static_cast<size_t>(box.v.tensor->ndim)};
}

int64_t count(const bp_boxed_t& box) {
  return backplane::numel(sizes(box));
}

int32_t resize_like(bp_kernel_ctx_t* ctx, const bp_boxed_t& out, const bp_boxed_t& like) {
  return ctx->resize(ctx, out.v.tensor, static_cast<uint32_t>(like.v.tensor->ndim),
                     like.v.tensor->shape);
}

int32_t fail(bp_kernel_ctx_t* ctx, int32_t code, std::string_view why) {
  return ctx->fail(ctx, code, {why.data(), why.size()});
}

using Run = int32_t (*)(const bp_kernel_t*, bp_kernel_ctx_t*, const bp_boxed_t*, uint32_t);

int32_t add(const bp_kernel_t*, bp_kernel_ctx_t* ctx, const bp_boxed_t* v, uint32_t) {
  ++runs;
  const int64_t elements = count(v[0]);
  if (count(v[1]) != elements) return fail(ctx, BP_INVALID_ARGUMENT, "add wants equal sizes");
  if (const int32_t code = resize_like(ctx, v[3], v[0]); code != BP_OK) return code;
  for (int64_t i = 0; i < elements; ++i) {
    data(v[3])[i] = data(v[0])[i] + static_cast<float>(v[2].v.i) * data(v[1])[i];
  }
  return BP_OK;
}

int32_t mul_scalar(const bp_kernel_t*, bp_kernel_ctx_t* ctx, const bp_boxed_t* v, uint32_t) {
  ++runs;
  if (const int32_t code = resize_like(ctx, v[2], v[0]); code != BP_OK) return code;
  const double by = v[1].kind == BP_BOX_DOUBLE ? v[1].v.f : static_cast<double>(v[1].v.i);
  for (int64_t i = 0; i < count(v[0]); ++i) data(v[2])[i] = data(v[0])[i] * static_cast<float>(by);
  return BP_OK;
}

int32_t copy_into(bp_kernel_ctx_t* ctx, const bp_boxed_t& from, const bp_boxed_t& to) {
  ++runs;
  if (const int32_t code = resize_like(ctx, to, from); code != BP_OK) return code;
  runtime::copy_elements(*from.v.tensor, *to.v.tensor);
  return BP_OK;
}
int32_t copy(const bp_kernel_t*, bp_kernel_ctx_t* ctx, const bp_boxed_t* v, uint32_t) {
  return copy_into(ctx, v[1], v[3]);
}
int32_t clone(const bp_kernel_t*, bp_kernel_ctx_t* ctx, const bp_boxed_t* v, uint32_t) {
  return copy_into(ctx, v[0], v[2]);
}

int32_t head(const bp_kernel_t*, bp_kernel_ctx_t* ctx, const bp_boxed_t* v, uint32_t) {
  ++runs;
  int64_t shape[16] = {v[1].v.i};
  for (int32_t d = 1; d < v[0].v.tensor->ndim; ++d) shape[d] = v[0].v.tensor->shape[d];
  const int32_t code =
      ctx->resize(ctx, v[2].v.tensor, static_cast<uint32_t>(v[0].v.tensor->ndim), shape);
  if (code != BP_OK) return code;
  for (int64_t i = 0; i < count(v[2]); ++i) data(v[2])[i] = i < count(v[0]) ? data(v[0])[i] : 0;
  return BP_OK;
}

int32_t random(const bp_kernel_t*, bp_kernel_ctx_t* ctx, const bp_boxed_t* v, uint32_t) {
  const int64_t shape[1] = {v[0].v.i};
  if (const int32_t code = ctx->resize(ctx, v[1].v.tensor, 1, shape); code != BP_OK) return code;
  for (int64_t i = 0; i < shape[0]; ++i)
    data(v[1])[i] = static_cast<float>(ctx->random(ctx) >> 40U);
  return BP_OK;
}

int32_t scratch(const bp_kernel_t*, bp_kernel_ctx_t* ctx, const bp_boxed_t* v, uint32_t) {
  const auto bytes = std::max<uint64_t>(static_cast<uint64_t>(count(v[0])) * sizeof(float), 1);
  void* a = ctx->scratch(ctx, bytes);
  void* b = ctx->scratch(ctx, 3 * bytes);
  if (a == nullptr || b == nullptr || (reinterpret_cast<uintptr_t>(b) & 63U) != 0)
    return BP_INTERNAL;
  std::memcpy(a, data(v[0]), bytes);
  std::memset(b, 1, 3 * bytes);
  if (const int32_t code = resize_like(ctx, v[1], v[0]); code != BP_OK) return code;
  std::memcpy(data(v[1]), a, bytes);
  return BP_OK;
}

int32_t wide(const bp_kernel_t*, bp_kernel_ctx_t* ctx, const bp_boxed_t* v, uint32_t) {
  if (const int32_t code = resize_like(ctx, v[1], v[0]); code != BP_OK) return code;
  bp_boxed_t args[2] = {v[0], v[1]};
  ctx->parallel_for(
      ctx, count(v[0]), 16,
      [](void* arg, int64_t begin, int64_t end) {
        const auto* both = static_cast<const bp_boxed_t*>(arg);
        for (int64_t i = begin; i < end; ++i) data(both[1])[i] = 2 * data(both[0])[i];
      },
      args);
  return BP_OK;
}

int32_t failing(const bp_kernel_t*, bp_kernel_ctx_t* ctx, const bp_boxed_t*, uint32_t) {
  return fail(ctx, BP_INVALID_ARGUMENT, "no luck today");
}

// A kernel with what its values must be: t a float32 tensor, i an integer, n a number, - anything.
struct Entry {
  std::string_view name;
  std::string_view signature;
  Run run;
  uint32_t flags = 0;
};

constexpr Entry kEntries[] = {
    {"aten::add.out", "ttit", add, BP_KERNEL_MAY_ALIAS},
    {"aten::mul.Scalar_out", "tnt", mul_scalar},
    {"aten::copy.out", "tt-t", copy},
    {"aten::clone.out", "t-t", clone},
    {"test::head.out", "tit", head},
    {"test::random.out", "it", random},
    {"test::scratch.out", "tt", scratch},
    {"test::wide.out", "tt", wide},
    {"test::fail.out", "tt", failing},
};

bool fits(char wanted, const bp_boxed_t& box) {
  if (wanted == 't') return box.kind == BP_BOX_TENSOR && box.v.tensor->dtype.code == BP_DT_FLOAT;
  if (wanted == 'i') return box.kind == BP_BOX_INT;
  return wanted == '-' || box.kind == BP_BOX_INT || box.kind == BP_BOX_DOUBLE;
}

int32_t check(const bp_kernel_t* kernel, bp_kernel_ctx_t* ctx, const bp_boxed_t* v, uint32_t n) {
  const auto& entry = *static_cast<const Entry*>(kernel->data);
  if (n != entry.signature.size())
    return fail(ctx, BP_INVALID_ARGUMENT, "another number of values");
  for (uint32_t i = 0; i < n; ++i) {
    if (!fits(entry.signature[i], v[i])) return fail(ctx, BP_UNSUPPORTED, "floats only");
  }
  return BP_OK;
}

int32_t run_checked(const bp_kernel_t* kernel, bp_kernel_ctx_t* ctx, const bp_boxed_t* v,
                    uint32_t n) {
  const int32_t code = check(kernel, ctx, v, n);
  return code != BP_OK ? code : static_cast<const Entry*>(kernel->data)->run(kernel, ctx, v, n);
}

constexpr size_t kCount = std::size(kEntries);
constexpr std::array<bp_kernel_t, kCount> kKernels = [] {
  std::array<bp_kernel_t, kCount> kernels{};
  for (size_t i = 0; i < kCount; ++i) {
    const Entry& entry = kEntries[i];
    kernels[i] = {{entry.name.data(), entry.name.size()},
                  check,
                  run_checked,
                  &entry,
                  entry.flags,
                  BP_DEV_CPU};
  }
  return kernels;
}();
constexpr bp_kernels_t kLibrary = {sizeof(bp_kernels_t), kCount, sizeof(bp_kernel_t), 0,
                                   kKernels.data()};

}  // namespace

const bp_kernels_t& test_kernels() {
  return kLibrary;
}
int kernel_runs() {
  return runs;
}

}  // namespace backplane::test
