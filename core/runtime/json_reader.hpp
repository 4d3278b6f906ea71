// Reading members of a parsed JSON object, with errors that name them. Includes all of simdjson:
// for the two sources that read our named data.
#pragma once

#include <simdjson.h>
#include <backplane/result.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/named_data.hpp"

namespace backplane::runtime {

// One object or array of a document; `where` is its path for messages: "methods[0].inputs".
class JsonReader {
 public:
  JsonReader(simdjson::dom::element element, std::string where)
      : element_(element), where_(std::move(where)) {}

  [[nodiscard]] Error error(std::string_view what) const {
    return {Code::invalid_argument, where_ + ": " + std::string(what)};
  }

  // The member, if it is there and not null.
  [[nodiscard]] Result<std::optional<JsonReader>> find(std::string_view name) const {
    simdjson::dom::object object;
    if (element_.get(object) != simdjson::SUCCESS) return error("is not a JSON object");
    simdjson::dom::element member;
    if (object.at_key(name).get(member) != simdjson::SUCCESS || member.is_null()) {
      return std::optional<JsonReader>();
    }
    return std::optional<JsonReader>(JsonReader(member, where_ + "." + std::string(name)));
  }

  [[nodiscard]] Result<std::string> text() const {
    std::string_view value;
    if (element_.get(value) != simdjson::SUCCESS) return error("is not a string");
    return std::string(value);
  }

  [[nodiscard]] Result<int64_t> integer(int64_t min) const {
    int64_t value = 0;
    if (element_.get(value) != simdjson::SUCCESS) return error("is not a 64-bit integer");
    if (value < min) {
      return error("is " + std::to_string(value) + ", less than " + std::to_string(min));
    }
    return value;
  }

  [[nodiscard]] bool is_null() const { return element_.is_null(); }
  [[nodiscard]] bool is_integer() const { return element_.is_int64(); }

  // Calls `f(JsonReader) -> Status` for each element of an array.
  template <class F>
  [[nodiscard]] Status for_each(F&& f) const {
    simdjson::dom::array array;
    if (element_.get(array) != simdjson::SUCCESS) return error("is not a JSON array");
    size_t index = 0;
    for (const simdjson::dom::element item : array) {
      BP_TRY(f(JsonReader(item, where_ + "[" + std::to_string(index++) + "]")));
    }
    return Ok{};
  }

  // Calls `f(key, JsonReader) -> Status` for each member of an object.
  template <class F>
  [[nodiscard]] Status for_each_member(F&& f) const {
    simdjson::dom::object object;
    if (element_.get(object) != simdjson::SUCCESS) return error("is not a JSON object");
    for (const simdjson::dom::key_value_pair member : object) {
      const std::string key(member.key);
      BP_TRY(f(key, JsonReader(member.value, where_ + "['" + key + "']")));
    }
    return Ok{};
  }

 private:
  simdjson::dom::element element_;
  std::string where_;
};

// Parses a whole document. `parser` must live as long as readers of it.
[[nodiscard]] inline Result<JsonReader> parse_json(simdjson::dom::parser& parser, Bytes json,
                                                   std::string_view name) {
  simdjson::dom::element root;
  const auto failed =
      parser.parse(reinterpret_cast<const char*>(json.data()), json.size()).get(root);
  if (failed != simdjson::SUCCESS) {
    return Error{Code::invalid_argument,
                 std::string(name) + ": not valid JSON (" + simdjson::error_message(failed) + ")"};
  }
  return JsonReader(root, std::string(name));
}

}  // namespace backplane::runtime
