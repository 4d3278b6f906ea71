// The segments of a file to be written: which bytes go where, equal ones once.
#pragma once

#include <backplane/result.hpp>
#include <map>
#include <vector>

#include "format/byte_sink.hpp"
#include "format/named_data.hpp"

namespace backplane {

// Usage: add everything, place() once, then read the offsets, then append(). Bytes are borrowed.
class Segments {
 public:
  struct Segment {
    uint64_t offset = 0;  // from the segment base
    uint64_t size = 0;
    uint64_t alignment = 1;
    std::vector<std::pair<uint64_t, Bytes>> parts;  // offset in the segment, ascending
  };

  // The segment that holds just `bytes`, made if there is none: its index. Segments of equal bytes
  // are one, told by comparing, which ends at the first difference and so needs no hash.
  uint32_t add(Bytes bytes, uint32_t alignment);

  // A segment of many parts, each at a multiple of `alignment` in it: its index. `offsets` becomes
  // where they are.
  uint32_t add_parts(const std::vector<Bytes>& parts, uint32_t alignment,
                     std::vector<uint64_t>& offsets);

  // Gives each segment its offset: a multiple of its alignment and of `alignment`.
  void place(uint32_t alignment);

  [[nodiscard]] const std::vector<Segment>& list() const { return list_; }
  // Of the area from the base to the end of the last segment.
  [[nodiscard]] uint64_t size_bytes() const { return size_bytes_; }
  // What the base must be a multiple of, so that absolute offsets have the alignments asked for.
  [[nodiscard]] uint64_t base_alignment() const { return base_alignment_; }

  // Appends the area to a sink that is at the base.
  [[nodiscard]] Status append(ByteSink& sink) const;

 private:
  struct Less {
    bool operator()(Bytes a, Bytes b) const;
  };

  std::vector<Segment> list_;
  std::map<Bytes, uint32_t, Less> whole_;  // those of add()
  uint64_t size_bytes_ = 0;
  uint64_t base_alignment_ = 1;
};

// A power of two of at least `least` and at most kMaxAlignment; `what` leads the message.
[[nodiscard]] Status check_alignment(uint32_t alignment, uint32_t least, std::string_view what);

// Keys are there, unique, with proper alignments, and layouts that their data hold.
[[nodiscard]] Status check(std::span<const NamedData> data);

}  // namespace backplane
