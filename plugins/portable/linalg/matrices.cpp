#include "portable/linalg/matrices.hpp"

namespace backplane::portable::linalg {

Dims batch_of(const Tensor& tensor, int64_t item_rank) {
  return Dims(tensor.shape().first(static_cast<size_t>(tensor.dim() - item_rank)));
}

Dims join(const Dims& batch, Sizes item) {
  Dims shape = batch;
  for (const int64_t size : item) shape.push_back(size);
  return shape;
}

int64_t elements(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (const int64_t size : shape) n *= size;
  return n;
}

Status expect_matrices(const Tensor& a) {
  if (a.dim() >= 2) return Ok{};
  return invalid({"a matrix or a batch of them is needed, but the tensor has ", a.dim(),
                  a.dim() == 1 ? " dimension" : " dimensions"});
}

Status expect_square(const Tensor& a) {
  BP_TRY(expect_matrices(a));
  if (a.size(-1) == a.size(-2)) return Ok{};
  return invalid({"square matrices are needed, but these are ", a.size(-2), " by ", a.size(-1)});
}

Status expect_same_dtype(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return Ok{};
  return invalid({"both must have one dtype, but they have ", a.dtype(), " and ", b.dtype()});
}

std::string which(int64_t i, int64_t count) {
  return count == 1 ? "the matrix" : "matrix " + std::to_string(i) + " of the batch";
}

}  // namespace backplane::portable::linalg
