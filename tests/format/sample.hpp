// A small program and data file with one of everything; bytes are static, so they outlive all use.
#pragma once

#include "format/ptd.hpp"
#include "format/pte.hpp"

namespace backplane {

// Bytes of a literal, without its end.
template <size_t n>
Bytes bytes_of(const char (&text)[n]) {
  return std::as_bytes(std::span(text, n - 1));
}

// Two methods that share a payload. Segments, in order: constants "first" and "next" at 0 and 16;
// initial state "old" ; payload "payload"; named data "0123456789" at 512, by two keys.
pte::Program sample_program();

// A tensor of 2 × 3 float16, a blob of the same bytes, and another blob aligned to 1024.
ptd::DataFile sample_data();

// Every member is equal; of bytes, the contents are.
bool same(const pte::Program& a, const pte::Program& b);
bool same(std::span<const NamedData> a, std::span<const NamedData> b);

}  // namespace backplane
