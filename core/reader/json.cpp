// Tokens of JSON, and what they say.
#include "reader/json.hpp"

#include <simdjson.h>

#include <charconv>
#include <limits>
#include <optional>

namespace backplane::json {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr size_t kMaxBytes = size_t{2} << 30;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

std::string shown(std::string_view token) {
  return std::string(token.substr(0, 40));
}

// Four hexadecimal digits.
std::optional<uint32_t> code_unit(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  uint32_t unit = 0;
  const auto end = std::from_chars(text.data(), text.data() + 4, unit, 16);
  if (end.ec != std::errc() || end.ptr != text.data() + 4) return std::nullopt;
  return unit;
}

void append_utf8(std::string& out, uint32_t c) {
  const auto put = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xc0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xe0 | c >> 12);
    } else {
      put(0xf0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3f));
    }
    put(0x80 | (c >> 6 & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}

// Reads the digits of \uXXXX, and a second one where two make one character; takes them off.
bool append_unicode(std::string& out, std::string_view& rest) {
  const std::optional<uint32_t> unit = code_unit(rest);
  if (!unit) return false;
  rest.remove_prefix(4);
  if (*unit < 0xd800 || *unit >= 0xe000) {
    append_utf8(out, *unit);
    return true;
  }
  if (*unit >= 0xdc00 || !rest.starts_with("\\u")) return false;
  const std::optional<uint32_t> low = code_unit(rest.substr(2));
  if (!low || *low < 0xdc00 || *low >= 0xe000) return false;
  rest.remove_prefix(6);
  append_utf8(out, 0x10000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00));
  return true;
}

ondemand::value& parsed(Value& value) {
  return *static_cast<ondemand::value*>(value.of_parser());
}

Error malformed(simdjson::error_code code) {
  return json::malformed(simdjson::error_message(code));
}

// A key as it is written; its end is found again.
std::string_view key_of(ondemand::raw_json_string key) {
  const char* begin = key.raw();
  const char* end = begin;
  while (*end != '"') end += *end == '\\' ? 2 : 1;
  return {begin, static_cast<size_t>(end - begin)};
}

Status for_each(ondemand::object object, FieldVisitor f) {
  for (auto field : object) {
    if (field.error() != simdjson::SUCCESS) return malformed(field.error());
    ondemand::value value = field.value_unsafe().value();
    Value handle(&value);
    BP_TRY(f(key_of(field.value_unsafe().key()), handle));
  }
  return Ok{};
}

}  // namespace

Error malformed(std::string_view what) {
  return {Code::invalid_argument, "malformed JSON: " + std::string(what)};
}

struct Document::Impl {
  std::string copy;  // where there was too little padding
  ondemand::parser parser;
  ondemand::document document;
};

Document::Document() : impl_(std::make_unique<Impl>()) {}
Document::~Document() = default;

Status Document::open(std::string_view text, size_t padding) {
  if (text.size() > kMaxBytes) return malformed("it has over 2 GiB");
  if (padding < simdjson::SIMDJSON_PADDING) {
    impl_->copy.assign(text);
    impl_->copy.append(simdjson::SIMDJSON_PADDING, ' ');
    text = std::string_view(impl_->copy).substr(0, text.size());
    padding = simdjson::SIMDJSON_PADDING;
  }
  const auto code =
      impl_->parser.iterate(text.data(), text.size(), text.size() + padding).get(impl_->document);
  if (code != simdjson::SUCCESS) return malformed(code);
  return Ok{};
}

Status Document::open(Archive& archive, const ArchiveEntry& entry, Buffers& buffers) {
  BP_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, archive.read_checked(entry, buffers));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return open(text, archive.readable_after(bytes));
}

Status Document::for_each_field(FieldVisitor f) {
  impl_->document.rewind();
  ondemand::object object;
  if (impl_->document.get_object().get(object) != simdjson::SUCCESS) {
    return malformed("its root is no object");
  }
  return for_each(object, f);
}

Status for_each_field(Value& value, FieldVisitor f) {
  ondemand::object object;
  if (parsed(value).get_object().get(object) != simdjson::SUCCESS) {
    return malformed("an object should be here, not " + shown(token(value)));
  }
  return for_each(object, f);
}

Status for_each_element(Value& value, ElementVisitor f) {
  ondemand::array array;
  if (parsed(value).get_array().get(array) != simdjson::SUCCESS) {
    return malformed("an array should be here, not " + shown(token(value)));
  }
  for (auto element : array) {
    if (element.error() != simdjson::SUCCESS) return malformed(element.error());
    Value handle(&element.value_unsafe());
    BP_TRY(f(handle));
  }
  return Ok{};
}

Status for_only_field(Value& object, FieldVisitor f) {
  int num_fields = 0;
  BP_TRY(for_each_field(object, [&](std::string_view tag, Value& value) -> Status {
    if (++num_fields > 1) return malformed("one of several kinds should be here, not two");
    return f(tag, value);
  }));
  if (num_fields == 0) return malformed("one of several kinds should be here, not none");
  return Ok{};
}

std::string_view token(Value& value) {
  std::string_view text = parsed(value).raw_json_token();
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

bool is_null(Value& value) {
  return token(value) == "null";
}

Result<bool> read_bool(Value& value) {
  const std::string_view text = token(value);
  if (text != "true" && text != "false") {
    return malformed("true or false should be here, not " + shown(text));
  }
  return text == "true";
}

Result<int64_t> read_int(Value& value) {
  const std::string_view text = token(value);
  int64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) {
    return malformed("an integer of 64 bits should be here, not " + shown(text));
  }
  return number;
}

Result<double> read_float(Value& value) {
  std::string_view text = token(value);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  double number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) {
    return malformed("a number should be here, not " + shown(text));
  }
  return number;
}

Result<std::string_view> read_escaped(Value& value) {
  const std::string_view text = token(value);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') {
    return malformed("a text should be here, not " + shown(text));
  }
  return text.substr(1, text.size() - 2);
}

Result<std::string_view> read_text(Value& value, StringPool& pool) {
  BP_ASSIGN_OR_RETURN(const std::string_view escaped, read_escaped(value));
  if (escaped.find('\\') == std::string_view::npos) return escaped;
  BP_ASSIGN_OR_RETURN(const std::string text, unescape(escaped));
  return pool.intern(text);
}

Result<std::string> unescape(std::string_view escaped) {
  constexpr std::string_view kNames = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  std::string out;
  out.reserve(escaped.size());
  std::string_view rest = escaped;
  while (true) {
    const size_t at = rest.find('\\');
    out.append(rest.substr(0, at));
    if (at == std::string_view::npos) return out;
    rest.remove_prefix(at + 1);
    const char name = rest.empty() ? '\0' : rest.front();
    rest.remove_prefix(rest.empty() ? 0 : 1);
    const size_t meaning = kNames.find(name);
    if (meaning != std::string_view::npos) {
      out.push_back(kMeanings[meaning]);
    } else if (name != 'u' || !append_unicode(out, rest)) {
      return malformed("an escape in '" + shown(escaped) + "' is unknown");
    }
  }
}

}  // namespace backplane::json
