/* Tensors and graphs as plugins see them: plain structs, nothing to call.
 *
 * Every struct behind a pointer begins with its size and every array travels with its stride in
 * bytes, so elements can grow at their tails: walk arrays with BP_AT, never by index.
 * A graph, and all that it points to, is valid during the call that passes it. C11, 64-bit,
 * little-endian.
 */
#ifndef BP_GRAPH_H_
#define BP_GRAPH_H_
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

typedef struct { const char *ptr; uint64_t len; } bp_str_t;      /* UTF-8, not NUL terminated */
/* Bytes, with the 128-bit content id of a constant (0, 0: none). `align` is what `ptr` has. */
typedef struct { const void *ptr; uint64_t size, align; uint64_t id_lo, id_hi; } bp_blob_t;
typedef struct { bp_str_t key, value; } bp_kv_t;                 /* an option; the value is any bytes */
typedef struct { uint8_t code, bits; uint16_t lanes; } bp_dtype_t;   /* = DLDataType */
typedef struct { int32_t type, index; } bp_devref_t;                 /* = DLDevice */

/* DLDataTypeCode. f8 types have codes of their own and 8 bits. */
enum { BP_INT=0, BP_UINT=1, BP_FLOAT=2, BP_BFLOAT=4, BP_COMPLEX=5, BP_BOOL=6,
       BP_F8_E4M3FN=10, BP_F8_E4M3FNUZ=11, BP_F8_E5M2=12, BP_F8_E5M2FNUZ=13, BP_F8_E8M0FNU=14 };
/* DLDeviceType; others are passed on as they are. */
enum { BP_DEV_CPU=1, BP_DEV_CUDA=2, BP_DEV_CUDA_HOST=3, BP_DEV_OPENCL=4, BP_DEV_VULKAN=7, BP_DEV_METAL=8,
       BP_DEV_ROCM=10, BP_DEV_CUDA_MANAGED=13, BP_DEV_ONEAPI=14, BP_DEV_HEXAGON=16 };

/* = DLTensor, field for field. Strides in elements; the first element is at data + byte_offset. */
typedef struct { void *data; bp_devref_t device; int32_t ndim; bp_dtype_t dtype; int64_t *shape; int64_t *strides;
  uint64_t byte_offset; } bp_tensor_t;

/* A size or stride: static (symbol -1), or at most `size` (INT64_MAX: no bound) and what symbols[symbol] says. */
typedef struct { int64_t size; int32_t symbol, reserved; } bp_dim_t;

/* Element of symbols. A free symbol is given by an input's dimension or by a node's result; a
 * derived size has an expression over others. */
typedef struct {
  bp_str_t name;
  int64_t min, max;          /* inclusive; max INT64_MAX: unbounded */
  int64_t multiple_of;       /* 1: nothing known */
  int64_t typical;           /* size at export, -1: unknown */
  int32_t given_by;          /* value index: of an input whose dimension `given_dim` it is, or of a */
  int32_t given_dim;         /* node's scalar result (given_dim -1); -1: derived */
  const int64_t *tokens;     /* derived: postfix, pairs of (BP_TOK_*, operand); see below */
  uint64_t num_tokens;       /* pairs */
} bp_symbol_t;
/* CONST pushes its operand, SYMBOL the value of symbols[operand]; the others pop two (NOT one, WHERE
 * three) and push one. Division and modulo round to minus infinity. */
enum { BP_TOK_CONST=0, BP_TOK_SYMBOL=1, BP_TOK_ADD=2, BP_TOK_MUL=3, BP_TOK_FLOOR_DIV=4, BP_TOK_MOD=5,
       BP_TOK_CEIL_DIV=6, BP_TOK_MAX=7, BP_TOK_MIN=8, BP_TOK_POW=9, BP_TOK_SHL=10, BP_TOK_SHR=11,
       BP_TOK_BIT_AND=12, BP_TOK_BIT_OR=13, BP_TOK_EQ=14, BP_TOK_NE=15, BP_TOK_LT=16, BP_TOK_LE=17,
       BP_TOK_AND=18, BP_TOK_OR=19, BP_TOK_NOT=20, BP_TOK_WHERE=21 };

enum { BP_ROLE_INPUT=0, BP_ROLE_PARAMETER=1, BP_ROLE_BUFFER=2, BP_ROLE_MUTABLE_BUFFER=3, BP_ROLE_CONSTANT=4,
       BP_ROLE_INTERMEDIATE=5, BP_ROLE_OUTPUT=6 };
enum { BP_KIND_TENSOR=0, BP_KIND_SYM_INT=1, BP_KIND_SYM_FLOAT=2, BP_KIND_SYM_BOOL=3, BP_KIND_OBJECT=4 };

/* Element of values. Scalars (kind not TENSOR) have rank 0. */
typedef struct {
  bp_str_t name, fqn;        /* fqn: of parameters, buffers and constants */
  bp_dtype_t dtype;
  uint32_t kind, role, flags, rank;
  const bp_dim_t *dims;      /* rank */
  const bp_dim_t *strides;   /* rank; NULL: row-major without gaps */
  const uint8_t *dim_order;  /* rank, outermost first; NULL: 0, 1, … */
  bp_blob_t data;            /* parameter, buffer, constant: row-major, borrowed from the mapped file */
  int32_t producer;          /* node index; -1: none */
  int32_t symbol;            /* kind SYM_INT: symbols[] entry that says what it is; -1: unknown */
} bp_value_t;

enum { BP_ARG_NONE=0, BP_ARG_VALUE=1, BP_ARG_VALUES=2, BP_ARG_INT=3, BP_ARG_INTS=4, BP_ARG_FLOAT=5,
       BP_ARG_FLOATS=6, BP_ARG_BOOL=7, BP_ARG_BOOLS=8, BP_ARG_STRING=9, BP_ARG_DTYPE=10, BP_ARG_DEVICE=11,
       BP_ARG_GRAPH=12, BP_ARG_COMPLEX=13, BP_ARG_DIMS=14, BP_ARG_STRINGS=15, BP_ARG_NESTED_INTS=16,
       BP_ARG_NESTED_FLOATS=17, BP_ARG_MEMORY_FORMAT=18, BP_ARG_LAYOUT=19 };
typedef struct { const int64_t *ptr; uint64_t len; } bp_ints_t;
typedef struct { const double *ptr; uint64_t len; } bp_floats_t;

/* Element of a node's args: the schema's arguments in order, defaults filled in. */
typedef struct {
  bp_str_t name;             /* empty for the operands of control flow */
  uint32_t kind, n;          /* n: elements of a list */
  union {
    int64_t i;               /* VALUE (value index), INT, BOOL, GRAPH (index into graphs), DTYPE, */
                             /* MEMORY_FORMAT and LAYOUT (c10's numbers) */
    double f;
    bp_str_t s;              /* STRING, DEVICE ("cuda:0") */
    const int32_t *values;   /* VALUES: value indices, -1 where a hole is */
    const int64_t *ints;
    const double *floats;    /* FLOATS; COMPLEX: real, imaginary */
    const uint8_t *bools;
    const bp_dim_t *dims;    /* DIMS: integers, or (symbol >= 0) value `symbol` of kind SYM_INT */
    const bp_str_t *strings;
    const bp_ints_t *nested_ints;
    const bp_floats_t *nested_floats;
  } v;
} bp_arg_t;

enum { BP_NODE_TAKEN=1 /* by a backend asked earlier */, BP_NODE_HAS_KERNEL=2 };
/* Element of nodes, in topological order. Operators are named "aten::add.Tensor", "aten::relu",
 * "higher_order::cond", "sym::add". */
typedef struct {
  bp_str_t op, name;
  const void *args;          /* bp_arg_t, arg_stride apart */
  const int32_t *outs;       /* value indices; -1: absent. A Tensor[] gives one an element */
  uint32_t num_args, num_outs, flags, debug_id;
  bp_str_t module_path, source;
} bp_node_t;

typedef struct bp_graph {
  uint32_t struct_size, flags;
  uint32_t value_stride, node_stride, arg_stride, symbol_stride;
  uint32_t num_values, num_nodes, num_symbols, num_inputs, num_outputs, num_graphs;
  const void *values, *nodes, *symbols;
  const int32_t *inputs, *outputs;           /* value indices */
  const struct bp_graph *const *graphs;      /* bodies of control flow: ARG_GRAPH counts in here */
  bp_str_t name;
} bp_graph_t;

/* Element `i` of a strided array of a graph: BP_AT(g, bp_node_t, nodes, node_stride, i). */
#define BP_AT(g, type, arr, stride, i) ((const type *)((const char *)(g)->arr + (uint64_t)(i) * (g)->stride))
#define BP_ARG(g, node, i) ((const bp_arg_t *)((const char *)(node)->args + (uint64_t)(i) * (g)->arg_stride))

#ifdef __cplusplus
}
#endif
#endif
