/* bp.state/1: mutable buffers that live across executions (a KV cache, a running mean).
 *
 * A plugin that offers this may find values of role BP_ROLE_MUTABLE_BUFFER in a graph, and outputs
 * of kind BP_OUTPUT_STATE that write them. For one that does not, the host keeps such buffers
 * itself and passes them as inputs and outputs.
 *
 * A session holds the mutable buffers of several programs of one backend: where two of them name
 * the same buffer (by fqn), they share it. A session outlives the instances that were made with it.
 */
#ifndef BP_EXT_STATE_H_
#define BP_EXT_STATE_H_
#include "../types.h"
#ifdef __cplusplus
extern "C" {
#endif

#define BP_EXT_STATE "bp.state/1"

typedef struct bp_state {
  uint32_t struct_size, reserved;
  /* A session for these programs, each buffer with its first content. [any thread] */
  int32_t (*create)(bp_backend_t*, bp_program_t* const* programs, uint32_t count,
                    bp_session_t** out);
  void (*destroy)(bp_session_t*); /* [any thread] */
  /* Gives each buffer its first content again. No instance of it is executing. */
  int32_t (*reset)(bp_session_t*);
  /* A session of the same programs with the present contents. No instance of `from` is executing.
   */
  int32_t (*copy)(bp_session_t* from, bp_session_t** out);
} bp_state_t;

#ifdef __cplusplus
}
#endif
#endif
