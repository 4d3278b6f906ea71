/* What crosses at run time: loading, executing, devices and their memory.
 *
 * load ─▶ program ─ instance_create ─▶ instance ─ execute … execute ─ instance_destroy ─ unload.
 * A program's instances are destroyed before it is unloaded.
 */
#ifndef BP_RUN_H_
#define BP_RUN_H_
#include "types.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The request of `load`. The struct is valid during the call; the payload's bytes and the source
 * stay valid until `unload`. */
typedef struct bp_load {
  uint32_t struct_size, flags;
  bp_blob_t payload;
  bp_source_t* source;  /* for data_get */
  bp_array_t specs;     /* bp_kv_t: the delegate's compile specs, as the file has them */
  bp_array_t options;   /* bp_kv_t: load-time options, checked, defaults filled in */
  bp_str_t delegate_id; /* as the file has it: "backplane.NAME", or one of delegate_ids */
  bp_str_t method;
  bp_devref_t device;   /* where to run */
  uint32_t num_threads; /* to use at most, now and in `execute` */
  uint32_t reserved;
  const volatile int32_t* cancel; /* may be NULL; see bp_cancelled */
} bp_load_t;

/* The request of `instance_create`. Valid during the call. */
typedef struct bp_instance_args {
  uint32_t struct_size, flags;
  bp_session_t* session; /* outlives the instance; NULL if the plugin has no bp.state/1 */
} bp_instance_args_t;

/* What a tensor of a run has beside its DLTensor. */
typedef struct bp_tensor_info {
  uint32_t struct_size, flags;
  const int64_t* upper_bounds; /* ndim; INT64_MAX: none. NULL: the shape is the bound */
  uint64_t id_lo, id_hi;       /* content id where the bytes are constant; 0, 0: not known */
  const int64_t* device_shape; /* NULL, or in device memory the ndim true sizes: shape has bounds */
} bp_tensor_info_t;

/* One execution. Scalars are 0-d host tensors of int64, double or bool.
 *
 * stream == NULL: results are ready on return. Else all work is ordered on that stream, and inputs
 * are ready in its order. An output's shape is set by resize_output before it is written, even
 * where it does not change. Two runs with one `binding` have the same addresses, shapes and
 * strides. */
typedef struct bp_run {
  uint32_t struct_size;
  uint32_t flags; /* BP_RUN_* */
  uint32_t num_inputs, num_outputs;
  const bp_tensor_t* inputs;
  bp_tensor_t* outputs;           /* resize_output may change data, shape and strides */
  bp_array_t input_info;          /* bp_tensor_info_t, one for each input, or empty */
  bp_array_t output_info;         /* bp_tensor_info_t, one for each output, or empty */
  void* stream;                   /* of the program's device */
  const volatile int32_t* cancel; /* may be NULL; see bp_cancelled */
  bp_ctx_t* ctx;                  /* for resize_output */
  uint64_t binding;               /* 0: not known */
} bp_run_t;

enum {
  BP_RUN_CALLERS_STREAM = 1, /* the stream is the application's: others may work on it too */
  BP_RUN_CAPTURING = 2,      /* the stream is being captured: no call that a capture forbids */
  BP_RUN_PROFILE = 4,        /* report spans */
  /* Sizes may stay on the device: outputs hold their bounds, resize_output is not needed, and
   * `finish` gives the true sizes and the first error that the device met. */
  BP_RUN_DEFER_SIZES = 8
};

/* A piece of time, for profiles. CLOCK_MONOTONIC nanoseconds. */
typedef struct bp_span {
  uint32_t struct_size, reserved;
  bp_str_t name;
  uint64_t begin_ns, end_ns;
  uint64_t debug_id; /* the node's; 0: none */
  uint64_t track;    /* which host thread or device stream: any number that tells them apart */
  bp_str_t track_name;
} bp_span_t;

/* A device as `devices` describes it. Text is the plugin's, valid until `destroy`. */
typedef struct bp_device {
  uint32_t struct_size; /* set by the host: fields past it are not written */
  int32_t score;        /* higher is preferred; 0: not usable, and `name` says why */
  bp_devref_t device;
  bp_str_t name;                /* "NVIDIA H200" */
  bp_str_t arch;                /* "sm_90" */
  bp_str_t pci;                 /* "0000:65:00.0"; empty if it has none */
  uint8_t uuid[16];             /* zeros if it has none */
  uint64_t mem_total, mem_free; /* bytes */
} bp_device_t;

typedef struct bp_alloc {
  uint32_t struct_size;
  uint32_t kind; /* BP_MEM_* */
  bp_devref_t device;
  uint64_t size;  /* bytes, above 0 */
  uint64_t align; /* a power of two */
  void* stream;   /* the memory is used in its order; NULL: usable at once, everywhere */
} bp_alloc_t;

enum { BP_MEM_DEVICE = 0, BP_MEM_PINNED = 1 /* on the host, for copies */, BP_MEM_MANAGED = 2 };

/* What `check` says of a payload on a device. */
enum {
  BP_FIT = 0,
  BP_FIT_SUBOPTIMAL = 1, /* runs; compiling it again would make it faster */
  BP_FIT_RECOMPILE = 2,  /* does not run here; compiling it again would help */
  BP_FIT_NEVER = 3
};

#ifdef __cplusplus
}
#endif
#endif
