/* The contract between Backplane and a plugin, v1.
 *
 * A plugin is a shared object that exports one const data symbol, `backplane_plugin_v1`, a
 * bp_plugin_t: constant-initialised, so it is read before any code of the plugin runs. It imports no
 * symbol of the host: what the host offers comes in a table. All is C11, 64-bit, little-endian.
 *
 * Growth. Tables and parameter structs begin with their size and grow at the tail only; a slot past
 * struct_size counts as NULL, and NULL means "not offered". Compatible: magic right, symbol found,
 * min_host_minor <= the host's minor, struct_size >= BP_PLUGIN_SIZE_V1. Never equality.
 *
 * Errors. Functions return BP_OK or a code, after host->fail(…) gave the reason. A code that a host
 * does not know counts as BP_INTERNAL. Exceptions must not leave a function.
 *
 * Life. create → (validate, devices, partition, compile, check)* and (load → instance_create →
 * (execute, finish)* → instance_destroy → unload)* → destroy. create may be called again after
 * destroy. The library is never unmapped; destroy joins threads; nothing runs from atexit.
 *
 * Threads. [serial]: one call at a time for a backend. [any]: any thread, many at once.
 * [one per instance]: one at a time for an instance, many instances at once.
 */
#ifndef BP_PLUGIN_H_
#define BP_PLUGIN_H_
#include "graph.h"
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

enum { BP_OK=0, BP_INVALID_ARGUMENT=1, BP_UNSUPPORTED=2, BP_INCOMPATIBLE=3, BP_NOT_FOUND=4,
       BP_OUT_OF_MEMORY=5, BP_OUTPUT_TOO_SMALL=6, BP_CANCELLED=7, BP_DEVICE_LOST=8, BP_INTERNAL=9,
       BP_UNAVAILABLE=10 /* right program, but not on this machine: always with the reason */ };
enum { BP_LOG_ERROR=0, BP_LOG_WARN=1, BP_LOG_INFO=2, BP_LOG_DEBUG=3 };

/* -- options: static data, checked by the host before any function of the plugin is called */
enum { BP_OPT_BOOL=0, BP_OPT_INT=1, BP_OPT_FLOAT=2, BP_OPT_STRING=3, BP_OPT_ENUM=4, BP_OPT_BYTES=5 };
enum { BP_PHASE_CREATE=1, BP_PHASE_COMPILE=2, BP_PHASE_LOAD=4, BP_PHASE_RUN=8 };
typedef struct {
  bp_str_t name, doc, dflt;  /* dflt: as text; empty: none */
  bp_str_t choices;          /* ENUM: "a,b,c" */
  uint32_t type, phases;     /* BP_OPT_*; BP_PHASE_* or-ed */
  double min, max;           /* INT, FLOAT: inclusive; min > max: any */
} bp_option_t;

/* Where a backend may keep its data: a set. With inline alone a data name is refused. */
enum { BP_PLACE_INLINE=1, BP_PLACE_EXTERNAL=2 };
/* Sanitizers that a library was built with; host and plugin must agree. */
enum { BP_BUILD_ASAN=1, BP_BUILD_TSAN=2 };

typedef struct bp_backend  bp_backend_t;   /* plugin's, from create */
typedef struct bp_program  bp_program_t;   /* plugin's, from load: immutable, shared by threads */
typedef struct bp_instance bp_instance_t;  /* plugin's, from instance_create: what one Method uses */
typedef struct bp_sink     bp_sink_t;      /* host's, for the call that got it */
typedef struct bp_source   bp_source_t;    /* host's, until unload */
typedef struct bp_ctx      bp_ctx_t;       /* host's, for the call that got it */
struct bp_host;

typedef struct { const bp_kv_t *ptr; uint64_t len; uint64_t stride; } bp_kvs_t;

/* -- ahead of time */
typedef struct {                           /* to partition */
  uint32_t struct_size, flags;
  const bp_graph_t *graph;                 /* the whole method */
  bp_str_t method, target_device;          /* target_device: "cuda:0" or empty */
  bp_kvs_t options;                        /* resolved: given values and defaults */
  bp_sink_t *sink;
  const volatile int32_t *cancel;          /* read atomically; may be NULL */
} bp_partition_params_t;

typedef struct {                           /* to compile: one partition */
  uint32_t struct_size, flags;
  const bp_graph_t *graph;                 /* only its nodes; inputs and outputs are the delegate's */
  bp_str_t method, target_device, data_name, tag;   /* tag: of its first claim */
  bp_kvs_t options;
  bp_sink_t *sink;
  const volatile int32_t *cancel;
  uint32_t placement, num_threads;         /* BP_PLACE_*; threads it may use */
} bp_compile_params_t;

typedef struct {
  uint32_t struct_size, graph_index;       /* 0: the method; else graphs[graph_index - 1] */
  const int32_t *nodes; uint64_t num_nodes;
  bp_str_t tag;
  double cost;
  uint32_t whole, may_split;               /* whole: all nodes in one partition, or (may_split) singly */
} bp_claim_t;

typedef struct {
  uint32_t struct_size, graph_index;
  int32_t node, reserved;
  bp_str_t reason;                         /* "no kernel for float64" */
} bp_refuse_t;

/* PAYLOAD comes in order, in as many parts as wished. DATUM: bytes under a key, or (value >= 0) that
 * constant as it is, with no copy. PLACEMENT: value lives on the host (placement 0) or the device
 * (1). FINGERPRINT: bytes for `check`. DESCRIPTION: text for people. */
enum { BP_EMIT_PAYLOAD=0, BP_EMIT_DATUM=1, BP_EMIT_PLACEMENT=2, BP_EMIT_FINGERPRINT=3, BP_EMIT_DESCRIPTION=4 };
typedef struct {
  uint32_t struct_size, kind;
  bp_str_t key;
  const void *ptr; uint64_t size, align;   /* the host is done with ptr on return */
  int32_t value, placement;
} bp_emit_t;

/* -- run time */
typedef struct {                           /* to load */
  uint32_t struct_size, flags;
  bp_blob_t payload;                       /* valid until unload, like `data` */
  bp_source_t *data;
  bp_str_t method;
  bp_kvs_t compile_specs, options;         /* as lowered; load-time options */
  int32_t device, num_threads;             /* index into devices(), -1: default */
  uint32_t num_inputs, num_outputs;
  const volatile int32_t *cancel;
} bp_load_params_t;

typedef struct {                           /* to instance_create */
  uint32_t struct_size, flags;
  void *session;                           /* from bp.state/1, or NULL */
} bp_instance_params_t;

/* Beside each tensor of a run. */
typedef struct {
  uint32_t struct_size, flags;
  const int64_t *bounds;                   /* ndim upper bounds, INT64_MAX: none; NULL: static */
  uint64_t id_lo, id_hi;                   /* content id of a constant */
  const int64_t *device_shape;             /* sizes that live on the device, or NULL */
} bp_side_t;

enum { BP_RUN_STABLE_ADDRESSES=1, BP_RUN_CALLERS_STREAM=2, BP_RUN_CAPTURING=4, BP_RUN_PROFILE=8,
       BP_RUN_DEFER_SIZES=16 /* resize_output may wait for finish */ };
typedef struct {
  uint32_t struct_size, flags;
  uint32_t num_inputs, num_outputs;
  const bp_tensor_t *inputs;               /* scalars are 0-d host tensors: int64, double, bool */
  bp_tensor_t *outputs;
  const bp_side_t *input_sides, *output_sides;   /* side_stride apart */
  uint32_t tensor_stride, side_stride;
  void *stream;                            /* NULL: results are ready on return; else ordered on it */
  const volatile int32_t *cancel;
  bp_ctx_t *ctx;
  uint64_t binding;                        /* changes when an address did */
} bp_run_t;

enum { BP_FIT=0, BP_FIT_SUBOPTIMAL=1, BP_FIT_RECOMPILE=2, BP_FIT_NEVER=3 };
typedef struct {                           /* filled by devices */
  uint32_t struct_size, kind;              /* BP_DEV_* */
  int32_t index, score;                    /* score: higher is preferred */
  bp_str_t name, architecture, pci;        /* valid until destroy */
  uint8_t uuid[16];
  uint64_t mem_total, mem_free;
} bp_device_t;
enum { BP_MEM_DEVICE=0, BP_MEM_PINNED=1, BP_MEM_MANAGED=2 };

/* What the host offers. Valid for the life of the process. */
typedef struct bp_host {
  uint32_t struct_size, abi_minor;
  int32_t log_level, reserved;             /* messages above it need not be made */
  bp_str_t version;
  /* Keeps the reason (copied) for the calling thread and returns `code`. `node`: index in the
   * graph of this call, or -1. [any] */
  int32_t (*fail)(const struct bp_host *, int32_t code, int32_t node, bp_str_t message);
  void    (*log)(const struct bp_host *, int32_t level, bp_str_t message);                 /* [any] */
  /* Only inside the call that got the sink, from any of its threads, one at a time. */
  int32_t (*claim)(bp_sink_t *, const bp_claim_t *);
  int32_t (*refuse)(bp_sink_t *, const bp_refuse_t *);
  int32_t (*emit)(bp_sink_t *, const bp_emit_t *);
  void    (*progress)(bp_sink_t *, double fraction, bp_str_t what);
  /* The datum under a key; the bytes stay valid until data_release or unload. BP_NOT_FOUND names
   * the key and the files looked in. [any] */
  int32_t (*data_get)(bp_source_t *, bp_str_t key, bp_blob_t *out);
  void    (*data_release)(bp_source_t *, const bp_blob_t *);
  /* Gives output `index` of this run its shape, before it is written; its data may move.
   * BP_OUTPUT_TOO_SMALL if a bound is exceeded. [inside execute or finish] */
  int32_t (*resize_output)(bp_ctx_t *, uint32_t index, uint32_t ndim, const int64_t *shape);
  /* A span of time for profiles: CLOCK_MONOTONIC nanoseconds, a node's debug id (or UINT32_MAX), a
   * track (host thread or device stream). [any] */
  void    (*span)(const struct bp_host *, bp_str_t name, uint64_t t0_ns, uint64_t t1_ns, uint32_t debug_id, uint64_t track);
  const void *(*extension)(const struct bp_host *, bp_str_t id);                            /* [any] */
} bp_host_t;

/* What a plugin exports. Slots in the order of its life; NULL where not offered. */
typedef struct bp_plugin {
  uint32_t magic, struct_size, abi_minor, min_host_minor;
  uint32_t build_flags;                    /* BP_BUILD_* */
  uint32_t data_placements;                /* BP_PLACE_* set; 0: has no data */
  bp_str_t name, version, vendor, license; /* name: [a-z0-9][a-z0-9_-]{0,63} */
  const bp_option_t *options;
  const int32_t *device_kinds;             /* BP_DEV_*: what target_device may name */
  const bp_str_t *delegate_ids;            /* ids in .pte files that it also runs, beside backplane.NAME */
  const bp_str_t *kept_ops;                /* operators that it wants undecomposed */
  uint32_t num_options, option_stride, num_device_kinds, num_delegate_ids, num_kept_ops, reserved;
  /* lifetime [serial] */
  int32_t (*create)(const bp_host_t *, const bp_kvs_t *options, bp_backend_t **out);
  void    (*destroy)(bp_backend_t *);
  /* Rules across options; single ones are checked by then. [serial] */
  int32_t (*validate)(bp_backend_t *, uint32_t phase, const bp_kvs_t *options);
  /* Fills at most `cap`, `stride` bytes apart; *n: how many there are. BP_UNAVAILABLE: no driver. */
  int32_t (*devices)(bp_backend_t *, bp_device_t *out, uint64_t stride, uint64_t cap, uint64_t *n);
  /* ahead of time [serial] */
  int32_t (*partition)(bp_backend_t *, const bp_partition_params_t *);
  int32_t (*compile)(bp_backend_t *, const bp_compile_params_t *);
  /* run time */
  int32_t (*check)(bp_backend_t *, bp_str_t fingerprint, int32_t device, uint32_t *fit);   /* [serial] */
  int32_t (*load)(bp_backend_t *, const bp_load_params_t *, bp_program_t **out);           /* [any] */
  void    (*unload)(bp_program_t *);                                                       /* [any] */
  int32_t (*instance_create)(bp_program_t *, const bp_instance_params_t *, bp_instance_t **out);
  void    (*instance_destroy)(bp_instance_t *);                                            /* [any] */
  int32_t (*execute)(bp_instance_t *, const bp_run_t *);                       /* [one per instance] */
  /* After deferred sizes: waits, gives true sizes, returns the first error that the device met. */
  int32_t (*finish)(bp_instance_t *, const bp_run_t *);                        /* [one per instance] */
  /* device memory and streams [any] */
  int32_t (*alloc)(bp_backend_t *, int32_t device, uint32_t kind, uint64_t size, uint64_t align, void *stream, void **out);
  int32_t (*free)(bp_backend_t *, int32_t device, void *ptr, void *stream);
  int32_t (*copy)(bp_backend_t *, const bp_tensor_t *dst, const bp_tensor_t *src, void *stream);
  int32_t (*stream_create)(bp_backend_t *, int32_t device, void **out);
  void    (*stream_destroy)(bp_backend_t *, void *stream);
  int32_t (*stream_sync)(bp_backend_t *, void *stream);
  int32_t (*event_record)(bp_backend_t *, void *stream, void **event);
  int32_t (*event_wait)(bp_backend_t *, void *event, void *stream);            /* frees the event */
  const void *(*extension)(bp_backend_t *, bp_str_t id);    /* [any]; also with NULL for the backend */
} bp_plugin_t;

#define BP_HAS(p, slot) ((p)->struct_size >= (uint32_t)((const char *)(&(p)->slot + 1) - (const char *)(p)) && (p)->slot)
#define BP_PLUGIN_SIZE_V1 ((uint32_t)sizeof(bp_plugin_t))

#ifdef __cplusplus
}
#define BP_SA static_assert
#else
#define BP_SA _Static_assert
#endif
BP_SA(sizeof(void *) != 8 || sizeof(bp_tensor_t) == 48, "DLTensor layout");
#endif
