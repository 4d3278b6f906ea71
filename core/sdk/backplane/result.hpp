// Result<T>: a value, or an Error that says what went wrong in one line.
//
// The project's only way to report failure inside C++; across a shared object a plain int32_t with
// the same numbers travels instead (plugin.h). A bug is an assert, bad input is a Result.
#pragma once

#include <cassert>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace backplane {

// What kind of failure. The numbers are those of plugin.h's BP_* codes.
enum class Code : int32_t {
  invalid_argument = 1,  // the caller's value, option, shape or file is wrong: name it
  unsupported = 2,       // well formed, but this build, plugin or operator does not do it
  incompatible = 3,      // made for another version, architecture or program
  not_found = 4,         // a file, plugin, method, key or operator is not there
  out_of_memory = 5,     // device memory or a planned bound; host memory is not handled
  output_too_small = 6,  // a buffer given for an output cannot hold its upper bound
  cancelled = 7,         // the caller asked for it
  device_lost = 8,       // the device or its driver gave up
  internal = 9,          // a bug here or in a plugin
  unavailable = 10,      // right program, but not on this machine now: say what is missing
};

struct Error {
  Code code;
  std::string message;  // one lower-case line: the thing, the value, what to do

  // The same error with `context` and ": " in front.
  [[nodiscard]] Error in(std::string_view context) && {
    return {code, std::string(context) + ": " + std::move(message)};
  }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}          // NOLINT
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}      // NOLINT

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & { assert(ok()); return *std::get_if<0>(&state_); }
  const T& value() const& { assert(ok()); return *std::get_if<0>(&state_); }
  T&& value() && { assert(ok()); return std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const& { assert(!ok()); return *std::get_if<1>(&state_); }
  Error&& error() && { assert(!ok()); return std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

struct Ok {};
using Status = Result<Ok>;

}  // namespace backplane

#define BP_CONCAT_(a, b) a##b
#define BP_CONCAT(a, b) BP_CONCAT_(a, b)

// Returns the error of `expression` (a Result or Status) from the enclosing function, if it has one.
// Both macros may stand in a lambda that is part of another one's expression: hence the counters.
#define BP_TRY(expression) BP_TRY_(expression, BP_CONCAT(bp_try_, __COUNTER__))
#define BP_TRY_(expression, result)                                    \
  do {                                                                 \
    if (auto result = (expression); !result.ok()) {                    \
      return std::move(result).error();                                \
    }                                                                  \
  } while (false)

// Declares `target` with the value of `expression`, or returns its error.
#define BP_ASSIGN_OR_RETURN(target, expression) \
  BP_ASSIGN_OR_RETURN_(target, expression, BP_CONCAT(bp_result_, __COUNTER__))
#define BP_ASSIGN_OR_RETURN_(target, expression, result)               \
  auto result = (expression);                                          \
  if (!result.ok()) {                                                  \
    return std::move(result).error();                                  \
  }                                                                    \
  target = std::move(result).value()
