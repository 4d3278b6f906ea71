#include "plugin/host.hpp"

#include <algorithm>
#include <cstring>

namespace backplane {
namespace {

// Plain memory: a thread's first call into a plugin makes nothing, and its end destroys nothing.
struct Reason {
  uint64_t node;
  uint32_t size;
  bool plugins_own;  // else what a handler answered, which the plugin may have got over
  char text[2000];
};
thread_local Reason reason;

LogFunction log_function = nullptr;
ProgressFunction progress_function = nullptr;
SpanFunction span_function = nullptr;
const bp_threads_t* host_threads = nullptr;

void store(std::string_view text, bool plugins_own) {
  size_t size = std::min(text.size(), sizeof reason.text);
  if (size < text.size()) {  // not in the middle of a character
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  }
  std::memcpy(reason.text, text.data(), size);
  reason.size = static_cast<uint32_t>(size);
  reason.plugins_own = plugins_own;
}

int32_t keep(const Error& error) {
  if (!reason.plugins_own) store(error.message, false);
  return static_cast<int32_t>(error.code);
}
int32_t keep(const Status& status) {
  return status.ok() ? BP_OK : keep(status.error());
}

int32_t fail(const bp_host_t*, int32_t code, uint64_t node, bp_str_t text) {
  if (!reason.plugins_own && text.len != 0) store(to_view(text), true);
  if (reason.node == 0) reason.node = node;
  return code;
}
void log(const bp_host_t* host, int32_t level, bp_str_t message) {
  if (log_function != nullptr && level <= host->log_level) log_function(level, to_view(message));
}
void progress(const bp_host_t*, double fraction, bp_str_t what) {
  if (progress_function != nullptr) progress_function(fraction, to_view(what));
}
void span(const bp_host_t*, const bp_span_t* span) {
  if (span_function != nullptr) span_function(*span);
}

SinkHandler& handler(bp_sink_t* sink) {
  return *reinterpret_cast<SinkHandler*>(sink);
}
int32_t claim(bp_sink_t* sink, const bp_claim_t* claim) {
  return keep(handler(sink).claim(*claim));
}
int32_t refuse(bp_sink_t* sink, int32_t graph, int32_t node, bp_str_t why) {
  return keep(handler(sink).refuse(graph, node, to_view(why)));
}
int32_t emit(bp_sink_t* sink, const bp_emit_t* emitted) {
  return keep(handler(sink).emit(*emitted));
}

int32_t data_get(bp_source_t* source, bp_str_t key, bp_blob_t* out) {
  auto blob = reinterpret_cast<DataHandler*>(source)->get(to_view(key));
  if (!blob) return keep(blob.error());
  *out = *blob;
  return BP_OK;
}
// Data stay mapped as long as their program.
void data_release(bp_source_t*, const bp_blob_t*) {}

int32_t resize_output(bp_ctx_t* ctx, uint32_t index, uint32_t ndim, const int64_t* shape) {
  return keep(reinterpret_cast<RunHandler*>(ctx)->resize_output(index, {shape, ndim}));
}

const void* extension(const bp_host_t*, bp_str_t id) {
  return to_view(id) == BP_EXT_THREADS ? host_threads : nullptr;
}

constexpr std::string_view kVersion = BACKPLANE_VERSION;
constinit bp_host_t host = {
    .struct_size = sizeof(bp_host_t),
    .abi_minor = BP_ABI_MINOR,
    .log_level = BP_LOG_WARN,
    .reserved = 0,
    .version = {kVersion.data(), kVersion.size()},
    .fail = fail,
    .log = log,
    .progress = progress,
    .span = span,
    .claim = claim,
    .refuse = refuse,
    .emit = emit,
    .data_get = data_get,
    .data_release = data_release,
    .resize_output = resize_output,
    .extension = extension,
};

}  // namespace

const bp_host_t& host_table() {
  return host;
}

void set_log(LogFunction function, int32_t max_level) {
  log_function = function;
  host.log_level = max_level;
}
void set_progress(ProgressFunction function) {
  progress_function = function;
}
void set_spans(SpanFunction function) {
  span_function = function;
}
void set_threads(const bp_threads_t* threads) {
  host_threads = threads;
}

std::string call_reason() {
  return {reason.text, reason.size};
}
uint64_t call_node() {
  return reason.node;
}
void clear_reason() {
  reason.node = 0;
  reason.size = 0;
  reason.plugins_own = false;
}
void set_reason(std::string_view text) {
  store(text, true);
}

}  // namespace backplane
