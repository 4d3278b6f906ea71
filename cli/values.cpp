#include "values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "common/nearest.hpp"

namespace backplane::cli {
namespace {

constexpr int64_t kLargestImage = 65535;  // what JPEG can have

Error wrong(std::string_view option, std::string_view text, std::string_view wanted) {
  return {Code::invalid_argument, std::string(option) + " is '" + std::string(text) +
                                      "'; it must be " + std::string(wanted)};
}

// Both sides of the first `mark`, or nothing where there is none or the left side is empty.
std::optional<std::pair<std::string_view, std::string_view>> split(std::string_view text,
                                                                   char mark) {
  const size_t at = text.find(mark);
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  return std::pair{text.substr(0, at), text.substr(at + 1)};
}

template <class T>
std::optional<T> parse_whole(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<int64_t> parse_integer(std::string_view text) {
  return parse_whole<int64_t>(text);
}
std::optional<double> parse_real(std::string_view text) {
  return parse_whole<double>(text);
}

Result<ImageSize> parse_image_size(std::string_view text) {
  const auto sides = split(text, 'x');
  const auto height = sides ? parse_integer(sides->first) : std::nullopt;
  const auto width = sides ? parse_integer(sides->second) : std::nullopt;
  const auto allowed = [](std::optional<int64_t> n) { return n && *n >= 1 && *n <= kLargestImage; };
  if (!allowed(height) || !allowed(width)) {
    return wrong("--image-size", text, "HEIGHTxWIDTH, such as 224x320, each 1 to 65535");
  }
  return ImageSize{*height, *width};
}

Result<Spec> parse_spec(std::string_view text, std::span<const std::string> backends) {
  const auto sides = split(text, '=');
  if (!sides) return wrong("--spec", text, "[PLUGIN:]KEY=VALUE");
  std::string_view key = sides->first;
  std::string_view plugin;
  if (const auto parts = split(key, ':')) {
    if (std::find(backends.begin(), backends.end(), parts->first) != backends.end()) {
      std::tie(plugin, key) = *parts;
    }
  }
  if (key.empty()) return wrong("--spec", text, "[PLUGIN:]KEY=VALUE");
  return Spec{std::string(plugin), std::string(key), std::string(sides->second)};
}

Result<MethodSource> parse_method(std::string_view text) {
  const auto sides = split(text, '=');
  if (!sides || sides->second.empty()) return wrong("--method", text, "NAME=FILE.pt2");
  return MethodSource{.name = std::string(sides->first), .path = std::string(sides->second)};
}

Status add_method_spec(std::string_view text, std::span<const std::string> backends,
                       std::vector<MethodSource>& methods) {
  const auto sides = split(text, ':');
  auto spec = parse_spec(sides ? sides->second : "", backends);
  if (!sides || !spec.ok()) return wrong("--method-spec", text, "METHOD:[PLUGIN:]KEY=VALUE");
  std::vector<std::string_view> names;
  for (MethodSource& method : methods) {
    if (method.name == sides->first) {
      method.specs.push_back(*std::move(spec));
      return Ok{};
    }
    names.push_back(method.name);
  }
  return Error{Code::invalid_argument, "--method-spec '" + std::string(text) +
                                           "': there is no method '" + std::string(sides->first) +
                                           "'" + did_you_mean(sides->first, names)};
}

Status add_bound(std::string_view text, std::map<std::string, int64_t>& bounds) {
  const auto sides = split(text, '=');
  const auto bound = sides ? parse_integer(sides->second) : std::nullopt;
  if (!bound || *bound < 1) return wrong("--bound", text, "SYMBOL=N or INPUT.DIM=N, N at least 1");
  if (!bounds.emplace(sides->first, *bound).second) {
    return Error{Code::invalid_argument,
                 "--bound gives '" + std::string(sides->first) + "' twice; give it once"};
  }
  return Ok{};
}

Result<InputText> parse_input(std::string_view text) {
  const auto sides = split(text, '=');
  if (!sides || sides->first.find('/') != std::string_view::npos)
    return InputText{"", std::string(text)};
  if (sides->second.empty()) return wrong("--input", text, "FILE or KEY=FILE");
  return InputText{std::string(sides->first), std::string(sides->second)};
}

}  // namespace backplane::cli
