#include "format/container.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace backplane {
namespace {

static_assert(std::endian::native == std::endian::little, "files are read and written as they lie");

constexpr size_t kHeadBytes = 8;                     // root offset, identifier
constexpr size_t kMagicEnd = 12;                     // head and magic
constexpr uint64_t kMaxMetadata = (1ULL << 31) - 2;  // what FlatBuffers' 32-bit offsets reach

struct Extent {
  uint64_t metadata_size = 0;
  uint64_t segment_base = 0;  // 0: no segments
  uint64_t segment_bytes = 0;
  bool to_the_end = false;  // headers of old files don't say how many bytes
};

template <class T>
T load(Bytes bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view tag(Bytes bytes, size_t offset) {
  return {reinterpret_cast<const char*>(bytes.data()) + offset, 4};
}

Error damaged(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

std::string count(uint64_t bytes) {
  return std::to_string(bytes) + " bytes";
}

Status check_identifier(const ContainerFormat& format, Bytes file) {
  if (file.size() < kMagicEnd) {
    return damaged(count(file.size()) + " are too short for a " + format.name + " file");
  }
  const std::string_view found = tag(file, 4);
  const std::string_view expected = format.identifier;
  if (found == expected) return Ok{};
  const bool related = found.substr(0, 2) == expected.substr(0, 2);
  return Error{related ? Code::incompatible : Code::invalid_argument,
               "identifier is " + quoted(found) + ", a " + format.name +
                   " file of this version has " + quoted(expected) + " at byte 4"};
}

Result<Extent> read_header(const ContainerFormat& format, Bytes file) {
  const auto header_size = file.size() < 16 ? 0 : load<uint32_t>(file, kMagicEnd);
  if (header_size < format.min_header_size) {
    return damaged("header of " + count(header_size) + ", at least " +
                   std::to_string(format.min_header_size) + " are expected");
  }
  if (file.size() < kHeadBytes + uint64_t{header_size}) {
    return damaged("header of " + count(header_size) + " in a file of " + count(file.size()));
  }
  Extent extent;
  extent.metadata_size = load<uint64_t>(file, 16);
  if (format.has_metadata_offset) {
    const auto size = load<uint64_t>(file, 24);
    if (size > file.size() || extent.metadata_size > file.size()) {
      return damaged("metadata of " + std::to_string(extent.metadata_size) + " + " + count(size) +
                     " in a file of " + count(file.size()) + ": cut short?");
    }
    extent.metadata_size += size;
    extent.segment_base = load<uint64_t>(file, 32);
    extent.segment_bytes = load<uint64_t>(file, 40);
  } else {
    extent.segment_base = load<uint64_t>(file, 24);
    extent.segment_bytes = header_size >= 32 ? load<uint64_t>(file, 32) : 0;
    extent.to_the_end = extent.segment_bytes == 0;
  }
  if (extent.metadata_size < kHeadBytes + header_size) {
    return damaged("metadata of " + count(extent.metadata_size) + ", less than the header");
  }
  return extent;
}

Result<Container> cut(const Extent& extent, Bytes file) {
  const auto [metadata_size, base, segment_bytes, to_the_end] = extent;
  if (metadata_size > file.size()) {
    return damaged("metadata of " + count(metadata_size) + " in a file of " + count(file.size()) +
                   ": cut short?");
  }
  if (metadata_size > kMaxMetadata) {
    return damaged("metadata of " + count(metadata_size) + ", at most 2 GiB are possible");
  }
  const Bytes metadata = file.first(metadata_size);
  if (base == 0 && segment_bytes == 0) return Container{metadata, {}};
  if (base < metadata_size || base > file.size() || segment_bytes > file.size() - base) {
    return damaged("segments of " + count(segment_bytes) + " at " + std::to_string(base) +
                   ", the file has " + count(file.size()) + " of which " +
                   std::to_string(metadata_size) + " are metadata: cut short?");
  }
  return Container{metadata, to_the_end ? file.subspan(base) : file.subspan(base, segment_bytes)};
}

}  // namespace

Result<Container> find_container(const ContainerFormat& format, Bytes file) {
  BP_TRY(check_identifier(format, file));
  if (reinterpret_cast<uintptr_t>(file.data()) % 16 != 0) {
    return damaged("the bytes given are not aligned to 16 in memory");
  }
  if (tag(file, kHeadBytes) == format.magic) {
    BP_ASSIGN_OR_RETURN(const Extent extent, read_header(format, file));
    return cut(extent, file);
  }
  if (format.needs_header) {
    return damaged("header starts with " + quoted(tag(file, kHeadBytes)) + ", " +
                   quoted(format.magic) + " is expected at byte 8");
  }
  return cut({.metadata_size = file.size()}, file);
}

Status append_container(const ContainerFormat& format, Bytes metadata, uint64_t segment_bytes,
                        uint64_t alignment, ByteSink& sink) {
  if (segment_bytes == 0 && !format.needs_header) return sink.append(metadata);
  // Padded to 16, so that what FlatBuffers aligned stays aligned.
  std::array<std::byte, 64> header{};
  const uint32_t header_size = format.has_metadata_offset ? 40 : 32;
  const uint64_t spliced = round_up(header_size, 16);
  const uint64_t base = round_up(metadata.size() + spliced, alignment);
  const auto store = [&](size_t offset, auto value) {
    std::memcpy(header.data() + offset, &value, sizeof value);
  };
  store(0, static_cast<uint32_t>(load<uint32_t>(metadata, 0) + spliced));
  std::memcpy(header.data() + 4, format.identifier, 4);
  std::memcpy(header.data() + 8, format.magic, 4);
  store(12, header_size);
  if (format.has_metadata_offset) {
    store(16, spliced);
    store(24, uint64_t{metadata.size()});
    store(32, base);
    store(40, segment_bytes);
  } else {
    store(16, metadata.size() + spliced);
    store(24, base);
    store(32, segment_bytes);
  }
  BP_TRY(sink.append(std::span(header).first(kHeadBytes + spliced)));
  BP_TRY(sink.append(metadata.subspan(kHeadBytes)));
  return append_zeros(base - metadata.size() - spliced, sink);
}

Status append_zeros(uint64_t count, ByteSink& sink) {
  static constexpr std::array<std::byte, 4096> kZeros{};
  while (count > 0) {
    const auto part = static_cast<size_t>(std::min<uint64_t>(count, kZeros.size()));
    BP_TRY(sink.append(std::span(kZeros).first(part)));
    count -= part;
  }
  return Ok{};
}

std::string quoted(std::string_view text) {
  constexpr size_t kMost = 80;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result = "\"";
  for (const char c : text.substr(0, kMost)) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else {
      result += "\\x";
      result += kDigits[byte >> 4];
      result += kDigits[byte & 15];
    }
  }
  return result + (text.size() > kMost ? "…\"" : "\"");
}

}  // namespace backplane
