#include "console.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace backplane::cli {
namespace {

constexpr double kQuietSeconds = 1;
constexpr double kBetweenSeconds = 0.1;

void put(FILE* file, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), file);
}

double now_s() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  return line;
}

}  // namespace

void Console::print(std::string_view text) const {
  if (!quiet && !json) always(text);
}

void Console::always(std::string_view text) const {
  put(stdout, text);
  if (!text.ends_with('\n')) put(stdout, "\n");
}

void Console::document(const JsonWriter& writer) const {
  always(writer.text());
}

void Console::error(std::string_view message) const {
  std::fflush(stdout);
  put(stderr, "backplane: " + one_line(message) + "\n");
}

int Console::fail(const Error& failure, int code) const {
  error(failure.message);
  return code;
}

int Console::wrong_usage(std::string_view verb, const Error& failure) const {
  const std::string help =
      verb.empty() ? "backplane --help" : "backplane " + std::string(verb) + " --help";
  error(failure.message + " (" + help + " shows what there is)");
  return kWrongUsage;
}

Progress::Progress(const Console& console)
    : enabled_(!console.quiet && isatty(STDERR_FILENO) == 1), start_s_(now_s()) {}

Progress::~Progress() {
  if (shown_) put(stderr, "\r\x1B[K");
}

void Progress::show(double fraction, std::string_view what) {
  const double now = now_s();
  if (!enabled_ || now - start_s_ < kQuietSeconds || now - last_s_ < kBetweenSeconds) return;
  last_s_ = now;
  shown_ = true;
  char percent[8];
  std::snprintf(percent, sizeof(percent), "%3.0f%%", 100 * std::clamp(fraction, 0.0, 1.0));
  put(stderr, std::string("\r\x1B[K") + percent + " " + one_line(what).substr(0, 70));
  std::fflush(stderr);
}

}  // namespace backplane::cli
