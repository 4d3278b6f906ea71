// Zip archives: the directory is checked whole when opened, an entry's own header when it is read.
#include "reader/archive.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <string>

namespace backplane {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kEnd = 0x06054b50;
constexpr uint32_t kZip64End = 0x06064b50;
constexpr uint32_t kZip64Locator = 0x07064b50;
constexpr size_t kLocalHeaderBytes = 30;
constexpr size_t kDirectoryEntryBytes = 46;
constexpr size_t kEndBytes = 22;
constexpr size_t kZip64EndBytes = 56;
constexpr size_t kZip64LocatorBytes = 20;
constexpr uint16_t kZip64Field = 1;
constexpr uint16_t kDeflated = 8;
// Deflate makes at most 1032 bytes out of one.
constexpr uint64_t kMaxRatio = 1032;
constexpr uint64_t kAlwaysUnpacked = uint64_t{1} << 30;
constexpr uint64_t kMaxGrowth = 32;

template <class T>
T load(Bytes bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string quoted(std::string_view name) {
  return "entry '" + std::string(name.substr(0, 200)) + "'";
}

Error damaged(std::string what) {
  return {Code::invalid_argument, "damaged zip archive: " + std::move(what)};
}

std::optional<size_t> find_end(Bytes bytes) {
  if (bytes.size() < kEndBytes) return std::nullopt;
  const size_t last = bytes.size() - kEndBytes;
  const size_t max_comment = std::min<size_t>(last, std::numeric_limits<uint16_t>::max());
  for (size_t comment = 0; comment <= max_comment; ++comment) {
    const size_t at = last - comment;
    if (load<uint32_t>(bytes, at) == kEnd && load<uint16_t>(bytes, at + 20) <= comment) return at;
  }
  return std::nullopt;
}

struct Directory {
  uint64_t num_entries;
  uint64_t size_bytes;
  uint64_t offset;
};

Result<Directory> read_zip64_end(Bytes bytes, size_t locator) {
  const auto at = load<uint64_t>(bytes, locator + 8);
  if (bytes.size() < kZip64EndBytes || at > bytes.size() - kZip64EndBytes ||
      load<uint32_t>(bytes, at) != kZip64End) {
    return damaged("its zip64 end record is not where it should be");
  }
  return Directory{.num_entries = load<uint64_t>(bytes, at + 32),
                   .size_bytes = load<uint64_t>(bytes, at + 40),
                   .offset = load<uint64_t>(bytes, at + 48)};
}

Result<Directory> find_directory(Bytes bytes) {
  const std::optional<size_t> end = find_end(bytes);
  if (!end) {
    return Error{Code::invalid_argument, "not a zip archive, or cut short: it has no end record"};
  }
  const auto disk = load<uint16_t>(bytes, *end + 4);
  Directory directory{.num_entries = load<uint16_t>(bytes, *end + 10),
                      .size_bytes = load<uint32_t>(bytes, *end + 12),
                      .offset = load<uint32_t>(bytes, *end + 16)};
  if (*end >= kZip64LocatorBytes &&
      load<uint32_t>(bytes, *end - kZip64LocatorBytes) == kZip64Locator) {
    BP_ASSIGN_OR_RETURN(directory, read_zip64_end(bytes, *end - kZip64LocatorBytes));
  } else if (disk != 0) {
    return Error{Code::unsupported, "a zip archive in several parts: join them first"};
  }
  if (directory.offset > bytes.size() || directory.size_bytes > bytes.size() - directory.offset) {
    return damaged("its directory lies outside of the file");
  }
  if (directory.num_entries > directory.size_bytes / kDirectoryEntryBytes) {
    return damaged("its directory can't hold " + std::to_string(directory.num_entries) +
                   " entries");
  }
  return directory;
}

Status check_name(std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    return Error{Code::invalid_argument, "zip " + quoted(name) + " " + std::string(why)};
  };
  if (name.empty()) return refuse("has no name");
  if (name.front() == '/' || name.front() == '\\' || name.find(':') < 2) {
    return refuse("has an absolute name");
  }
  if (name.find('\0') != std::string_view::npos) return refuse("has a name with a zero byte");
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = std::min(name.find_first_of("/\\", begin), name.size());
    if (name.substr(begin, end - begin) == "..") return refuse("leaves its folder by '..'");
    begin = end + 1;
  }
  return Ok{};
}

// Values that did not fit into 32 bits, in the order: size, packed size, offset.
Status read_zip64_field(Bytes extra, ArchiveEntry& entry) {
  for (size_t at = 0; at + 4 <= extra.size();) {
    const auto id = load<uint16_t>(extra, at);
    const size_t size = load<uint16_t>(extra, at + 2);
    at += 4;
    if (size > extra.size() - at) break;
    if (id == kZip64Field) {
      const size_t end = at + size;
      for (uint64_t* value : {&entry.size_bytes, &entry.packed_bytes, &entry.header_offset}) {
        if (*value != std::numeric_limits<uint32_t>::max()) continue;
        if (end - at < 8) return damaged(quoted(entry.name) + " has a short zip64 field");
        *value = load<uint64_t>(extra, at);
        at += 8;
      }
      return Ok{};
    }
    at += size;
  }
  return Ok{};
}

// Reads the entry at the front of `rest` and takes it off.
Result<ArchiveEntry> read_entry(Bytes& rest) {
  if (rest.size() < kDirectoryEntryBytes || load<uint32_t>(rest, 0) != kDirectoryEntry) {
    return damaged("its directory ends early");
  }
  const size_t name_bytes = load<uint16_t>(rest, 28);
  const size_t extra_bytes = load<uint16_t>(rest, 30);
  const size_t comment_bytes = load<uint16_t>(rest, 32);
  if (rest.size() - kDirectoryEntryBytes < name_bytes + extra_bytes + comment_bytes) {
    return damaged("its directory ends early");
  }
  ArchiveEntry entry{.name = text(rest.subspan(kDirectoryEntryBytes, name_bytes)),
                     .size_bytes = load<uint32_t>(rest, 24),
                     .packed_bytes = load<uint32_t>(rest, 20),
                     .header_offset = load<uint32_t>(rest, 42),
                     .crc = load<uint32_t>(rest, 16),
                     .method = load<uint16_t>(rest, 10),
                     .encrypted = (load<uint16_t>(rest, 8) & 1) != 0};
  BP_TRY(check_name(entry.name));
  BP_TRY(read_zip64_field(rest.subspan(kDirectoryEntryBytes + name_bytes, extra_bytes), entry));
  rest = rest.subspan(kDirectoryEntryBytes + name_bytes + extra_bytes + comment_bytes);
  if (entry.is_stored() && entry.size_bytes != entry.packed_bytes) {
    return damaged(quoted(entry.name) + " is stored, but its two sizes differ");
  }
  return entry;
}

uint32_t checksum(Bytes bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

Status check_crc(const ArchiveEntry& entry, Bytes bytes) {
  if (entry.crc == 0 || checksum(bytes) == entry.crc) return Ok{};
  return damaged(quoted(entry.name) + " does not match its checksum");
}

struct Inflater {
  z_stream stream{};
  bool ready = inflateInit2(&stream, -MAX_WBITS) == Z_OK;

  Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
};

// Whether `from` unpacks to exactly `to`. zlib counts in 32 bits, hence the pieces.
bool inflate_all(Bytes from, std::span<std::byte> to) {
  constexpr size_t kPiece = size_t{1} << 30;
  Inflater inflater;
  if (!inflater.ready) return false;
  z_stream& stream = inflater.stream;
  int status = Z_OK;
  while (status == Z_OK) {
    const size_t given = std::min(from.size(), kPiece);
    const size_t wanted = std::min(to.size(), kPiece);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(from.data()));  // NOLINT
    stream.avail_in = static_cast<uInt>(given);
    stream.next_out = reinterpret_cast<Bytef*>(to.data());
    stream.avail_out = static_cast<uInt>(wanted);
    status = inflate(&stream, Z_NO_FLUSH);
    from = from.subspan(given - stream.avail_in);
    to = to.subspan(wanted - stream.avail_out);
  }
  return status == Z_STREAM_END && to.empty();
}

}  // namespace

Result<Archive> Archive::open(Bytes bytes) {
  BP_ASSIGN_OR_RETURN(const Directory directory, find_directory(bytes));
  Archive archive;
  archive.bytes_ = bytes;
  archive.entries_.reserve(directory.num_entries);
  Bytes rest = bytes.subspan(directory.offset, directory.size_bytes);
  for (uint64_t i = 0; i < directory.num_entries; ++i) {
    BP_ASSIGN_OR_RETURN(const ArchiveEntry entry, read_entry(rest));
    if (!archive.index_.emplace(entry.name, archive.entries_.size()).second) {
      return damaged(quoted(entry.name) + " is there twice");
    }
    archive.entries_.push_back(entry);
  }
  return archive;
}

const ArchiveEntry* Archive::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

const ArchiveEntry* Archive::find_below_root(std::string_view name) const {
  const ArchiveEntry* best = nullptr;
  std::ptrdiff_t best_depth = 0;
  for (const ArchiveEntry& entry : entries_) {
    if (!entry.name.ends_with(name)) continue;
    const std::string_view folder = entry.name.substr(0, entry.name.size() - name.size());
    if (!folder.empty() && folder.back() != '/') continue;
    const std::ptrdiff_t depth = std::count(folder.begin(), folder.end(), '/');
    if (best == nullptr || depth < best_depth) {
      best = &entry;
      best_depth = depth;
    }
  }
  return best;
}

Result<Bytes> Archive::packed(const ArchiveEntry& entry) const {
  if (entry.encrypted) {
    return Error{Code::unsupported, "zip " + quoted(entry.name) + " is encrypted"};
  }
  const uint64_t at = entry.header_offset;
  const auto outside = [&] { return damaged(quoted(entry.name) + " lies outside of the file"); };
  if (bytes_.size() < kLocalHeaderBytes || at > bytes_.size() - kLocalHeaderBytes) {
    return outside();
  }
  const Bytes header = bytes_.subspan(at);
  const size_t name_bytes = load<uint16_t>(header, 26);
  const size_t before = kLocalHeaderBytes + name_bytes + load<uint16_t>(header, 28);
  if (load<uint32_t>(header, 0) != kLocalHeader) {
    return damaged(quoted(entry.name) + " has no local header where the directory says");
  }
  if (header.size() < before || header.size() - before < entry.packed_bytes) return outside();
  if (text(header.subspan(kLocalHeaderBytes, name_bytes)) != entry.name) {
    return damaged(quoted(entry.name) + " has another name in its local header");
  }
  return header.subspan(before, entry.packed_bytes);
}

Result<Bytes> Archive::read(const ArchiveEntry& entry, Buffers& buffers) {
  BP_ASSIGN_OR_RETURN(const Bytes from, packed(entry));
  if (entry.is_stored()) return from;
  if (entry.method != kDeflated) {
    return Error{Code::unsupported, "zip " + quoted(entry.name) + " is packed by method " +
                                        std::to_string(entry.method) +
                                        "; only stored and deflated entries can be read"};
  }
  const uint64_t bound = std::max(kAlwaysUnpacked, kMaxGrowth * bytes_.size());
  if (entry.size_bytes / kMaxRatio > from.size() || entry.size_bytes > bound - unpacked_bytes_) {
    return Error{Code::invalid_argument, "zip " + quoted(entry.name) + " claims to unpack to " +
                                             std::to_string(entry.size_bytes) +
                                             " bytes, too many for an archive of " +
                                             std::to_string(bytes_.size()) + " bytes"};
  }
  if (entry.size_bytes == 0) return Bytes();
  const std::span<std::byte> to = buffers.allocate(entry.size_bytes);
  unpacked_bytes_ += entry.size_bytes;
  if (!inflate_all(from, to)) {
    return damaged(quoted(entry.name) + " does not unpack to " + std::to_string(entry.size_bytes) +
                   " bytes");
  }
  BP_TRY(check_crc(entry, to));
  return Bytes(to);
}

Result<Bytes> Archive::read_checked(const ArchiveEntry& entry, Buffers& buffers) {
  BP_ASSIGN_OR_RETURN(const Bytes bytes, read(entry, buffers));
  if (entry.is_stored()) BP_TRY(check_crc(entry, bytes));
  return bytes;
}

size_t Archive::readable_after(Bytes bytes) const {
  const std::less<const std::byte*> before;
  const std::byte* begin = bytes_.data();
  const std::byte* end = begin + bytes_.size();
  if (before(bytes.data(), begin) || !before(bytes.data(), end)) return 0;
  return static_cast<size_t>(end - (bytes.data() + bytes.size()));
}

}  // namespace backplane
