/* bp.tune/1: improves a payload by measuring on the device at hand. Weights are not touched: the
 * new payload takes the old one's place and finds the same named data.
 */
#ifndef BP_EXT_TUNE_H_
#define BP_EXT_TUNE_H_
#include "../lower.h"
#include "../run.h"
#ifdef __cplusplus
extern "C" {
#endif

#define BP_EXT_TUNE "bp.tune/1"

typedef struct bp_tune {
  uint32_t struct_size, reserved;
  /* Executes the instance with these typical runs, for about `budget_ns`, and emits the new payload
   * and fingerprint (BP_EMIT_PAYLOAD, BP_EMIT_FINGERPRINT); nothing if there is nothing to gain.
   * [one per instance] */
  int32_t (*tune)(bp_instance_t*, const bp_run_t* const* runs, uint32_t count, uint64_t budget_ns,
                  bp_sink_t*);
} bp_tune_t;

#ifdef __cplusplus
}
#endif
#endif
