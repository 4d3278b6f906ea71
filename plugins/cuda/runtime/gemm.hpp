// A matrix product of a plan, done by cuBLASLt.
#pragma once

#include <backplane/result.hpp>

#include <memory>
#include <span>

#include "cuda/driver/cublaslt.hpp"
#include "cuda/payload.hpp"
#include "cuda/runtime/bound_operand.hpp"
#include "cuda/runtime/library_handles.hpp"

namespace backplane::cuda {

// For one signature: descriptors and the algorithm, chosen once.
class GemmRun {
 public:
  // unsupported: cuBLASLt has no algorithm for it, or the strides are none of a matrix.
  static Result<std::unique_ptr<GemmRun>> choose(const PlanView& plan,
                                                 std::span<const int64_t> sizes, const Gemm& gemm,
                                                 LibraryHandles& handles);
  GemmRun(const GemmRun&) = delete;
  GemmRun& operator=(const GemmRun&) = delete;
  ~GemmRun();

  [[nodiscard]] size_t workspace_bytes() const { return choice_.workspace_bytes; }
  Status enqueue(CuStream stream, std::span<const CuAddress> addresses, CuAddress workspace);

 private:
  struct Scalar {  // of the type that `compute` asks for
    double f64 = 0;
    float f32 = 0;
  };
  explicit GemmRun(LibraryHandles::Lt lt) : lt_(lt) {}
  Status describe(const Gemm& gemm);
  Status find_algorithm();
  Result<LtLayout> layout(const BoundOperand& operand, bool& is_transposed);

  LibraryHandles::Lt lt_;
  BoundOperand a_, b_, c_, d_, bias_;
  bool is_nothing_ = false;  // d has no elements
  bool is_f64_ = false;
  Scalar alpha_, beta_;
  LtMatmul matmul_ = nullptr;
  LtLayout layout_a_ = nullptr, layout_b_ = nullptr, layout_c_ = nullptr, layout_d_ = nullptr;
  LtChoice choice_{};
};

}  // namespace backplane::cuda
