// Checks shared by both ways that a file describes weights: a strided view on a storage.
#pragma once

#include <backplane/result.hpp>

#include <cstddef>
#include <span>

#include "graph/constant.hpp"

namespace backplane {

// Whether `constant` may be used: sizes and strides not negative, arithmetic that does not
// overflow, every element within its storage, and not more elements than its storage makes
// plausible (an expanded view may repeat elements, up to 256 MiB in all). A tensor of no elements
// needs no storage.
// invalid_argument: says which of these fails.
[[nodiscard]] Status check_view(const Constant& constant);

// `storage` itself if every element type may be read there, else a copy in `buffers`.
[[nodiscard]] std::span<const std::byte> aligned(std::span<const std::byte> storage,
                                                 Buffers& buffers);

}  // namespace backplane
