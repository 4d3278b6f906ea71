#include "format/segments.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "format/container.hpp"

namespace backplane {

bool Segments::Less::operator()(Bytes a, Bytes b) const {
  if (a.size() != b.size()) return a.size() < b.size();
  return !a.empty() && a.data() != b.data() && std::memcmp(a.data(), b.data(), a.size()) < 0;
}

uint32_t Segments::add(Bytes bytes, uint32_t alignment) {
  const auto [entry, added] = whole_.try_emplace(bytes, static_cast<uint32_t>(list_.size()));
  if (added) list_.push_back({.size = bytes.size(), .parts = {{0, bytes}}});
  Segment& segment = list_[entry->second];
  segment.alignment = std::max<uint64_t>(segment.alignment, alignment);
  return entry->second;
}

uint32_t Segments::add_parts(const std::vector<Bytes>& parts, uint32_t alignment,
                             std::vector<uint64_t>& offsets) {
  Segment segment{.alignment = alignment};
  offsets.clear();
  for (const Bytes part : parts) {
    const uint64_t offset = round_up(segment.size, alignment);
    offsets.push_back(offset);
    segment.parts.emplace_back(offset, part);
    segment.size = offset + part.size();
  }
  list_.push_back(std::move(segment));
  return static_cast<uint32_t>(list_.size() - 1);
}

void Segments::place(uint32_t alignment) {
  base_alignment_ = alignment;
  bool any = false;
  uint64_t end = 0;
  for (Segment& segment : list_) {
    // Powers of two: the larger one is the least common multiple.
    const uint64_t both = std::max<uint64_t>(alignment, segment.alignment);
    base_alignment_ = std::max(base_alignment_, both);
    segment.offset = round_up(end, both);
    end = segment.offset + segment.size;
    any = any || segment.size > 0;
  }
  size_bytes_ = any ? end : 0;
}

Status Segments::append(ByteSink& sink) const {
  uint64_t at = 0;
  for (const Segment& segment : list_) {
    for (const auto& [offset, bytes] : segment.parts) {
      if (bytes.empty()) continue;
      BP_TRY(append_zeros(segment.offset + offset - at, sink));
      BP_TRY(sink.append(bytes));
      at = segment.offset + offset + bytes.size();
    }
  }
  return append_zeros(size_bytes_ - at, sink);
}

Status check_alignment(uint32_t alignment, uint32_t least, std::string_view what) {
  if (std::has_single_bit(alignment) && alignment >= least && alignment <= kMaxAlignment)
    return Ok{};
  return Error{Code::invalid_argument,
               std::string(what) + ": alignment " + std::to_string(alignment) +
                   ", must be a power of two from " + std::to_string(least) + " to " +
                   std::to_string(kMaxAlignment)};
}

Status check(std::span<const NamedData> data) {
  std::vector<std::string_view> keys;
  for (const NamedData& datum : data) {
    const std::string name = "named datum " + quoted(datum.key);
    BP_TRY(check_alignment(datum.alignment, 1, name));
    if (datum.layout) {
      if (Status status = check(*datum.layout); !status.ok()) {
        return std::move(status).error().in(name);
      }
      const std::optional<int64_t> nbytes = checked_nbytes(*datum.layout);
      if (!nbytes || static_cast<uint64_t>(*nbytes) > datum.data.size()) {
        return Error{Code::invalid_argument,
                     name + ": has " + std::to_string(datum.data.size()) + " bytes, its tensor " +
                         (nbytes ? std::to_string(*nbytes) : std::string("over 2^63"))};
      }
    }
    keys.push_back(datum.key);
  }
  std::sort(keys.begin(), keys.end());
  if (!keys.empty() && keys.front().empty()) {
    return Error{Code::invalid_argument, "a named datum has no key"};
  }
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice == keys.end()) return Ok{};
  return Error{Code::invalid_argument, "named datum " + quoted(*twice) + " is there twice"};
}

}  // namespace backplane
