/* bp.kernels/1: a library of operator kernels, found with extension("bp.kernels/1").
 *
 * A kernel computes one operator in its out form: the arguments of the operator's schema in order,
 * then the outputs. It states its results' shapes itself (resize), so a program needs no shape
 * functions at run time. Everything here is C11 and has no dependency but plugin.h.
 *
 * Threads: `kernels` and `supports` from any thread; `run` from any thread, many at once, each call
 * with a ctx of its own. A kernel keeps no state between calls.
 */
#ifndef BP_EXT_KERNELS_H_
#define BP_EXT_KERNELS_H_
#include "../plugin.h"
#ifdef __cplusplus
extern "C" {
#endif

#define BP_EXT_KERNELS "bp.kernels/1"

/* What a boxed value holds. Scalars of a schema come as INT, DOUBLE, BOOL or COMPLEX, as the program
 * wrote them. dtype, layout, memory format and device are INT, in c10's numbers. */
enum {
  BP_BOX_NONE = 0,     /* an optional that is absent */
  BP_BOX_TENSOR = 1,   /* v.tensor, never NULL */
  BP_BOX_TENSORS = 2,  /* v.tensors[count]; NULL elements where the schema says Tensor?[] */
  BP_BOX_INT = 3,      /* v.i */
  BP_BOX_INTS = 4,     /* v.ints[count] */
  BP_BOX_DOUBLE = 5,   /* v.f */
  BP_BOX_DOUBLES = 6,  /* v.doubles[count] */
  BP_BOX_BOOL = 7,     /* v.i is 0 or 1 */
  BP_BOX_BOOLS = 8,    /* v.bools[count], one byte each, 0 or 1 */
  BP_BOX_STRING = 9,   /* v.text, count bytes of UTF-8, not NUL terminated */
  BP_BOX_COMPLEX = 10  /* v.doubles[2]: real, imaginary */
};

typedef struct bp_boxed {
  uint32_t kind;
  uint32_t count;
  union {
    int64_t i;
    double f;
    bp_tensor_t *tensor;
    bp_tensor_t *const *tensors;
    const int64_t *ints;
    const double *doubles;
    const uint8_t *bools;
    const char *text;
  } v;
} bp_boxed_t;

/* Services of the host during one run. Size-prefixed; a function past struct_size is absent. */
typedef struct bp_kernel_ctx {
  uint32_t struct_size;
  uint32_t reserved;
  /* Keeps `message` (copied) as the reason and returns `code`, to be returned by the kernel. */
  int32_t (*fail)(struct bp_kernel_ctx *, int32_t code, bp_str_t message);
  /* Gives output `out` the shape given; to be called before writing to it, even if it keeps its
   * shape. `out->data`, `shape` and `strides` may change. BP_OUTPUT_TOO_SMALL (reason kept) if the
   * bound of some dimension is exceeded. */
  int32_t (*resize)(struct bp_kernel_ctx *, bp_tensor_t *out, uint32_t ndim, const int64_t *shape);
  /* Memory, aligned to 64 bytes, that is valid until `run` returns. NULL if there is none. */
  void *(*scratch)(struct bp_kernel_ctx *, uint64_t size_bytes);
  /* The next 64 random bits of the session's generator. */
  uint64_t (*random)(struct bp_kernel_ctx *);
  /* Calls body(arg, begin, end) over ranges that cover [0, n), each at least `grain` long but the
   * last, possibly on several threads; returns when all are done. */
  void (*parallel_for)(struct bp_kernel_ctx *, int64_t n, int64_t grain,
                       void (*body)(void *arg, int64_t begin, int64_t end), void *arg);
} bp_kernel_ctx_t;

enum {
  BP_KERNEL_MAY_ALIAS = 1,   /* the output may share memory with any input of its shape and dtype */
  BP_KERNEL_RANDOM = 2,      /* results depend on the generator: never folded, never merged */
  BP_KERNEL_VIEW = 4,        /* the output holds the first input's bytes in another shape */
  BP_KERNEL_IN_PLACE = 8     /* the output may be the first input itself (index_put, scatter, …) */
};

typedef struct bp_kernel {
  /* "aten::add.out", or with its whole schema text for an operator that the host does not know:
   * "my::scale.out(Tensor self, float by=1.0, *, Tensor(a!) out) -> Tensor(a!)". The functional
   * operator that it serves is the schema without its outputs. */
  bp_str_t schema;
  /* BP_OK if this kernel computes with values of these kinds, dtypes and ranks; else a code, with
   * the reason through ctx->fail. Tensors have no data and shapes may be upper bounds; outputs are
   * given too. Sees no memory. NULL: all that the schema allows. */
  int32_t (*supports)(const struct bp_kernel *, bp_kernel_ctx_t *, const bp_boxed_t *values, uint32_t n);
  /* Computes. `values` are the schema's arguments in order (defaults filled in), outputs last.
   * Inputs may have any strides (elements; 0 where expanded); outputs the strides that resize gave.
   * Inputs are not written but where the schema says so. */
  int32_t (*run)(const struct bp_kernel *, bp_kernel_ctx_t *, const bp_boxed_t *values, uint32_t n);
  const void *data;          /* the library's own, for families that share functions */
  uint32_t flags;            /* BP_KERNEL_* */
  uint32_t device_kind;      /* BP_DEV_CPU, …: where tensors lie */
} bp_kernel_t;

/* What extension(BP_EXT_KERNELS) returns; valid for the life of the process. */
typedef struct bp_kernels {
  uint32_t struct_size;
  uint32_t num_kernels;
  uint32_t kernel_stride;    /* bytes from one kernel to the next */
  uint32_t reserved;
  const void *kernels;       /* bp_kernel_t, strided */
} bp_kernels_t;

#ifdef __cplusplus
}
#endif
#endif
