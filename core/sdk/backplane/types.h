/* Small types of the plugin contract: text, arrays, tensors, codes.
 *
 * Start with plugin.h. What is passed by value here never changes its layout within a major
 * version; everything larger begins with its own size, or travels in a bp_array_t, and may grow at
 * its end. Text is UTF-8 and not NUL terminated. 64-bit, little-endian machines only.
 */
#ifndef BP_TYPES_H_
#define BP_TYPES_H_
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct bp_str {
  const char* ptr;
  uint64_t len;
} bp_str_t;

/* An array whose elements may be longer than the reader knows: `stride` bytes from one to the next.
 * Never index `data`: use BP_AT. A stride below the element's v1.0 size is an error. */
typedef struct bp_array {
  const void* data;
  uint32_t count;
  uint32_t stride;
} bp_array_t;

#define BP_AT(type, array, i) \
  ((const type*)((const char*)(array).data + (uint64_t)(i) * (array).stride))

/* Initialisers: bp_str_t s = BP_TEXT("relu"); bp_array_t a = BP_ARRAY(table); */
#define BP_TEXT(literal) \
  { literal, sizeof(literal) - 1 }
#define BP_ARRAY(elements) \
  { elements, sizeof(elements) / sizeof((elements)[0]), sizeof((elements)[0]) }

/* A key with its value. The value is text for options, and any bytes for what a file carries. */
typedef struct bp_kv {
  bp_str_t key, value;
} bp_kv_t;

/* Borrowed bytes. Equal non-zero ids mean equal bytes: whoever uploads data may key it by them. */
typedef struct bp_blob {
  const void* ptr;
  uint64_t size;
  uint64_t align; /* that ptr has; at least 64 for what the host allocates */
  /* Content id: the first 16 bytes of the SHA-256, as two little-endian numbers; 0, 0: none. */
  uint64_t id_lo, id_hi;
} bp_blob_t;

/* Element type: DLDataType of DLPack. lanes is 1. */
typedef struct bp_dtype {
  uint8_t code, bits;
  uint16_t lanes;
} bp_dtype_t;

enum {
  BP_DT_INT = 0,
  BP_DT_UINT = 1,
  BP_DT_FLOAT = 2,
  BP_DT_BFLOAT = 4,
  BP_DT_COMPLEX = 5,
  BP_DT_BOOL = 6,
  BP_DT_F8E4M3FN = 10,
  BP_DT_F8E4M3FNUZ = 11,
  BP_DT_F8E5M2 = 12,
  BP_DT_F8E5M2FNUZ = 13,
  BP_DT_F8E8M0FNU = 14
};

/* A device: DLDevice. `type` is DLPack's number, also where plugins bring devices of their own. */
typedef struct bp_devref {
  int32_t type, index;
} bp_devref_t;

enum {
  BP_DEV_CPU = 1,
  BP_DEV_CUDA = 2,
  BP_DEV_CUDA_HOST = 3,
  BP_DEV_METAL = 8,
  BP_DEV_CUDA_MANAGED = 13
};

/* A tensor: DLTensor, field for field. Strides are in elements and never NULL. What the host
 * allocates is aligned to 64 bytes. */
typedef struct bp_tensor {
  void* data;
  bp_devref_t device;
  int32_t ndim;
  bp_dtype_t dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} bp_tensor_t;

/* What a function answers. A code that the reader does not know counts as BP_INTERNAL. */
enum {
  BP_OK = 0,
  BP_INVALID_ARGUMENT = 1, /* the caller's value, option, shape or file is wrong */
  BP_UNSUPPORTED = 2,      /* well formed, but this plugin does not do it */
  BP_INCOMPATIBLE = 3,     /* made for another version, architecture or program */
  BP_NOT_FOUND = 4,        /* a key, file or operator is not there */
  BP_OUT_OF_MEMORY = 5,
  BP_OUTPUT_TOO_SMALL = 6,
  BP_CANCELLED = 7,   /* the cancel flag was seen */
  BP_DEVICE_LOST = 8, /* the device or its driver gave up: nothing more will work on it */
  BP_INTERNAL = 9,    /* a bug */
  BP_UNAVAILABLE = 10 /* right program, but not on this machine: no device, driver, licence */
};

/* Whether a cancel flag (may be NULL) asks to stop. [any thread] */
static inline int bp_cancelled(const volatile int32_t* flag) {
#if defined(__GNUC__)
  return flag && __atomic_load_n(flag, __ATOMIC_RELAXED) != 0;
#else
  return flag && *flag != 0;
#endif
}

/* What a plugin makes; the host only hands these back. */
typedef struct bp_backend bp_backend_t;   /* the plugin, configured */
typedef struct bp_program bp_program_t;   /* a loaded payload: immutable, shared by threads */
typedef struct bp_instance bp_instance_t; /* what one method uses: arena, captured graphs */
typedef struct bp_session bp_session_t;   /* mutable buffers (ext/state.h) */

/* What the host makes; the plugin only hands these back. */
typedef struct bp_sink bp_sink_t;     /* takes claims and results */
typedef struct bp_source bp_source_t; /* gives named data */
typedef struct bp_ctx bp_ctx_t;       /* one execution */

#ifdef __cplusplus
}
#define BP_STATIC_ASSERT static_assert
#else
#define BP_STATIC_ASSERT _Static_assert
#endif

BP_STATIC_ASSERT(sizeof(void*) == 8, "64-bit only");
#if defined(__BYTE_ORDER__)
BP_STATIC_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "little-endian only");
#endif
BP_STATIC_ASSERT(sizeof(bp_tensor_t) == 48, "DLTensor's layout");
#endif
