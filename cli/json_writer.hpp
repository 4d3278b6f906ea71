// Writes one JSON document into a string: commas, escapes and numbers, no tree.
//
// Text that is not UTF-8 (a file's name may be anything) gets U+FFFD for each wrong byte; numbers
// that JSON does not have (infinities, NaN) become null.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::cli {

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(double number);
  template <std::integral T>
  void value(T number) {
    if constexpr (std::same_as<T, bool>) {
      word(number ? "true" : "false");
    } else {
      word(std::to_string(number));
    }
  }
  void null() { word("null"); }

  // key, then value.
  template <class T>
  void member(std::string_view name, const T& v) {
    key(name);
    value(v);
  }

  // key, then an array of texts.
  void member(std::string_view name, const std::vector<std::string>& texts) {
    key(name);
    begin_array();
    for (const std::string& text : texts) value(text);
    end_array();
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void separate();
  void open(char bracket);
  void close(char bracket);
  void word(std::string_view text);
  void quote(std::string_view text);

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace backplane::cli
