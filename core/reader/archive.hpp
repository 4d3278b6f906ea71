// Zip archives in memory: what lies where, and an entry's bytes, in place where it is not packed.
//
// Only the central directory is believed: PyTorch's writer leaves sizes and checksums out of the
// local headers. Zip64, stored and deflated entries; nothing encrypted, nothing in several parts.
#pragma once

#include <backplane/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/constant.hpp"

namespace backplane {

struct ArchiveEntry {
  std::string_view name;       // into the archive's bytes
  uint64_t size_bytes = 0;     // unpacked
  uint64_t packed_bytes = 0;   // as it lies in the archive
  uint64_t header_offset = 0;  // of its local header
  uint32_t crc = 0;            // 0 where the writer left it out
  uint16_t method = 0;         // 0: stored, 8: deflated; others can't be read
  bool encrypted = false;

  [[nodiscard]] bool is_stored() const { return method == 0; }
};

// Reading is not thread safe. Movable.
class Archive {
 public:
  // `bytes`, the whole file, must outlive the archive and what was read from it. Costs a pass over
  // the directory alone.
  // invalid_argument: not a zip file, cut short, or damaged; names that are absolute, have `..`,
  // or come twice. unsupported: several parts.
  [[nodiscard]] static Result<Archive> open(std::span<const std::byte> bytes);

  // In the directory's order.
  [[nodiscard]] const std::vector<ArchiveEntry>& entries() const { return entries_; }

  // The entry of exactly this name, or null.
  [[nodiscard]] const ArchiveEntry* find(std::string_view name) const;

  // The entry that is `name` or ends in `/name`, the one in the fewest folders; or null.
  [[nodiscard]] const ArchiveEntry* find_below_root(std::string_view name) const;

  // The entry's bytes: a view of the archive if it is stored (no alignment is promised), else
  // unpacked into a block of `buffers`. The size that the directory states is checked against what
  // deflate can make of so many bytes, and all that is unpacked against a bound in proportion to
  // the archive's size, before memory is taken.
  // invalid_argument: it lies outside of the file, or does not unpack to its stated size and
  // checksum. unsupported: encrypted, or packed otherwise.
  [[nodiscard]] Result<std::span<const std::byte>> read(const ArchiveEntry& entry,
                                                        Buffers& buffers);

  // The same with the checksum of stored entries checked too: for what is parsed. Reads all bytes.
  [[nodiscard]] Result<std::span<const std::byte>> read_checked(const ArchiveEntry& entry,
                                                                Buffers& buffers);

  // How many bytes of the archive lie behind `bytes`; 0 if they are no part of it.
  [[nodiscard]] size_t readable_after(std::span<const std::byte> bytes) const;

 private:
  [[nodiscard]] Result<std::span<const std::byte>> packed(const ArchiveEntry& entry) const;

  std::span<const std::byte> bytes_;
  std::vector<ArchiveEntry> entries_;
  std::unordered_map<std::string_view, size_t> index_;
  uint64_t unpacked_bytes_ = 0;
};

}  // namespace backplane
