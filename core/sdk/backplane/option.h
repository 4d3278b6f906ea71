/* Options of a plugin: what it can be told, declared so that the host checks it alone. */
#ifndef BP_OPTION_H_
#define BP_OPTION_H_
#include "types.h"
#ifdef __cplusplus
extern "C" {
#endif

/* An option, as static data. The host checks keys, types, ranges and phases before it calls
 * anything, and fills in defaults. Four keys are the host's own, and not to be declared:
 * method_name, target_device, data_name, data_placement. */
typedef struct bp_option {
  bp_str_t name;    /* [a-z][a-z0-9_]* */
  bp_str_t doc;     /* one line */
  bp_str_t dflt;    /* as text; empty: not passed unless given */
  bp_str_t choices; /* ENUM: "fp32|fp16|bf16" */
  uint32_t type;    /* BP_OPT_* */
  uint32_t phases;  /* BP_PHASE_*, or-ed */
  double min, max;  /* INT, FLOAT: inclusive; STRING, BYTES: of the length. Both 0: no limit */
} bp_option_t;

enum {
  BP_OPT_BOOL = 0, /* passed as "true" or "false" */
  BP_OPT_INT = 1,  /* decimal int64 */
  BP_OPT_FLOAT = 2,
  BP_OPT_STRING = 3, /* UTF-8 */
  BP_OPT_ENUM = 4,
  BP_OPT_BYTES = 5
};
enum { BP_PHASE_CREATE = 1, BP_PHASE_COMPILE = 2, BP_PHASE_LOAD = 4, BP_PHASE_RUN = 8 };

#ifdef __cplusplus
}
#endif
#endif
