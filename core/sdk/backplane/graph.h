/* The graph that `partition` and `compile` get: strided plain structs, valid during the call.
 *
 * Nothing to parse, nothing to free. Constants point into the mapped file. Arrays in a bp_array_t
 * may have longer elements than this header knows, so they are read with BP_AT (or plugin.hpp's
 * iterators); plain pointers are arrays of types that never grow.
 *
 * Indices: a value by its place in `values`, a node in `nodes`, a symbol in `symbols`, -1 for none.
 * Nodes are in topological order. Every value has one producer; nothing is written in place.
 */
#ifndef BP_GRAPH_H_
#define BP_GRAPH_H_
#include "types.h"
#ifdef __cplusplus
extern "C" {
#endif

/* One size, stride or integer: known now, or only when the program runs. */
typedef struct bp_dim {
  int64_t size;   /* the number; its upper bound if symbol or value is set (INT64_MAX: none) */
  int32_t symbol; /* what it is, or -1 */
  int32_t value;  /* in arguments: the value of kind BP_VALUE_SYM_INT that gives it; else -1 */
} bp_dim_t;

/* A token of an expression in postfix order. */
typedef struct bp_sym_token {
  uint32_t op;    /* BP_SYM_* */
  uint32_t count; /* operands that it takes from the stack; 0 for SYMBOL and CONSTANT */
  int64_t value;  /* SYMBOL: its index; CONSTANT: the number */
} bp_sym_token_t;

/* Integers; comparisons and logic give 0 or 1; division rounds to minus infinity. */
enum {
  BP_SYM_SYMBOL = 0,
  BP_SYM_CONSTANT = 1,
  BP_SYM_ADD = 2,
  BP_SYM_MUL = 3, /* of `count` operands */
  BP_SYM_FLOOR_DIV = 4,
  BP_SYM_MOD = 5,
  BP_SYM_CEIL_DIV = 6,
  BP_SYM_MAX = 7,
  BP_SYM_MIN = 8, /* of `count` operands */
  BP_SYM_POW = 9,
  BP_SYM_SHIFT_LEFT = 10,
  BP_SYM_SHIFT_RIGHT = 11,
  BP_SYM_BIT_AND = 12,
  BP_SYM_BIT_OR = 13,
  BP_SYM_EQ = 14,
  BP_SYM_NE = 15,
  BP_SYM_LT = 16,
  BP_SYM_LE = 17,
  BP_SYM_AND = 18,
  BP_SYM_OR = 19,
  BP_SYM_NOT = 20,
  BP_SYM_WHERE = 21 /* where(c, a, b) */
};

/* A size that is known when the program runs. One may have both a source and an expression; one
 * with neither is known by its bounds alone. */
typedef struct bp_symbol {
  bp_str_t name;         /* "s15"; of a derived size its text, "4*s15 + 1" */
  int64_t min, max;      /* inclusive; max INT64_MAX: no upper bound */
  int64_t multiple_of;   /* at least 1 */
  int64_t typical;       /* as seen at export, -1 if unknown: a hint for tuning, never the truth */
  uint32_t source;       /* where it can be read: BP_SOURCE_* */
  int32_t source_graph;  /* index into bp_graph_t.graphs */
  int32_t source_index;  /* INPUT: place in that graph's inputs; NODE: the node */
  int32_t source_output; /* NODE: which output of it */
  int32_t source_dim;    /* dimension of that input or output; -1: it is the integer itself */
  int32_t reserved;
  bp_array_t expr; /* bp_sym_token_t; empty if it is not derived from others */
} bp_symbol_t;

enum { BP_SOURCE_NONE = 0, BP_SOURCE_INPUT = 1, BP_SOURCE_NODE = 2 };

typedef struct bp_value {
  bp_str_t name;    /* unique in its graph */
  bp_str_t fqn;     /* parameters, buffers, constants: "encoder.weight"; else empty */
  uint32_t kind;    /* BP_VALUE_*; all but tensors have rank 0 */
  uint32_t role;    /* BP_ROLE_* */
  uint32_t flags;   /* 0 */
  bp_dtype_t dtype; /* SYM_INT int64, SYM_FLOAT float64, SYM_BOOL bool */
  uint32_t rank;
  int32_t producer;         /* node, -1 for inputs and constants */
  const bp_dim_t* dims;     /* rank sizes */
  const bp_dim_t* strides;  /* rank strides in elements, as eager execution had them */
  const uint8_t* dim_order; /* rank dimensions, from the largest stride to the smallest */
  bp_dim_t scalar;          /* kind SYM_INT: what it is */
  /* Parameter, buffer, constant: its bytes (a mutable buffer's first content) with their id, dense
   * in row-major order, as its strides say then; and its key as a datum, if it is emitted as it is.
   */
  bp_blob_t data;
  bp_str_t key;
} bp_value_t;

enum { BP_VALUE_TENSOR = 0, BP_VALUE_SYM_INT = 1, BP_VALUE_SYM_FLOAT = 2, BP_VALUE_SYM_BOOL = 3 };

enum {
  BP_ROLE_INPUT = 0,
  BP_ROLE_PARAMETER = 1,
  BP_ROLE_BUFFER = 2,         /* never written */
  BP_ROLE_MUTABLE_BUFFER = 3, /* the session's, by fqn; only for plugins with bp.state/1 */
  BP_ROLE_CONSTANT = 4,
  BP_ROLE_INTERMEDIATE = 5,
  BP_ROLE_OUTPUT = 6 /* made by a node, and an output of the graph */
};

/* An argument. Scalars of a schema are INT, FLOAT, BOOL or COMPLEX, as the program wrote them. */
typedef struct bp_arg {
  bp_str_t name;  /* the schema's; empty for operands of higher-order operators */
  uint32_t kind;  /* BP_ARG_*: which member of v */
  uint32_t count; /* elements of a list */
  union {
    int64_t i;               /* INT, VALUE, GRAPH, BOOL (0 or 1), MEMORY_FORMAT, LAYOUT */
    double f;                /* FLOAT */
    double re_im[2];         /* COMPLEX: real, imaginary */
    bp_str_t s;              /* STRING */
    bp_dtype_t dtype;        /* DTYPE */
    bp_devref_t device;      /* DEVICE: type 0 if DLPack has no number for it */
    const int32_t* values;   /* VALUES: -1 where Tensor?[] has a hole */
    const int64_t* ints;     /* INTS */
    const bp_dim_t* dims;    /* DIMS: an integer list with an element that is not known now */
    const double* floats;    /* FLOATS */
    const uint8_t* bools;    /* BOOLS, one byte each, 0 or 1 */
    const bp_str_t* strings; /* STRINGS */
    bp_array_t list;         /* LIST: bp_arg_t, for nested lists */
  } v;
} bp_arg_t;

enum {
  BP_ARG_NONE = 0,
  BP_ARG_VALUE = 1,
  BP_ARG_VALUES = 2,
  BP_ARG_INT = 3,
  BP_ARG_INTS = 4,
  BP_ARG_FLOAT = 5,
  BP_ARG_FLOATS = 6,
  BP_ARG_BOOL = 7,
  BP_ARG_BOOLS = 8,
  BP_ARG_STRING = 9,
  BP_ARG_DTYPE = 10,
  BP_ARG_DEVICE = 11,
  BP_ARG_GRAPH = 12, /* index into bp_graph_t.graphs */
  BP_ARG_DIMS = 13,
  BP_ARG_COMPLEX = 14,
  BP_ARG_STRINGS = 15,
  BP_ARG_LIST = 16,
  BP_ARG_MEMORY_FORMAT = 17, /* 0 contiguous, 1 preserve, 2 channels last, 3 channels last 3d */
  BP_ARG_LAYOUT = 18         /* 0 strided, 255 any other */
};

typedef struct bp_node {
  bp_str_t op;         /* "aten::add.Tensor", "aten::relu" (default overload), "sym::add",
                          "higher_order::cond" */
  bp_str_t name;       /* as in the exported program; unique in its graph */
  bp_array_t args;     /* bp_arg_t, in the schema's order, defaults filled in */
  const int32_t* outs; /* values, -1 where a result is absent; a Tensor[] gives one an element */
  uint32_t num_outs;
  uint32_t flags;       /* BP_NODE_* */
  uint64_t debug_id;    /* what spans and events name it by; unique in the program */
  bp_str_t module_path; /* "encoder.layers.3.attn"; may be empty */
  bp_str_t source;      /* "model.py:120 in forward"; may be empty */
} bp_node_t;

enum {
  BP_NODE_TAKEN = 1,     /* an earlier backend has it: not to be claimed */
  BP_NODE_HAS_KERNEL = 2 /* if nobody claims it, a kernel runs it */
};

typedef struct bp_output {
  int32_t value;
  uint32_t kind;  /* BP_OUTPUT_* */
  int32_t target; /* STATE: the mutable buffer whose next content this is */
  int32_t reserved;
} bp_output_t;

enum {
  BP_OUTPUT_RESULT = 0, /* one of bp_run_t.outputs, in this order */
  BP_OUTPUT_STATE = 1   /* written to the session; not among bp_run_t.outputs */
};

/* One graph. The one that is passed is graphs[0]; bodies of cond, while_loop, … are the others. All
 * of them have the same `graphs` and `symbols`. */
typedef struct bp_graph {
  uint32_t struct_size, flags;
  bp_str_t name;         /* the method's, or the body's */
  bp_array_t values;     /* bp_value_t */
  bp_array_t nodes;      /* bp_node_t */
  bp_array_t symbols;    /* bp_symbol_t */
  bp_array_t outputs;    /* bp_output_t */
  const int32_t* inputs; /* values of role INPUT, as bp_run_t.inputs gives them */
  const struct bp_graph* const* graphs;
  uint32_t num_inputs, num_graphs;
} bp_graph_t;

#ifdef __cplusplus
}
#endif
#endif
