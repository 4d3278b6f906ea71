#include "lower/data_set.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace backplane::lower {
namespace {

// ExecuTorch's own alignment of constants is 16; 64 is a cache line, and what kernels ask for.
constexpr uint32_t kConstantAlignment = 64;

std::string with_id(const std::string& fqn, const ContentId& id) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string key = fqn + "@";
  for (size_t i = 0; i < 4; ++i) {
    key += kHex[id[i] >> 4U];
    key += kHex[id[i] & 15U];
  }
  return key;
}

TensorLayout layout_of(const Constant& constant) {
  TensorLayout layout{constant.dtype, {}, {}};
  for (const int64_t size : constant.sizes) layout.sizes.push_back(static_cast<int32_t>(size));
  layout.dim_order.resize(constant.sizes.size());
  std::iota(layout.dim_order.begin(), layout.dim_order.end(), uint8_t{0});
  return layout;
}

bool same_bytes(Bytes a, Bytes b) {
  return a.size() == b.size() &&
         (a.data() == b.data() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace

DataSet::Identity DataSet::identity(const Constant& constant, Buffers& buffers) {
  std::string type(name_of(constant.dtype));
  for (const int64_t size : constant.sizes) type += "x" + std::to_string(size);
  return {content_id(constant, buffers), std::move(type)};
}

std::string DataSet::key_in(const Contents& contents, const std::string& fqn,
                            const Identity& identity) {
  if (contents.size() == 1) return fqn;
  const auto alike = std::count_if(contents.begin(), contents.end(), [&](const auto& entry) {
    return entry.first.id == identity.id;
  });
  return with_id(fqn, identity.id) + (alike > 1 ? "-" + identity.type : "");
}

void DataSet::add(const Constant& constant, Buffers& buffers) {
  contents_[constant.fqn].try_emplace(
      identity(constant, buffers),
      Entry{{constant.fqn, dense_bytes(constant, buffers), kConstantAlignment, layout_of(constant)},
            false});
}

void DataSet::use(const Constant& constant, Buffers& buffers) {
  contents_.find(constant.fqn)->second.at(identity(constant, buffers)).used = true;
}

Status DataSet::add_blob(std::string_view key, Bytes bytes, uint32_t alignment) {
  const auto [at, added] =
      blobs_.try_emplace(std::string(key), NamedData{std::string(key), bytes, alignment, {}});
  if (!added) {
    if (!same_bytes(at->second.data, bytes)) {
      return Error{Code::invalid_argument,
                   "datum '" + std::string(key) + "' was emitted twice with different contents"};
    }
    at->second.alignment = std::lcm(at->second.alignment, alignment);
  }
  return Ok{};
}

std::string DataSet::key_of(const Constant& constant, Buffers& buffers) const {
  return key_in(contents_.find(constant.fqn)->second, constant.fqn, identity(constant, buffers));
}

std::vector<NamedData> DataSet::list() const {
  std::vector<NamedData> all;
  for (const auto& [fqn, contents] : contents_) {
    for (const auto& [identity, entry] : contents) {
      if (!entry.used) continue;
      all.push_back(entry.data);
      all.back().key = key_in(contents, fqn, identity);
    }
  }
  for (const auto& [key, data] : blobs_) all.push_back(data);
  std::sort(all.begin(), all.end(),
            [](const NamedData& a, const NamedData& b) { return a.key < b.key; });
  return all;
}

}  // namespace backplane::lower
