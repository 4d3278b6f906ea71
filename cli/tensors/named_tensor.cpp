#include "tensors/named_tensor.hpp"

#include <algorithm>
#include <bit>

namespace backplane::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "files' elements are used as they are");

constexpr size_t kMaxRank = 64;  // NumPy's and PyTorch's own limit

}  // namespace

Result<Tensor> tensor_from_bytes(DType dtype, std::vector<int64_t> sizes,
                                 std::span<const std::byte> data, bool fortran_order) {
  if (sizes.size() > kMaxRank) {
    return Error{Code::invalid_argument,
                 "it has " + std::to_string(sizes.size()) + " dimensions, 64 are allowed"};
  }
  BP_ASSIGN_OR_RETURN(const int64_t bytes, checked_nbytes(dtype, sizes));
  if (static_cast<uint64_t>(bytes) != data.size()) {
    return Error{Code::invalid_argument, std::string(name_of(dtype)) + format_sizes(sizes) +
                                             " takes " + std::to_string(bytes) +
                                             " bytes, there are " + std::to_string(data.size())};
  }
  // Only read from.
  auto* address = const_cast<std::byte*>(data.data());  // NOLINT
  TensorView view = TensorView::contiguous(address, dtype, std::move(sizes));
  if (fortran_order) {
    const std::vector<int64_t> reversed(view.sizes.rbegin(), view.sizes.rend());
    view.strides = contiguous_strides(reversed);
    std::reverse(view.strides.begin(), view.strides.end());
  }
  if (dtype == DType::boolean) {
    const auto wrong =
        std::find_if(data.begin(), data.end(), [](std::byte b) { return b > std::byte{1}; });
    if (wrong != data.end()) {
      return Error{Code::invalid_argument, "bool " + std::to_string(wrong - data.begin()) +
                                               " is the byte " + std::to_string(int(*wrong)) +
                                               ", neither 0 nor 1"};
    }
  }
  return Tensor::copy_of(view);
}

Status append_elements(ByteSink& sink, const TensorView& tensor) {
  if (tensor.is_contiguous()) {
    return sink.append({static_cast<const std::byte*>(tensor.data), tensor.nbytes()});
  }
  BP_ASSIGN_OR_RETURN(const Tensor dense, Tensor::copy_of(tensor));
  return sink.append(dense.bytes());
}

}  // namespace backplane::cli
