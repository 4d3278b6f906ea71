// What the values of options say: numbers, sizes, compile specs, bounds, inputs.
#pragma once

#include <backplane/lower.hpp>
#include <backplane/result.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensors/image.hpp"

namespace backplane::cli {

// The whole text as a decimal number, or nothing.
[[nodiscard]] std::optional<int64_t> parse_integer(std::string_view text);
[[nodiscard]] std::optional<double> parse_real(std::string_view text);

// "224x320": height, width, each 1 to 65535.
[[nodiscard]] Result<ImageSize> parse_image_size(std::string_view text);

// "[PLUGIN:]KEY=VALUE", split at the first `=`. What stands before the key's first `:` is a plugin
// only if it is one of `backends`, else part of the key. invalid_argument: no `=`, or no key.
[[nodiscard]] Result<Spec> parse_spec(std::string_view text, std::span<const std::string> backends);

// "NAME=FILE" of --method. invalid_argument: no `=`, or one side is empty.
[[nodiscard]] Result<MethodSource> parse_method(std::string_view text);

// "NAME:[PLUGIN:]KEY=VALUE" of --method-spec, added to the method of that name. invalid_argument:
// no such method (with the nearest), or not such a text.
Status add_method_spec(std::string_view text, std::span<const std::string> backends,
                       std::vector<MethodSource>& methods);

// "SYMBOL=N" or "INPUT.DIM=N". invalid_argument: not such a text, N < 1, or a name twice.
Status add_bound(std::string_view text, std::map<std::string, int64_t>& bounds);

// "FILE", "KEY=FILE" or "KEY=NUMBER", where KEY is `in.K` or an input's name: what stands before the first `=`,
// if it has no `/`.
struct InputText {
  std::string key;  // empty: as the file's own names say, or the next input
  std::string path;
};
[[nodiscard]] Result<InputText> parse_input(std::string_view text);

}  // namespace backplane::cli
