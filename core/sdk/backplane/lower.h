/* What crosses while a program is lowered: the request, claims and results.
 *
 * `partition` sees a whole method and says through `claim` what it takes. The host forms partitions
 * (no node twice, each convex, no cycles between them) and calls `compile` once for each, with a
 * graph of its own. `compile` answers through `emit`; the host has copied or written what it was
 * given when `emit` returns, and constants are emitted by index, so weights are never copied here.
 */
#ifndef BP_LOWER_H_
#define BP_LOWER_H_
#include "graph.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The request of `partition` and of `compile`. Valid during the call. */
typedef struct bp_lower {
  uint32_t struct_size, flags;
  const bp_graph_t* graph;
  bp_array_t options;             /* bp_kv_t: checked against the schema, defaults filled in */
  bp_str_t method;                /* "forward" */
  bp_str_t target;                /* value of target_device, "cuda:0"; may be empty */
  bp_str_t data_name;             /* base name of the file that the data go to; empty if inline */
  uint32_t data_placement;        /* BP_DATA_INLINE or BP_DATA_EXTERNAL */
  uint32_t num_threads;           /* to use at most */
  const volatile int32_t* cancel; /* may be NULL; see bp_cancelled */
  bp_sink_t* sink;
} bp_lower_t;

enum { BP_DATA_INLINE = 1, BP_DATA_EXTERNAL = 2 };

/* Nodes that the plugin takes. Settled when `partition` has returned: earlier claims win. */
typedef struct bp_claim {
  uint32_t struct_size;
  uint32_t flags; /* 0: the nodes must stay in one partition, or none of them is taken */
  const int32_t* nodes;
  uint32_t num_nodes;
  int32_t graph; /* index into bp_graph_t.graphs */
  bp_str_t tag;  /* nodes with other tags never share a partition; may be empty */
  double cost;   /* estimated time here in nanoseconds; 0 if unknown */
} bp_claim_t;

enum {
  BP_CLAIM_EACH = 1,     /* each node alone: the host merges neighbours as far as it can */
  BP_CLAIM_MAY_SPLIT = 2 /* if the nodes can't stay together, each alone */
};

/* One result of `compile`. */
typedef struct bp_emit {
  uint32_t struct_size;
  uint32_t kind; /* BP_EMIT_* */
  bp_str_t key;  /* DATUM with bytes: its name; the program has it once, or with equal bytes */
  const void* ptr;
  uint64_t size;
  uint64_t align;     /* PAYLOAD, DATUM: wanted when loaded; a power of two, 0 for 16 */
  int32_t value;      /* DATUM: a constant to write as it is, under its bp_value_t.key (ptr and key
                         are not looked at), or -1; PLACEMENT: an input or output */
  uint32_t placement; /* PLACEMENT: BP_PLACE_* */
} bp_emit_t;

enum {
  BP_EMIT_PAYLOAD = 0,     /* bytes for `load`; several are joined in order */
  BP_EMIT_DATUM = 1,       /* a named datum, found again with data_get */
  BP_EMIT_PLACEMENT = 2,   /* where `execute` wants that value; the default is the target device for
                              tensors, the host for scalars */
  BP_EMIT_FINGERPRINT = 3, /* text that `check` judges before a payload is loaded */
  BP_EMIT_DESCRIPTION = 4  /* text for people: what was made of the graph */
};
enum { BP_PLACE_HOST = 0, BP_PLACE_DEVICE = 1 };

#ifdef __cplusplus
}
#endif
#endif
