// What this host offers to plugins: the functions of bp_host_t, and whom they reach.
//
// One table for the process: it holds functions and no state but where messages go. What belongs to
// a call comes with it, as a sink, a source or a ctx behind which a handler is; the reason of a
// failure is kept for the thread.
#pragma once

#include <backplane/ext/threads.h>
#include <backplane/plugin.h>
#include <backplane/result.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace backplane {

inline bp_str_t to_abi(std::string_view text) {
  return {text.data(), text.size()};
}
inline std::string_view to_view(bp_str_t text) {
  return {text.ptr, static_cast<size_t>(text.len)};
}

// Answers the host functions that need a lowering call's context.
class SinkHandler {
 public:
  virtual ~SinkHandler() = default;
  virtual Status claim(const bp_claim_t& claim) = 0;
  virtual Status refuse(int32_t graph, int32_t node, std::string_view reason) = 0;
  virtual Status emit(const bp_emit_t& emitted) = 0;
};

// Answers data_get. The bytes stay valid until the program is unloaded.
class DataHandler {
 public:
  virtual ~DataHandler() = default;
  virtual Result<bp_blob_t> get(std::string_view key) = 0;
};

// Answers resize_output during one run.
class RunHandler {
 public:
  virtual ~RunHandler() = default;
  virtual Status resize_output(uint32_t index, std::span<const int64_t> shape) = 0;
};

// Pointers of the C interface to the handlers above, for the params' sink, data and ctx.
inline bp_sink_t* to_abi(SinkHandler& handler) {
  return reinterpret_cast<bp_sink_t*>(&handler);
}
inline bp_source_t* to_abi(DataHandler& handler) {
  return reinterpret_cast<bp_source_t*>(&handler);
}
inline bp_ctx_t* to_abi(RunHandler& handler) {
  return reinterpret_cast<bp_ctx_t*>(&handler);
}

// The table that plugins are given. Valid for the life of the process.
[[nodiscard]] const bp_host_t& host_table();

// What a plugin may reach beside handlers; each set once at the start, before plugins are created,
// or left out: then what would go there is dropped. Called from any thread. Errors are not logged:
// they are returned. The level is BP_LOG_*.
using LogFunction = void (*)(int32_t level, std::string_view message);
void set_log(LogFunction function, int32_t max_level);
// Progress of lowering and loading, 0 to 1.
using ProgressFunction = void (*)(double fraction, std::string_view what);
void set_progress(ProgressFunction function);
// Pieces of time, of runs that ask for them.
using SpanFunction = void (*)(const bp_span_t& span);
void set_spans(SpanFunction function);
// bp.threads/1; must stay valid as long as there are backends.
void set_threads(const bp_threads_t* threads);

// The reason of this thread's last call into a plugin, as far as there is one; and the debug id of
// the node that is to blame, or 0. The plugin's own text counts before what a handler answered it.
[[nodiscard]] std::string call_reason();
[[nodiscard]] uint64_t call_node();
void clear_reason();
// For what the host itself says of a call.
void set_reason(std::string_view text);

}  // namespace backplane
