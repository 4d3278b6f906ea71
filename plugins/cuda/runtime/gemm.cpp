#include "cuda/runtime/gemm.hpp"

#include <string>

namespace backplane::cuda {
namespace {

constexpr size_t kMostWorkspace = size_t{32} << 20U;  // what cuBLAS itself takes on Hopper

Result<LtType> type_of(bp_dtype_t dtype) {
  if (dtype.code == BP_DT_FLOAT && dtype.bits == 32) return kLtF32;
  if (dtype.code == BP_DT_FLOAT && dtype.bits == 64) return kLtF64;
  if (dtype.code == BP_DT_FLOAT && dtype.bits == 16) return kLtF16;
  if (dtype.code == BP_DT_BFLOAT && dtype.bits == 16) return kLtBf16;
  return Error{Code::unsupported, "a matrix product of such a dtype"};
}

LtCompute compute_of(Compute compute) {
  switch (compute) {
    case Compute::tf32:
      return kLtComputeTf32;
    case Compute::f64:
      return kLtCompute64F;
    default:
      return kLtCompute32F;  // f16 too: sums in f32 cost nothing more there
  }
}

// cuBLASLt's columns are our rows: it is asked for dᵀ = bᵀ · aᵀ, [n, m] in its order.
template <class T>
Status set(const CublasLt& lt, LtMatmul matmul, LtMatmulAttribute attribute, const T& value) {
  return lt.check(lt.matmul_set(matmul, attribute, &value, sizeof value), "a matrix product");
}

}  // namespace

Result<std::unique_ptr<GemmRun>> GemmRun::choose(const PlanView& plan,
                                                 std::span<const int64_t> sizes, const Gemm& gemm,
                                                 LibraryHandles& handles) {
  BP_ASSIGN_OR_RETURN(const LibraryHandles::Lt lt, handles.cublaslt());
  std::unique_ptr<GemmRun> run(new GemmRun(lt));
  run->a_ = bind(plan, sizes, gemm.a);
  run->b_ = bind(plan, sizes, gemm.b);
  run->c_ = bind(plan, sizes, gemm.c);
  run->d_ = bind(plan, sizes, gemm.d);
  run->bias_ = bind(plan, sizes, gemm.bias);
  const auto& dims = run->d_.dims;
  run->is_nothing_ = dims[0] == 0 || dims[1] == 0 || dims[2] == 0;
  if (run->is_nothing_) return run;
  if (run->a_.dims[2] == 0) return Error{Code::unsupported, "a matrix product over 0 elements"};
  BP_TRY(run->describe(gemm));
  BP_TRY(run->find_algorithm());
  return run;
}

GemmRun::~GemmRun() {
  if (matmul_ != nullptr) lt_.library->matmul_destroy(matmul_);
  for (const LtLayout layout : {layout_a_, layout_b_, layout_c_, layout_d_}) {
    if (layout != nullptr) lt_.library->layout_destroy(layout);
  }
}

// The layout of [batch, rows, columns] as its transpose in cuBLASLt's order: `is_transposed` where
// the rows are what is dense.
Result<LtLayout> GemmRun::layout(const BoundOperand& operand, bool& is_transposed) {
  const int64_t rows = operand.dims[1];
  const int64_t columns = operand.dims[2];
  const int64_t row_stride = operand.strides[1];
  const int64_t column_stride = operand.strides[2];
  is_transposed = column_stride != 1 && columns != 1;
  if (is_transposed && row_stride != 1 && rows != 1)
    return Error{Code::unsupported, "a matrix of which neither rows nor columns are dense"};
  const int64_t inner = is_transposed ? rows : columns;
  const int64_t outer = is_transposed ? columns : rows;
  const int64_t given = is_transposed ? column_stride : row_stride;
  const int64_t leading = outer == 1 || given < inner ? inner : given;
  if (outer != 1 && given < inner)
    return Error{Code::unsupported, "a matrix with rows that overlap"};
  BP_ASSIGN_OR_RETURN(const LtType type, type_of(operand.dtype));
  const CublasLt& lt = *lt_.library;
  LtLayout layout = nullptr;
  BP_TRY(lt.check(lt.layout_create(&layout, type, static_cast<uint64_t>(inner),
                                   static_cast<uint64_t>(outer), leading),
                  "a matrix"));
  const auto count = static_cast<int32_t>(operand.dims[0]);
  const int64_t stride = operand.strides[0];
  LtStatus status = lt.layout_set(layout, kLtBatchCount, &count, sizeof count);
  if (status == kLtSuccess) status = lt.layout_set(layout, kLtBatchStride, &stride, sizeof stride);
  if (status == kLtSuccess) return layout;
  lt.layout_destroy(layout);
  return lt.check(status, "a batch of matrices").error();
}

Status GemmRun::describe(const Gemm& gemm) {
  const CublasLt& lt = *lt_.library;
  is_f64_ = gemm.compute == Compute::f64;
  alpha_ = {gemm.alpha, static_cast<float>(gemm.alpha)};
  beta_ = {c_.is_there() ? gemm.beta : 0, c_.is_there() ? static_cast<float>(gemm.beta) : 0};
  BP_TRY(lt.check(lt.matmul_create(&matmul_, compute_of(gemm.compute), is_f64_ ? kLtF64 : kLtF32),
                  "a matrix product"));
  bool a_transposed = false;
  bool b_transposed = false;
  bool d_transposed = false;
  bool c_transposed = false;
  BP_ASSIGN_OR_RETURN(layout_a_, layout(a_, a_transposed));
  BP_ASSIGN_OR_RETURN(layout_b_, layout(b_, b_transposed));
  BP_ASSIGN_OR_RETURN(layout_d_, layout(d_, d_transposed));
  BP_ASSIGN_OR_RETURN(layout_c_, layout(c_.is_there() ? c_ : d_, c_transposed));
  if (d_transposed || c_transposed)
    return Error{Code::unsupported, "a matrix product with a transposed result"};
  BP_TRY(set(lt, matmul_, kLtTransposeA, b_transposed ? kLtTransposed : kLtAsIs));
  BP_TRY(set(lt, matmul_, kLtTransposeB, a_transposed ? kLtTransposed : kLtAsIs));
  unsigned epilogue = 0;
  if (bias_.is_there()) epilogue |= kLtBias;
  if (gemm.epilogue == Epilogue::relu) epilogue |= kLtRelu;
  if (gemm.epilogue == Epilogue::gelu_tanh) epilogue |= kLtGeluTanh;
  BP_TRY(set(lt, matmul_, kLtEpilogueKind, epilogue == 0 ? unsigned{kLtPlain} : epilogue));
  if (!bias_.is_there()) return Ok{};
  BP_ASSIGN_OR_RETURN(const LtType type, type_of(bias_.dtype));
  return set(lt, matmul_, kLtBiasType, type);
}

Status GemmRun::find_algorithm() {
  const CublasLt& lt = *lt_.library;
  LtPreference preference = nullptr;
  BP_TRY(lt.check(lt.preference_create(&preference), "a matrix product"));
  lt.preference_set(preference, kLtMaxWorkspace, &kMostWorkspace, sizeof kMostWorkspace);
  const uint32_t c_align = c_.is_there() ? c_.align : d_.align;
  lt.preference_set(preference, kLtAlignmentA, &b_.align, sizeof b_.align);
  lt.preference_set(preference, kLtAlignmentB, &a_.align, sizeof a_.align);
  lt.preference_set(preference, kLtAlignmentC, &c_align, sizeof c_align);
  lt.preference_set(preference, kLtAlignmentD, &d_.align, sizeof d_.align);
  // The heuristics look whether there is a bias: any address will do until the first run.
  if (bias_.is_there()) {
    const void* somewhere = this;
    BP_TRY(set(lt, matmul_, kLtBiasPointer, somewhere));
  }
  int found = 0;
  const LtStatus status = lt.choose(lt_.handle, matmul_, layout_b_, layout_a_, layout_c_, layout_d_,
                                    preference, 1, &choice_, &found);
  lt.preference_destroy(preference);
  BP_TRY(lt.check(status, "no algorithm for a matrix product"));
  if (found > 0) return lt.check(choice_.status, "no algorithm for a matrix product");
  return Error{Code::unsupported, "cuBLASLt has no algorithm for a matrix product"};
}

Status GemmRun::enqueue(CuStream stream, std::span<const CuAddress> addresses,
                        CuAddress workspace) {
  if (is_nothing_) return Ok{};
  const CublasLt& lt = *lt_.library;
  const auto at = [&](const BoundOperand& operand) {
    return reinterpret_cast<void*>(operand.in(addresses));
  };
  if (bias_.is_there()) {
    const void* bias = at(bias_);
    BP_TRY(set(lt, matmul_, kLtBiasPointer, bias));
  }
  const void* alpha = is_f64_ ? static_cast<const void*>(&alpha_.f64) : &alpha_.f32;
  const void* beta = is_f64_ ? static_cast<const void*>(&beta_.f64) : &beta_.f32;
  return lt.check(
      lt.matmul(lt_.handle, matmul_, alpha, at(b_), layout_b_, at(a_), layout_a_, beta,
                at(c_.is_there() ? c_ : d_), layout_c_, at(d_), layout_d_, &choice_.algorithm,
                reinterpret_cast<void*>(workspace), choice_.workspace_bytes, stream),
      "a matrix product");
}

}  // namespace backplane::cuda
