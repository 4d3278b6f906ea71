// The host as a plugin sees it in C++, and the options that it passes.
//
// Everything here borrows, and is valid as long as the C struct that it wraps. An Error without a
// message means that the host has kept the reason already.
#pragma once

#include <backplane/plugin.h>
#include <backplane/array.hpp>
#include <backplane/result.hpp>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace backplane::sdk {

// What a host's function answered.
[[nodiscard]] inline Status answer(int32_t code) {
  if (code == BP_OK) return Ok{};
  const bool known = code >= BP_INVALID_ARGUMENT && code <= BP_UNAVAILABLE;
  return Error{known ? static_cast<Code>(code) : Code::internal, {}};
}

// For a function that this host does not have.
[[nodiscard]] inline Error host_lacks(std::string_view function) {
  return {Code::unsupported, "this host does not offer '" + std::string(function) + "'"};
}

// The host's table. Copies share it. [any thread]
class Host {
 public:
  explicit Host(const bp_host_t* table) : table_(table) {}
  [[nodiscard]] const bp_host_t* table() const { return table_; }

  // Tells the reason of a failure on the thread that was called; the first one of a call counts.
  int32_t fail(const Error& error, uint64_t debug_id = 0) const {
    const auto code = static_cast<int32_t>(error.code);
    if (error.message.empty() || !BP_HAS(table_, fail)) return code;
    return table_->fail(table_, code, debug_id, text(error.message));
  }
  // The same Error, with the node that is to blame told to the host.
  [[nodiscard]] Error at(const bp_node_t& node, Error error) const {
    fail(error, node.debug_id);
    return error;
  }
  [[nodiscard]] bool logs(int32_t level) const {
    return level <= table_->log_level && BP_HAS(table_, log);
  }
  void log(int32_t level, std::string_view message) const {
    if (logs(level)) table_->log(table_, level, text(message));
  }
  void progress(double fraction, std::string_view what) const {
    if (BP_HAS(table_, progress)) table_->progress(table_, fraction, text(what));
  }
  void span(const bp_span_t& span) const {
    if (BP_HAS(table_, span)) table_->span(table_, &span);
  }
  // A table of the host's, T being what `id` names; null if the host does not offer it.
  template <class T>
  [[nodiscard]] const T* extension(std::string_view id) const {
    if (!BP_HAS(table_, extension)) return nullptr;
    return static_cast<const T*>(table_->extension(table_, text(id)));
  }

 private:
  const bp_host_t* table_;
};

// Options or compile specs.
class Options {
 public:
  explicit Options(bp_array_t options) : options_(options) {}

  [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const {
    for (const bp_kv_t& option : options_) {
      if (view(option.key) == key) return view(option.value);
    }
    return std::nullopt;
  }
  // The value as bool, int64_t, double or std::string_view; `otherwise` if it is not given.
  // invalid_argument: it is not such a value.
  template <class T>
  [[nodiscard]] Result<T> get(std::string_view key, T otherwise) const {
    const auto given = find(key);
    if (!given) return otherwise;
    if constexpr (std::is_same_v<T, std::string_view>) {
      return *given;
    } else if constexpr (std::is_same_v<T, bool>) {
      if (*given == "true") return true;
      if (*given == "false") return false;
    } else {
      T number{};
      const char* end = given->data() + given->size();
      const auto [stop, error] = std::from_chars(given->data(), end, number);
      if (error == std::errc() && stop == end) return number;
    }
    return Error{Code::invalid_argument,
                 "option '" + std::string(key) + "' can't be '" + std::string(*given) + "'"};
  }
  [[nodiscard]] const Array<bp_kv_t>& all() const { return options_; }

 private:
  Array<bp_kv_t> options_;
};

}  // namespace backplane::sdk
