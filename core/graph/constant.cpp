#include "graph/constant.hpp"

#include <backplane/tensor.hpp>

#include <algorithm>
#include <cassert>
#include <compare>
#include <cstring>
#include <map>
#include <new>

#include "common/mapped_file.hpp"
#include "format/sha256.hpp"

namespace backplane {
namespace {

constexpr std::align_val_t kAlignment{64};

struct FreeAligned {
  void operator()(std::byte* data) const { ::operator delete(data, kAlignment); }
};
using Block = std::unique_ptr<std::byte[], FreeAligned>;

}  // namespace

struct Buffers::Impl {
  // Of a constant that does not lie dense.
  struct Strided {
    const std::byte* first;
    DType dtype;
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
    auto operator<=>(const Strided&) const = default;
  };

  std::vector<MappedFile> files;
  std::vector<Block> blocks;
  std::map<Strided, std::span<const std::byte>> dense;
};

Buffers::Buffers() : impl_(std::make_unique<Impl>()) {}
Buffers::~Buffers() = default;
Buffers::Buffers(Buffers&&) noexcept = default;
Buffers& Buffers::operator=(Buffers&&) noexcept = default;

void Buffers::keep(MappedFile file) {
  impl_->files.push_back(std::move(file));
}

std::span<std::byte> Buffers::allocate(size_t size_bytes) {
  auto* data = static_cast<std::byte*>(::operator new(std::max<size_t>(size_bytes, 1), kAlignment));
  impl_->blocks.emplace_back(data);
  std::memset(data, 0, size_bytes);
  return {data, size_bytes};
}

int64_t Constant::numel() const {
  return backplane::numel(sizes);
}

bool Constant::is_dense() const {
  int64_t expected = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 0) return true;
    if (sizes[i] != 1 && strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

std::span<const std::byte> dense_bytes(const Constant& constant, Buffers& buffers) {
  if (constant.numel() == 0) return {};
  const size_t start = static_cast<size_t>(constant.storage_offset) * size_of(constant.dtype);
  if (constant.is_dense()) return constant.storage.subspan(start, constant.nbytes());
  const Buffers::Impl::Strided key{constant.storage.data() + start, constant.dtype, constant.sizes,
                                   constant.strides};
  auto& known = buffers.impl_->dense;
  if (const auto found = known.find(key); found != known.end()) return found->second;
  const std::span<std::byte> dense = buffers.allocate(constant.nbytes());
  const TensorView from = {
      // only read
      .data = const_cast<std::byte*>(constant.storage.data()) + start,  // NOLINT
      .dtype = constant.dtype,
      .sizes = constant.sizes,
      .strides = constant.strides};
  const Status copied =
      copy_elements(from, TensorView::contiguous(dense.data(), constant.dtype, constant.sizes));
  assert(copied.ok());  // both are on the host, of one shape
  (void)copied;
  known.emplace(key, dense);
  return dense;
}

const ContentId& content_id(const Constant& constant, Buffers& buffers) {
  if (!constant.id) {
    const Digest digest = sha256(dense_bytes(constant, buffers));
    std::copy_n(digest.begin(), std::tuple_size_v<ContentId>, constant.id.emplace().begin());
  }
  return *constant.id;
}

std::string_view StringPool::intern(std::string_view text) {
  const auto found = index_.find(text);
  if (found != index_.end()) return *found;
  return *index_.insert(strings_.emplace_back(text)).first;
}

}  // namespace backplane
