// The outer form of both formats: a FlatBuffer with a header spliced in after its first 8 bytes,
// and segments after it. The FlatBuffer's root offset counts over the header, so it is verified in
// place.
#pragma once

#include <backplane/result.hpp>
#include <string>
#include <string_view>

#include "format/byte_sink.hpp"
#include "format/named_data.hpp"

namespace backplane {

// What tells the two formats apart.
struct ContainerFormat {
  const char* name;        // ".pte"
  const char* identifier;  // of the FlatBuffer: 4 bytes
  const char* magic;       // of the header: 4 bytes
  bool needs_header;
  uint32_t min_header_size;  // counted from the magic, as the header itself does
  bool has_metadata_offset;  // the header gives the FlatBuffer's size in two parts
};

inline constexpr ContainerFormat kPteContainer = {".pte", "ET12", "eh00", false, 24, false};
inline constexpr ContainerFormat kPtdContainer = {".ptd", "FT01", "FH01", true, 40, true};

struct Container {
  Bytes metadata;  // the FlatBuffer, header included
  Bytes segments;  // from the segment base on
};

// invalid_argument: not this format, or cut short. incompatible: the identifier's version.
[[nodiscard]] Result<Container> find_container(const ContainerFormat& format, Bytes file);

// Appends the metadata (a finished FlatBuffer) with its header, and zeros up to the segment base:
// the next multiple of `alignment`. Without segment bytes a format that needs no header gets none.
[[nodiscard]] Status append_container(const ContainerFormat& format, Bytes metadata,
                                      uint64_t segment_bytes, uint64_t alignment, ByteSink& sink);

// Appends `count` zeros.
[[nodiscard]] Status append_zeros(uint64_t count, ByteSink& sink);

[[nodiscard]] constexpr uint64_t round_up(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

// In double quotes, at most 80 bytes of it, what is not printable ASCII as \xHH: for messages.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace backplane
