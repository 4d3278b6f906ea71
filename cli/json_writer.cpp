#include "json_writer.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace backplane::cli {
namespace {

// Bytes of the UTF-8 character at the start of `text`; 0 if there is none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and beyond U+10FFFF: told by the second byte.
  const bool bad = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
                   (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
  return bad ? 0 : length;
}

}  // namespace

void JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ": ";
  needs_comma_ = false;
}

void JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  needs_comma_ = true;
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) return null();
  std::array<char, 32> buffer;
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  word({buffer.data(), static_cast<size_t>(result.ptr - buffer.data())});
}

void JsonWriter::separate() {
  if (needs_comma_) text_ += ", ";
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  needs_comma_ = false;
}

void JsonWriter::close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
}

void JsonWriter::word(std::string_view text) {
  separate();
  text_ += text;
  needs_comma_ = true;
}

void JsonWriter::quote(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  text_ += '"';
  while (!text.empty()) {
    const char c = text[0];
    const size_t length = utf8_length(text);
    if (c == '"' || c == '\\') {
      text_ += {'\\', c};
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      text_ += {'\\', 'u', '0', '0', kHex[static_cast<size_t>(c) >> 4], kHex[c & 15]};
    } else if (length == 0) {
      text_ += "\xEF\xBF\xBD";
    } else {
      text_ += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  text_ += '"';
}

}  // namespace backplane::cli
