#include <backplane/tensor.hpp>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>

namespace backplane {
namespace {

constexpr size_t kAlignment = 64;

// Dimensions of one copy, outermost first, strides in bytes.
struct CopyDim {
  int64_t size;
  int64_t from;
  int64_t to;
};

// Without dimensions of size 1, and neighbours that both sides step through evenly made one.
std::vector<CopyDim> collapse(const TensorView& from, const TensorView& to) {
  const auto bytes = static_cast<int64_t>(size_of(from.dtype));
  std::vector<CopyDim> dims;
  for (size_t d = 0; d < from.sizes.size(); ++d) {
    if (from.sizes[d] == 1) continue;
    const CopyDim dim{from.sizes[d], from.strides[d] * bytes, to.strides[d] * bytes};
    if (!dims.empty() && dims.back().from == dim.from * dim.size &&
        dims.back().to == dim.to * dim.size) {
      dims.back() = {dims.back().size * dim.size, dim.from, dim.to};
    } else {
      dims.push_back(dim);
    }
  }
  return dims;
}

// Lets the last two dimensions be those in which one side each steps through neighbours, if the
// last alone is not so for both: a transposition, which copy_tiles does.
void pair_up(std::vector<CopyDim>& dims, size_t bytes) {
  const auto is_source_row = [&](const CopyDim& d) {
    return d.from == static_cast<int64_t>(bytes);
  };
  if (dims.size() < 2 || is_source_row(dims.back())) return;
  const auto row = std::find_if(dims.begin(), dims.end(), is_source_row);
  if (row != dims.end()) std::rotate(row, row + 1, dims.end() - 1);
}

// The width is a constant here so that each copy of an element is one load and one store.
template <size_t kBytes>
void copy_row(const std::byte* from, std::byte* to, const CopyDim& dim) {
  for (int64_t i = 0; i < dim.size; ++i) {
    std::memcpy(to + i * dim.to, from + i * dim.from, kBytes);
  }
}

void copy_row(const std::byte* from, std::byte* to, const CopyDim& dim, size_t bytes) {
  if (dim.from == static_cast<int64_t>(bytes) && dim.to == dim.from) {
    std::memcpy(to, from, static_cast<size_t>(dim.size) * bytes);
    return;
  }
  switch (bytes) {
    case 1:
      return copy_row<1>(from, to, dim);
    case 2:
      return copy_row<2>(from, to, dim);
    case 4:
      return copy_row<4>(from, to, dim);
    case 8:
      return copy_row<8>(from, to, dim);
    default:
      assert(bytes == 16);
      return copy_row<16>(from, to, dim);
  }
}

// Two dimensions in squares small enough for the nearest cache, whatever the strides.
void copy_tiles(const std::byte* from, std::byte* to, const CopyDim& outer, const CopyDim& inner,
                size_t bytes) {
  constexpr int64_t kSide = 32;
  for (int64_t i = 0; i < outer.size; i += kSide) {
    const int64_t rows = std::min(kSide, outer.size - i);
    for (int64_t j = 0; j < inner.size; j += kSide) {
      const CopyDim part{std::min(kSide, inner.size - j), inner.from, inner.to};
      for (int64_t r = i; r < i + rows; ++r) {
        copy_row(from + r * outer.from + j * inner.from, to + r * outer.to + j * inner.to, part,
                 bytes);
      }
    }
  }
}

void copy_dims(const std::byte* from, std::byte* to, std::span<const CopyDim> dims, size_t bytes) {
  if (dims.size() == 2 && dims[1].from != static_cast<int64_t>(bytes))
    return copy_tiles(from, to, dims[0], dims[1], bytes);
  if (dims.size() == 1) return copy_row(from, to, dims[0], bytes);
  for (int64_t i = 0; i < dims[0].size; ++i) {
    copy_dims(from + i * dims[0].from, to + i * dims[0].to, dims.subspan(1), bytes);
  }
}

std::string describe(const TensorView& view) {
  return std::string(name_of(view.dtype)) + format_sizes(view.sizes);
}

}  // namespace

int64_t numel(std::span<const int64_t> sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

std::vector<int64_t> contiguous_strides(std::span<const int64_t> sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

Result<int64_t> checked_nbytes(DType dtype, std::span<const int64_t> sizes) {
  auto bytes = static_cast<int64_t>(size_of(dtype));
  bool empty = false;
  for (const int64_t size : sizes) {
    if (size < 0) {
      return Error{Code::invalid_argument, "sizes " + format_sizes(sizes) + " have a negative one"};
    }
    empty = empty || size == 0;
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes)) {
      return Error{Code::invalid_argument,
                   "sizes " + format_sizes(sizes) + " give more bytes than 64 bits can count"};
    }
  }
  return empty ? 0 : bytes;
}

std::string format_sizes(std::span<const int64_t> sizes) {
  std::string text = "[";
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (d > 0) text += ", ";
    text += std::to_string(sizes[d]);
  }
  return text + "]";
}

TensorView TensorView::contiguous(void* data, DType dtype, std::vector<int64_t> sizes) {
  TensorView view{.data = data, .dtype = dtype, .sizes = std::move(sizes), .strides = {}};
  view.strides = contiguous_strides(view.sizes);
  return view;
}

bool TensorView::is_contiguous() const {
  if (numel() == 0) return true;
  int64_t expected = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] != 1 && strides[d] != expected) return false;
    expected *= sizes[d];
  }
  return true;
}

Status copy_elements(const TensorView& from, const TensorView& to) {
  assert(from.strides.size() == from.sizes.size() && to.strides.size() == to.sizes.size());
  if (from.dtype != to.dtype || from.sizes != to.sizes) {
    return Error{Code::invalid_argument,
                 "cannot copy " + describe(from) + " to " + describe(to) + ": they must be alike"};
  }
  if (!from.device.is_host() || !to.device.is_host()) {
    return Error{Code::invalid_argument,
                 "cannot copy " + describe(from) +
                     " here: one side is in device memory; copy it to the host first"};
  }
  if (from.numel() == 0) return Ok{};
  const auto* source = static_cast<const std::byte*>(from.data);
  auto* target = static_cast<std::byte*>(to.data);
  std::vector<CopyDim> dims = collapse(from, to);
  pair_up(dims, size_of(from.dtype));
  if (dims.empty()) {
    std::memcpy(target, source, size_of(from.dtype));
  } else {
    copy_dims(source, target, dims, size_of(from.dtype));
  }
  return Ok{};
}

void Tensor::Free::operator()(std::byte* data) const {
  std::free(data);
}  // NOLINT

Result<Tensor> Tensor::uninitialized(DType dtype, std::vector<int64_t> sizes) {
  BP_ASSIGN_OR_RETURN(const int64_t bytes, checked_nbytes(dtype, sizes));
  // aligned_alloc wants a multiple of the alignment; an empty tensor gets a block too, so that its
  // address is never null.
  const size_t rounded = (static_cast<size_t>(bytes) / kAlignment + 1) * kAlignment;
  Tensor tensor;
  tensor.data_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, rounded)));
  if (!tensor.data_) {
    return Error{Code::out_of_memory, "no memory for a " + std::string(name_of(dtype)) +
                                          " tensor of sizes " + format_sizes(sizes) + ", " +
                                          std::to_string(bytes) + " bytes"};
  }
  tensor.dtype_ = dtype;
  tensor.sizes_ = std::move(sizes);
  return tensor;
}

Result<Tensor> Tensor::zeros(DType dtype, std::vector<int64_t> sizes) {
  BP_ASSIGN_OR_RETURN(Tensor tensor, uninitialized(dtype, std::move(sizes)));
  std::memset(tensor.data_.get(), 0, tensor.nbytes());
  return tensor;
}

Result<Tensor> Tensor::copy_of(const TensorView& view) {
  BP_ASSIGN_OR_RETURN(Tensor tensor, uninitialized(view.dtype, view.sizes));
  BP_TRY(copy_elements(view, tensor.view()));
  return tensor;
}

TensorView Tensor::view() const {
  return TensorView::contiguous(data_.get(), dtype_, sizes_);
}

}  // namespace backplane
