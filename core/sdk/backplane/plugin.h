/* The contract between Backplane and a plugin, version 1.0.
 *
 * A plugin is a shared library that exports one symbol, the const table `backplane_plugin_v1`. The
 * table is constant-initialised: the host reads it before any code of the plugin runs. A plugin
 * imports nothing from the host: what it may call, it gets as a bp_host_t. In C++, plugin.hpp makes
 * the table from a class.
 *
 * Growth. Within a major version, structs and tables grow at their end only, nothing changes its
 * meaning, and 0 or NULL means absent. Both sides set struct_size to sizeof, and treat what lies
 * past the other's struct_size as absent (BP_HAS). A table is accepted if its magic is right, its
 * min_host_minor is at most the host's minor, and its size at least BP_PLUGIN_SIZE_V1_0. The next
 * major version has another symbol; a library may export both.
 *
 * Errors. A function that returns int32_t answers BP_OK or a code, and gives the reason with
 * host->fail(...) on the thread that was called, before it returns. Out parameters are written on
 * success only. No exception leaves a plugin. What returns void can't fail: it logs.
 *
 * Ownership. What is passed in is borrowed and valid during the call, unless its field says
 * otherwise. What a plugin made, that plugin destroys. Nothing is allocated on one side and freed
 * on the other. A backend outlives its programs and sessions, a program its instances.
 *
 * Life. The library is never unmapped. Loading it does no work: no thread, no I/O, no driver call,
 * no constructor, nothing with atexit. Each `create` is followed by one `destroy`, which joins all
 * threads; a backend may be created again, and several may exist. After a fork, only `create` anew.
 *
 * Threads, by the tag at each function:
 *   [one at a time]     never two of these at once for one backend
 *   [any thread]        from any thread, many at once
 *   [one per instance]  never two at once for one instance; instances run at once
 *   [inside the call]   only during the call that got the sink or ctx, from any of its threads, but
 *                       never two at once
 * Nothing calls the host for a call that has returned.
 */
#ifndef BP_PLUGIN_H_
#define BP_PLUGIN_H_
#include "lower.h"
#include "option.h"
#include "run.h"
#ifdef __cplusplus
extern "C" {
#endif

#define BP_ABI_MAJOR 1u
#define BP_ABI_MINOR 0u
#define BP_MAGIC 0x31504c42u /* "BLP1" */
#define BP_PLUGIN_SYMBOL "backplane_plugin_v1"

#if defined(_WIN32)
#define BP_EXPORT __declspec(dllexport)
#else
#define BP_EXPORT __attribute__((visibility("default")))
#endif

/* Whether a table has a function: BP_HAS(host, span). */
#define BP_HAS(table, slot)                                                                        \
  ((table)->struct_size >= (uint32_t)((const char*)(&(table)->slot + 1) - (const char*)(table)) && \
   (table)->slot)

/* ---- what the host offers ---- */

enum { BP_LOG_ERROR = 0, BP_LOG_WARN = 1, BP_LOG_INFO = 2, BP_LOG_DEBUG = 3 };

/* Valid from `create` until `destroy` returns. Functions are [any thread] unless tagged. */
typedef struct bp_host {
  uint32_t struct_size, abi_minor;
  int32_t log_level; /* messages above it are dropped: no need to format them */
  uint32_t reserved;
  bp_str_t version; /* the host's, for messages */

  /* Keeps `text` (copied) as the reason of this thread's present call, and returns `code`. The
   * first of a call counts; without one, what another host function last refused. `node`: the
   * debug_id of the node that is to blame, or 0. */
  int32_t (*fail)(const struct bp_host*, int32_t code, uint64_t node, bp_str_t text);
  void (*log)(const struct bp_host*, int32_t level, bp_str_t text);
  /* How far `partition`, `compile` or `load` is, 0 to 1, and what it does. */
  void (*progress)(const struct bp_host*, double fraction, bp_str_t text);
  void (*span)(const struct bp_host*, const bp_span_t*);

  /* While partitioning: takes nodes. BP_INVALID_ARGUMENT: no such node. [inside the call] */
  int32_t (*claim)(bp_sink_t*, const bp_claim_t*);
  /* While partitioning: why a node is not taken, for those who ask. [inside the call] */
  int32_t (*refuse)(bp_sink_t*, int32_t graph, int32_t node, bp_str_t reason);
  /* While compiling: hands over a result. [inside the call] */
  int32_t (*emit)(bp_sink_t*, const bp_emit_t*);

  /* The datum that was emitted under `key`; to be released. BP_NOT_FOUND (reason kept). */
  int32_t (*data_get)(bp_source_t*, bp_str_t key, bp_blob_t* out);
  /* The bytes are not needed any more. At the latest before `unload` returns. */
  void (*data_release)(bp_source_t*, const bp_blob_t*);

  /* Gives output `index` that shape, dense in its dim order. BP_OUTPUT_TOO_SMALL (reason kept): a
   * bound is exceeded, and nothing was changed. [inside the call] of execute or finish */
  int32_t (*resize_output)(bp_ctx_t*, uint32_t index, uint32_t ndim, const int64_t* shape);

  /* A further table of functions, such as "bp.threads/1"; NULL if the host does not offer it. */
  const void* (*extension)(const struct bp_host*, bp_str_t id);
} bp_host_t;

/* ---- what a plugin offers ---- */

enum { BP_BUILD_ASAN = 1, BP_BUILD_TSAN = 2, BP_BUILD_MSAN = 4 };

/* A kind of device that target_device may name. */
typedef struct bp_device_kind {
  bp_str_t name; /* "cuda" */
  int32_t type;  /* BP_DEV_*, or another number of DLPack's */
  uint32_t reserved;
} bp_device_kind_t;

typedef struct bp_plugin {
  uint32_t magic;          /* BP_MAGIC */
  uint32_t struct_size;    /* sizeof(bp_plugin_t) */
  uint32_t abi_minor;      /* BP_ABI_MINOR */
  uint32_t min_host_minor; /* the oldest host that will do */
  uint32_t build_flags;    /* BP_BUILD_FLAGS */
  uint32_t data_placement; /* BP_DATA_*, or-ed: where its data may lie */
  bp_str_t name;           /* [a-z0-9][a-z0-9_-]{0,63}; its id in a .pte is "backplane.NAME" */
  bp_str_t version, vendor, license;
  bp_array_t options;      /* bp_option_t */
  bp_array_t device_kinds; /* bp_device_kind_t */
  bp_array_t delegate_ids; /* bp_str_t: ids of others that it runs too */
  bp_array_t kept_ops;     /* bp_str_t: operators that it wants undecomposed. What it then does not
                              claim is decomposed and offered once more. */

  /* -- lifetime -- */
  /* `options`: bp_kv_t of phase CREATE. [any thread] */
  int32_t (*create)(const bp_host_t*, bp_array_t options, bp_backend_t** out);
  void (*destroy)(bp_backend_t*);
  /* Sets *count to the number of devices, and fills the first `capacity` of `out`, elements of
   * `stride` bytes. No device is not an error. [one at a time] */
  int32_t (*devices)(bp_backend_t*, bp_device_t* out, uint32_t stride, uint32_t capacity,
                     uint32_t* count);

  /* -- ahead of time: no device is needed -- */
  /* Rules between options, for one phase; the schema has been checked. [one at a time] */
  int32_t (*validate)(bp_backend_t*, uint32_t phase, bp_array_t options);
  int32_t (*partition)(bp_backend_t*, const bp_lower_t*); /* [one at a time] */
  int32_t (*compile)(bp_backend_t*, const bp_lower_t*);   /* [one at a time] */

  /* -- run time -- */
  /* Sets *fit to BP_FIT_*. If that is not BP_FIT, the reason goes through host->fail, and BP_OK is
   * returned all the same. [one at a time] */
  int32_t (*check)(bp_backend_t*, bp_str_t fingerprint, bp_devref_t device, uint32_t* fit);
  int32_t (*load)(bp_backend_t*, const bp_load_t*, bp_program_t** out); /* [any thread] */
  void (*unload)(bp_program_t*);                                        /* [any thread] */
  int32_t (*instance_create)(bp_program_t*, const bp_instance_args_t*,
                             bp_instance_t** out);     /* [any thread] */
  void (*instance_destroy)(bp_instance_t*);            /* [any thread] */
  int32_t (*execute)(bp_instance_t*, const bp_run_t*); /* [one per instance] */
  /* Waits for a run with BP_RUN_DEFER_SIZES, gives the outputs their true sizes with resize_output
   * and answers with the device's first error (node, reason). [one per instance] */
  int32_t (*finish)(bp_instance_t*, const bp_run_t*);

  /* -- device memory and streams: [any thread] -- */
  int32_t (*alloc)(bp_backend_t*, const bp_alloc_t*, void** out);
  /* `stream`: reuse waits for what it holds now; NULL: nobody uses the memory any more. */
  void (*free)(bp_backend_t*, bp_devref_t device, void* memory, void* stream);
  /* Copies elements; shapes and dtypes are equal, devices and strides may differ, one side may be
   * the host. stream == NULL: done on return. */
  int32_t (*copy)(bp_backend_t*, const bp_tensor_t* to, const bp_tensor_t* from, void* stream);
  int32_t (*stream_create)(bp_backend_t*, bp_devref_t device, void** out);
  void (*stream_destroy)(bp_backend_t*, void* stream);
  int32_t (*stream_sync)(bp_backend_t*, void* stream);
  /* Marks what `stream` holds now: in *event, which is made if it is NULL. */
  int32_t (*event_record)(bp_backend_t*, void* stream, void** event);
  /* What comes later on `stream` waits for the mark; NULL: the caller waits. */
  int32_t (*event_wait)(bp_backend_t*, void* stream, void* event);
  void (*event_destroy)(bp_backend_t*, void* event);

  /* A further table of functions, such as "bp.kernels/1"; NULL if it has none. [any thread] */
  const void* (*extension)(bp_backend_t*, bp_str_t id);
} bp_plugin_t;

/* The end of the v1.0 table: what a host of this major asks for at least. */
#define BP_PLUGIN_SIZE_V1_0 336u

/* What the compiler says of this build; a host refuses a plugin of another sanitizer. */
#if defined(__has_feature)
#define BP_HAS_FEATURE_(name) __has_feature(name)
#else
#define BP_HAS_FEATURE_(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || BP_HAS_FEATURE_(address_sanitizer)
#define BP_BUILD_FLAGS BP_BUILD_ASAN
#elif defined(__SANITIZE_THREAD__) || BP_HAS_FEATURE_(thread_sanitizer)
#define BP_BUILD_FLAGS BP_BUILD_TSAN
#elif BP_HAS_FEATURE_(memory_sanitizer)
#define BP_BUILD_FLAGS BP_BUILD_MSAN
#else
#define BP_BUILD_FLAGS 0
#endif

/* The one symbol: in C, `BP_EXPORT const bp_plugin_t backplane_plugin_v1 = { ... };` */
extern BP_EXPORT const bp_plugin_t backplane_plugin_v1;

#ifdef __cplusplus
}
#endif

BP_STATIC_ASSERT(sizeof(bp_host_t) == 32 + 11 * 8, "the host's table has no padding");
BP_STATIC_ASSERT(sizeof(bp_plugin_t) == 24 + 8 * 16 + 23 * 8, "the plugin's table has no padding");
BP_STATIC_ASSERT(sizeof(bp_plugin_t) >= BP_PLUGIN_SIZE_V1_0, "tables only grow");
#endif
