// Where the command prints: results to stdout, what went wrong and progress to stderr.
#pragma once

#include <backplane/result.hpp>

#include <string>
#include <string_view>

#include "json_writer.hpp"

namespace backplane::cli {

// Exit codes that scripts rely on; `verify` has kDifferent and kNotCompared for 1 and 2.
constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kDifferent = 1;
constexpr int kNotCompared = 2;
constexpr int kWrongUsage = 64;

class Console {
 public:
  bool quiet = false;  // print() is silent
  bool json = false;   // print() is silent too: a document comes instead

  // One line, or several, for people.
  void print(std::string_view text) const;
  // For people who asked for just this: help, a listing. Never silent.
  void always(std::string_view text) const;
  // The document, as the last line of stdout.
  void document(const JsonWriter& json) const;
  // "backplane: MESSAGE" as one line on stderr, whatever characters the message has.
  void error(std::string_view message) const;

  // Prints the error and gives the exit code.
  [[nodiscard]] int fail(const Error& error, int code = kFailed) const;
  [[nodiscard]] int wrong_usage(std::string_view verb, const Error& error) const;
};

// A line on stderr that shows how far a work is. Appears after a second, on a terminal alone, and
// is wiped away at the end.
class Progress {
 public:
  explicit Progress(const Console& console);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(double fraction, std::string_view what);

 private:
  bool enabled_;
  bool shown_ = false;
  double start_s_;
  double last_s_ = 0;
};

}  // namespace backplane::cli
