#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "ops/schema.hpp"

namespace backplane::ops {
namespace {

constexpr int kMaxNesting = 8;

struct NamedKind {
  std::string_view name;
  Kind kind;
};
constexpr std::array kKinds = {
    NamedKind{"Tensor", Kind::tensor},
    NamedKind{"Scalar", Kind::scalar},
    NamedKind{"int", Kind::integer},
    NamedKind{"SymInt", Kind::integer},
    NamedKind{"DeviceIndex", Kind::integer},
    NamedKind{"float", Kind::floating},
    NamedKind{"SymFloat", Kind::floating},
    NamedKind{"bool", Kind::boolean},
    NamedKind{"SymBool", Kind::boolean},
    NamedKind{"str", Kind::string},
    NamedKind{"ScalarType", Kind::dtype},
    NamedKind{"Layout", Kind::layout},
    NamedKind{"MemoryFormat", Kind::memory_format},
    NamedKind{"Device", Kind::device},
    NamedKind{"Generator", Kind::generator},
    NamedKind{"Dimname", Kind::dimname},
    NamedKind{"number", Kind::scalar},
};

// Words that stand for numbers, by the kind of the parameter.
struct NamedNumber {
  Kind kind;
  std::string_view name;
  int64_t number;
};
constexpr std::array kNumbers = {
    NamedNumber{Kind::integer, "Mean", 1},
    NamedNumber{Kind::integer, "Sum", 2},
    NamedNumber{Kind::memory_format, "contiguous_format", 0},
    NamedNumber{Kind::memory_format, "preserve_format", 1},
    NamedNumber{Kind::memory_format, "channels_last", 2},
    NamedNumber{Kind::memory_format, "channels_last_3d", 3},
    NamedNumber{Kind::layout, "strided", 0},
    NamedNumber{Kind::dtype, "byte", 0},
    NamedNumber{Kind::dtype, "int", 3},
    NamedNumber{Kind::dtype, "long", 4},
    NamedNumber{Kind::dtype, "half", 5},
    NamedNumber{Kind::dtype, "float", 6},
    NamedNumber{Kind::dtype, "double", 7},
    NamedNumber{Kind::dtype, "bool", 11},
};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}

std::optional<double> to_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> to_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// A word as a value of a kind, if it can be one.
std::optional<Argument> literal(Kind kind, std::string_view word) {
  const auto named = std::find_if(kNumbers.begin(), kNumbers.end(), [&](const NamedNumber& n) {
    return n.kind == kind && n.name == word;
  });
  const std::optional<int64_t> integer =
      named != kNumbers.end() ? std::optional(named->number) : to_integer(word);
  const bool is_boolean = word == "True" || word == "False";
  switch (kind) {
    case Kind::integer:
      if (integer) return *integer;
      break;
    case Kind::scalar:
      if (integer) return *integer;
      if (is_boolean) return word == "True";
      [[fallthrough]];
    case Kind::floating:
      if (const auto value = to_double(word)) return *value;
      break;
    case Kind::boolean:
      if (is_boolean) return word == "True";
      break;
    case Kind::dtype:
      if (const auto dtype = integer ? dtype_from_number(*integer) : std::nullopt) return *dtype;
      break;
    case Kind::layout:
      if (integer) return *integer == 0 ? Layout::strided : Layout::other;
      break;
    case Kind::memory_format:
      if (integer && *integer >= 0 && *integer <= 3) return static_cast<MemoryFormat>(*integer);
      break;
    default:
      break;
  }
  return std::nullopt;
}

// Elements of one kind as the list that an Argument holds. Nothing for kinds without lists.
std::optional<Argument> list_of(Kind kind, const std::vector<Argument>& elements) {
  const auto collect = [&]<class T>(std::vector<T> list) -> Argument {
    for (const Argument& e : elements) list.push_back(std::get<T>(e));
    return list;
  };
  switch (kind) {
    case Kind::integer: {
      IntList list;
      for (const Argument& e : elements) list.push_back({std::get<int64_t>(e), kNone});
      return list;
    }
    case Kind::floating:
      return collect(std::vector<double>());
    case Kind::boolean:
      return collect(std::vector<bool>());
    case Kind::string:
      return collect(std::vector<std::string>());
    case Kind::tensor:
    case Kind::scalar:
      if (elements.empty()) return ValueList{};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}
  Result<Schema> parse();

 private:
  // A type with its annotations, as parameters and returns share it.
  Status parse_type(Parameter& into);
  Status parse_alias(Parameter& into);
  Status parse_suffixes(Parameter& into);
  Result<Parameter> parse_parameter();
  Result<Argument> parse_default(const Parameter& parameter);
  Result<Argument> parse_value(const Parameter& parameter);
  Result<std::string> parse_quoted(char quote);
  Status parse_returns(std::vector<Return>& into);
  Status skip_nested();

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(std::string_view token) {
    skip_spaces();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  Status expect(std::string_view token) {
    if (accept(token)) return Ok{};
    return fail("expected '" + std::string(token) + "'");
  }
  [[nodiscard]] char peek() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  std::string_view word() {
    skip_spaces();
    const size_t start = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
  }
  [[nodiscard]] Error fail(std::string_view what) const {
    constexpr size_t kShown = 160;
    return {Code::invalid_argument, "schema '" + std::string(text_.substr(0, kShown)) + "': " +
                                        std::string(what) + " at character " + std::to_string(at_)};
  }

  std::string_view text_;
  size_t at_ = 0;
};

// After its '(': up to the ')' that closes it.
Status Parser::skip_nested() {
  for (int depth = 1; depth > 0; ++at_) {
    if (at_ >= text_.size() || depth > kMaxNesting) return fail("unbalanced '('");
    if (text_[at_] == '(') ++depth;
    if (text_[at_] == ')') --depth;
  }
  return Ok{};
}

// After its '(': a), a!), a -> *), a|b), *).
Status Parser::parse_alias(Parameter& into) {
  for (char c = peek(); c != ')'; c = peek()) {
    if (c == '!') {
      into.written = true;
    } else if (c == '*') {
      into.alias = '*';
    } else if (c >= 'a' && c <= 'z') {
      if (into.alias == 0) into.alias = c;
    } else if (c != '|' && c != '-' && c != '>') {
      return fail("expected an alias set");
    }
    ++at_;
  }
  ++at_;
  return Ok{};
}

Status Parser::parse_suffixes(Parameter& into) {
  while (true) {
    if (accept("?")) {
      into.optional = true;
    } else if (accept("[")) {
      if (into.list) into.kind = Kind::other;  // a list of lists
      into.list = true;
      into.optional_elements = into.optional;
      into.optional = false;
      const std::string_view size = word();
      const std::optional<int64_t> number = to_integer(size);
      if (!size.empty() && (!number || *number < 1 || *number > 64)) return fail("list size");
      into.list_size = static_cast<int32_t>(number.value_or(0));
      BP_TRY(expect("]"));
    } else if (into.kind != Kind::other && accept("(")) {
      BP_TRY(parse_alias(into));
    } else {
      return Ok{};
    }
  }
}

Status Parser::parse_type(Parameter& into) {
  if (accept("(")) {  // a tuple
    BP_TRY(skip_nested());
    return parse_suffixes(into);
  }
  const std::string_view name = word();
  if (name.empty()) return fail("expected a type");
  const auto known = std::find_if(kKinds.begin(), kKinds.end(),
                                  [&](const NamedKind& k) { return k.name == name; });
  if (known != kKinds.end()) {
    into.kind = known->kind;
  } else if (accept("(")) {  // Dict(str, Tensor), t(a!)
    BP_TRY(skip_nested());
  }
  return parse_suffixes(into);
}

// A backslash takes the next character as it is.
Result<std::string> Parser::parse_quoted(char quote) {
  std::string result;
  for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
    if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
    result.push_back(text_[at_]);
  }
  if (at_ >= text_.size()) return fail("unterminated string");
  ++at_;
  return result;
}

Result<Argument> Parser::parse_value(const Parameter& parameter) {
  const char first = peek();
  if (first == '"' || first == '\'') {
    BP_ASSIGN_OR_RETURN(std::string text, parse_quoted(first));
    if (parameter.kind == Kind::device) return Argument(DeviceArg{std::move(text), -1});
    if (parameter.kind == Kind::string) return Argument(std::move(text));
    return fail("a string does not fit the parameter");
  }
  const size_t start = at_;
  if (first == '-') ++at_;
  (void)word();
  if (at_ < text_.size() && at_ > start && text_[at_ - 1] == 'e' &&
      (text_[at_] == '-' || text_[at_] == '+')) {
    ++at_;  // 1e-05
    (void)word();
  }
  const std::optional<Argument> value = literal(parameter.kind, text_.substr(start, at_ - start));
  if (!value) return fail("a value that does not fit the parameter");
  return *value;
}

Result<Argument> Parser::parse_default(const Parameter& parameter) {
  if (accept("None")) return Argument(None{});
  if (!parameter.list) return parse_value(parameter);
  std::vector<Argument> elements;
  if (!accept("[")) {  // one value stands for all
    BP_ASSIGN_OR_RETURN(const Argument value, parse_value(parameter));
    elements.assign(static_cast<size_t>(std::max(parameter.list_size, 1)), value);
  } else if (!accept("]")) {
    do {
      BP_ASSIGN_OR_RETURN(Argument value, parse_value(parameter));
      elements.push_back(std::move(value));
    } while (accept(","));
    BP_TRY(expect("]"));
  }
  std::optional<Argument> list = list_of(parameter.kind, elements);
  if (!list) return fail("a list that does not fit the parameter");
  return *std::move(list);
}

Result<Parameter> Parser::parse_parameter() {
  Parameter result;
  BP_TRY(parse_type(result));
  result.name = word();
  if (result.name.empty()) return fail("expected a parameter's name");
  if (accept("=")) {
    BP_ASSIGN_OR_RETURN(result.default_value, parse_default(result));
  }
  return result;
}

Status Parser::parse_returns(std::vector<Return>& into) {
  const bool several = accept("(");
  if (several && accept(")")) return Ok{};
  do {
    Parameter type;
    BP_TRY(parse_type(type));
    (void)word();  // a name
    into.push_back({type.kind, type.list, type.alias, type.written});
  } while (several && accept(","));
  if (several) BP_TRY(expect(")"));
  return Ok{};
}

Result<Schema> Parser::parse() {
  Schema result;
  std::string_view name = word();
  const size_t start = static_cast<size_t>(name.data() - text_.data());
  if (name.empty()) return fail("expected an operator's name");
  BP_TRY(expect("::"));
  if (word().empty()) return fail("expected an operator's name");
  name = text_.substr(start, at_ - start);
  result.name = name;
  BP_TRY(expect("("));
  bool keyword_only = false;
  if (!accept(")")) {
    do {
      if (accept("*")) {
        if (keyword_only) return fail("a second '*'");
        keyword_only = true;
        continue;
      }
      BP_ASSIGN_OR_RETURN(Parameter parameter, parse_parameter());
      if (result.index_of(parameter.name) >= 0) return fail("a second '" + parameter.name + "'");
      parameter.keyword_only = keyword_only;
      parameter.is_out = keyword_only && parameter.written;
      result.parameters.push_back(std::move(parameter));
    } while (accept(","));
    BP_TRY(expect(")"));
  }
  BP_TRY(expect("->"));
  BP_TRY(parse_returns(result.returns));
  if (peek() != '\0') return fail("text after the schema");
  return result;
}

}  // namespace

Result<Schema> parse_schema(std::string_view text) {
  return Parser(text).parse();
}

}  // namespace backplane::ops
