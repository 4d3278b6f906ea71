// The name that somebody who wrote a wrong one probably meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace backplane {

// The candidate that takes the fewest edits (a letter more, less, other, or two neighbours swapped;
// case doesn't count), the first of equals; empty if that is more than a third of `name`'s letters
// (rounded up), or all of them.
[[nodiscard]] std::string_view nearest(std::string_view name,
                                       std::span<const std::string_view> candidates);

// The end of a message: "; did you mean 'data_name'?", or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view name,
                                       std::span<const std::string_view> candidates);

}  // namespace backplane
