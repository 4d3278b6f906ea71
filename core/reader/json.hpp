// JSON documents, read once from front to back.
//
// A thin layer over simdjson's On-Demand (which only json.cpp includes) that works on tokens as
// they are written: PyTorch's files hold bare NaN and Infinity, which no parser of numbers takes.
#pragma once

#include <backplane/result.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "graph/constant.hpp"
#include "reader/archive.hpp"

namespace backplane::json {

// Of a document that is being read: valid while the function that it was given to runs. Each may be
// looked into once, in the document's order.
class Value {
 public:
  explicit Value(void* of_parser) : of_parser_(of_parser) {}
  [[nodiscard]] void* of_parser() const { return of_parser_; }

 private:
  void* of_parser_;
};

// A function that is called while it is there: what std::function is, without owning.
template <class... Arguments>
class Visitor {
 public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Visitor>)
  Visitor(F&& f)  // NOLINT: a lambda is a visitor
      : function_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* function, Arguments... arguments) -> Status {
          return (*static_cast<std::remove_reference_t<F>*>(function))(arguments...);
        }) {}
  Status operator()(Arguments... arguments) const { return call_(function_, arguments...); }

 private:
  void* function_;
  Status (*call_)(void*, Arguments...);
};

// Keys are not unescaped: those with escapes are no known keys.
using FieldVisitor = Visitor<std::string_view, Value&>;
using ElementVisitor = Visitor<Value&>;

[[nodiscard]] Error malformed(std::string_view what);

// A document and its index (about as large as the text), freed with it.
class Document {
 public:
  Document();
  ~Document();
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  // `text` must outlive the document and all values; `padding`: how many bytes may be read behind
  // it (else the text is copied).
  // invalid_argument: empty, not UTF-8, over 2 GiB, or with an open string.
  Status open(std::string_view text, size_t padding);

  // An entry of an archive that outlives the document; as Archive::read_checked.
  Status open(Archive& archive, const ArchiveEntry& entry, Buffers& buffers);

  // As for_each_field, of the root. May be repeated.
  Status for_each_field(FieldVisitor f);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Calls `f(key, value)` for each field of an object, until it fails.
Status for_each_field(Value& object, FieldVisitor f);
// Calls `f(value)` for each element of an array, until it fails.
Status for_each_element(Value& array, ElementVisitor f);
// Calls `f(key, value)` for an object that has exactly one field: how a choice is written.
Status for_only_field(Value& object, FieldVisitor f);

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

}  // namespace backplane::json
