#include "plugin/option_values.hpp"

#include <backplane/array.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>

#include "common/nearest.hpp"

namespace backplane {
namespace {

// "6", "0.5": numbers as people write them.
std::string number(double value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  return {buffer.data(), end};
}

template <class T>
std::optional<T> parse(std::string_view text) {
  T value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

Status check_range(const bp_option_t& option, double value, std::string_view what) {
  if (option.min == 0 && option.max == 0) return Ok{};
  if (value >= option.min && value <= option.max) return Ok{};
  return Error{Code::invalid_argument,
               std::string(what) + " from " + number(option.min) + " to " + number(option.max)};
}

// Well-formed UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || i + length > text.size()) return false;
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      const unsigned low = k > 1 ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
      const unsigned high = k > 1 ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
      if (next < low || next > high) return false;
    }
    i += length;
  }
  return true;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

bool is_windows_device(std::string_view name) {
  const std::string_view stem = name.substr(0, name.find('.'));
  for (const std::string_view device : {"con", "prn", "aux", "nul"}) {
    if (equal_ignoring_case(stem, device)) return true;
  }
  return stem.size() == 4 && stem[3] >= '0' && stem[3] <= '9' &&
         (equal_ignoring_case(stem.substr(0, 3), "com") ||
          equal_ignoring_case(stem.substr(0, 3), "lpt"));
}

bool is_alphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

Status check_data_name(std::string_view name) {
  const auto wrong = [&](std::string_view rule) {
    return Error{Code::invalid_argument,
                 "data_name can't be " + quote(name) + ": " + std::string(rule)};
  };
  if (name.empty() || name.size() > 200) return wrong("it has 1 to 200 characters");
  for (const char c : name) {
    if (!is_alphanumeric(c) && c != '_' && c != '-' && c != '.') {
      return wrong("it consists of ASCII letters, digits, '_', '-' and '.', not " + quote({&c, 1}));
    }
  }
  if (name.front() == '.' || name.front() == '-') return wrong("it does not start with '.' or '-'");
  if (name.size() >= 4 && equal_ignoring_case(name.substr(name.size() - 4), ".ptd")) {
    return wrong("it is the file's name without '.ptd'");
  }
  if (is_windows_device(name)) return wrong("Windows keeps that name for a device");
  return Ok{};
}

Status check_value(const bp_option_t& option, std::string_view value) {
  const auto wrong = [](std::string_view allowed) {
    return Error{Code::invalid_argument, std::string(allowed)};
  };
  switch (option.type) {
    case BP_OPT_BOOL:
      if (value != "true" && value != "false") return wrong("it is true or false");
      return Ok{};
    case BP_OPT_INT: {
      const auto integer = parse<int64_t>(value);
      if (!integer) return wrong("it is a whole number");
      return check_range(option, static_cast<double>(*integer), "it is a whole number");
    }
    case BP_OPT_FLOAT: {
      const auto real = parse<double>(value);
      if (!real || !std::isfinite(*real)) return wrong("it is a number");
      return check_range(option, *real, "it is a number");
    }
    case BP_OPT_ENUM: {
      const auto choices = choices_of(option);
      if (std::find(choices.begin(), choices.end(), value) != choices.end()) return Ok{};
      return wrong("it is one of " + join_words(choices) + did_you_mean(value, choices));
    }
    case BP_OPT_STRING:
      if (!is_utf8(value)) return wrong("it is text in UTF-8");
      return check_range(option, static_cast<double>(value.size()), "it has a length in bytes");
    case BP_OPT_BYTES:
      return check_range(option, static_cast<double>(value.size()), "it has a length in bytes");
    default:
      return wrong("this host does not know options of its type; update backplane");
  }
}

std::string quote(std::string_view value) {
  constexpr size_t kLongest = 60;
  std::string out = "'";
  for (const char c : value.substr(0, kLongest)) {
    if (c >= ' ' && c != 0x7f && c <= '~') {
      out += c;
      continue;
    }
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return out + (value.size() > kLongest ? "…'" : "'");
}

std::string join_words(const std::vector<std::string_view>& words) {
  std::string out;
  for (const std::string_view word : words) {
    if (!out.empty()) out += ", ";
    out += word;
  }
  return out;
}

std::vector<std::string_view> choices_of(const bp_option_t& option) {
  std::string_view text = sdk::view(option.choices);
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find('|'), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace backplane
