// Verbs as tables: their options, their help, and the parsing that is the same for all of them.
#pragma once

#include <backplane/result.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "console.hpp"

namespace backplane::cli {

enum class Takes : uint8_t { nothing, one, many };

struct Option {
  const char* name;  // "output,o": long, and one letter if there is one
  Takes takes;
  const char* value;  // what help calls the value; unused with Takes::nothing
  const char* help;
};

class Arguments;

struct Verb {
  const char* name;
  const char* summary;      // one line, for the list of verbs
  const char* synopsis;     // "PROGRAM.pte [OPTIONS]"
  const char* description;  // a paragraph with its line ends
  const char* example;      // whole command lines, one each line
  std::span<const Option> options;
  size_t min_positional;
  size_t max_positional;
  int (*run)(const Arguments& arguments, Console& console);
};

// Options that every verb has: --help, --json, --quiet.
[[nodiscard]] std::span<const Option> common_options();

// The page that `backplane VERB --help` prints.
[[nodiscard]] std::string help_of(const Verb& verb);

// The words after the verb, checked against its table.
class Arguments {
 public:
  // invalid_argument: an unknown option (with the nearest one), a value missing or too many, an
  // option twice that may come once, too few or too many words. With --help nothing is missing.
  [[nodiscard]] static Result<Arguments> parse(const Verb& verb,
                                               std::span<const std::string> words);

  [[nodiscard]] bool has(std::string_view name) const;
  // Of an option that takes one; empty if it was not given (and empty values are not accepted).
  [[nodiscard]] std::string value(std::string_view name) const;
  // Of an option that takes many, in the order given.
  [[nodiscard]] std::span<const std::string> values(std::string_view name) const;
  // A whole number of `least` or more, if given. invalid_argument: it is something else.
  [[nodiscard]] Result<std::optional<int64_t>> number(std::string_view name, int64_t least) const;

  [[nodiscard]] std::span<const std::string> positional() const { return positional_; }

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> positional_;
};

}  // namespace backplane::cli
