// JSON documents, read once from front to back.
//
// A thin layer over simdjson's On-Demand that works on tokens as they are written: PyTorch's files
// hold bare NaN and Infinity, which no parser of numbers takes. For the reader's sources only: it
// includes all of simdjson.
#pragma once

#include <simdjson.h>
#include <backplane/result.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "graph/constant.hpp"
#include "reader/archive.hpp"

namespace backplane::json {

// Of a document that is being read; each may be looked into once, in the document's order.
using Value = simdjson::ondemand::value;

[[nodiscard]] Error malformed(std::string_view what);
[[nodiscard]] Error malformed(simdjson::error_code code);

// A document and its index (about as large as the text), freed with it.
class Document {
 public:
  // `text` must outlive the document and all values; `padding`: how many bytes may be read behind
  // it (else the text is copied).
  // invalid_argument: empty, not UTF-8, over 2 GiB, or with an open string.
  Status open(std::string_view text, size_t padding);

  // An entry of an archive that outlives the document; as Archive::read_checked.
  Status open(Archive& archive, const ArchiveEntry& entry, Buffers& buffers);

  // Calls `f(key, value)` for every field of the root, as for_each_field. May be repeated.
  template <class F>
  Status for_each_field(F&& f);

 private:
  std::string copy_;  // where there was too little padding
  simdjson::ondemand::parser parser_;
  simdjson::ondemand::document document_;
};

// The token of a scalar as it is written; of a container its first character.
[[nodiscard]] std::string_view token(Value& value);

[[nodiscard]] bool is_null(Value& value);
[[nodiscard]] Result<bool> read_bool(Value& value);
[[nodiscard]] Result<int64_t> read_int(Value& value);
// Numbers; NaN, Infinity and -Infinity bare or as texts.
[[nodiscard]] Result<double> read_float(Value& value);
// Of the document if it has no escapes, else of `pool`.
[[nodiscard]] Result<std::string_view> read_text(Value& value, StringPool& pool);
// The characters between the quotes, escapes and all.
[[nodiscard]] Result<std::string_view> read_escaped(Value& value);
// Undoes the escapes.
[[nodiscard]] Result<std::string> unescape(std::string_view escaped);

// A key as it is written; its end is found again.
[[nodiscard]] std::string_view key_of(simdjson::ondemand::raw_json_string key);

template <class F>
Status for_each(simdjson::ondemand::object object, F&& f) {
  for (auto field : object) {
    if (field.error() != simdjson::SUCCESS) return malformed(field.error());
    Value value = field.value_unsafe().value();
    BP_TRY(f(key_of(field.value_unsafe().key()), value));
  }
  return Ok{};
}

// Calls `f(std::string_view key, Value& value) -> Status` for each field of an object.
// Keys are not unescaped: those with escapes are no known keys.
template <class F>
Status for_each_field(Value& value, F&& f) {
  simdjson::ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) {
    return malformed("an object should be here, not " + std::string(token(value).substr(0, 40)));
  }
  return for_each(object, std::forward<F>(f));
}

// Calls `f(Value& value) -> Status` for each element of an array.
template <class F>
Status for_each_element(Value& value, F&& f) {
  simdjson::ondemand::array array;
  if (value.get_array().get(array) != simdjson::SUCCESS) {
    return malformed("an array should be here, not " + std::string(token(value).substr(0, 40)));
  }
  for (auto element : array) {
    if (element.error() != simdjson::SUCCESS) return malformed(element.error());
    BP_TRY(f(element.value_unsafe()));
  }
  return Ok{};
}

// Reads an object that has exactly one field: how a choice is written.
template <class F>
Status for_only_field(Value& object, F&& f) {
  int num_fields = 0;
  BP_TRY(for_each_field(object, [&](std::string_view tag, Value& value) -> Status {
    if (++num_fields > 1) return malformed("one of several kinds should be here, not two");
    return f(tag, value);
  }));
  if (num_fields == 0) return malformed("one of several kinds should be here, not none");
  return Ok{};
}

template <class F>
Status Document::for_each_field(F&& f) {
  document_.rewind();
  simdjson::ondemand::object object;
  if (document_.get_object().get(object) != simdjson::SUCCESS) {
    return malformed("its root is no object");
  }
  return for_each(object, std::forward<F>(f));
}

}  // namespace backplane::json
