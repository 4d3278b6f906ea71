/* bp.threads/1: the host's threads, found with host->extension(host, ...). Plugins that use them
 * start none of their own, so that several do not fight over the cores.
 */
#ifndef BP_EXT_THREADS_H_
#define BP_EXT_THREADS_H_
#include "../types.h"
#ifdef __cplusplus
extern "C" {
#endif

#define BP_EXT_THREADS "bp.threads/1"

typedef struct bp_threads {
  uint32_t struct_size;
  uint32_t num_threads; /* that a loop can have at most, the caller's included */
  /* Calls body(arg, begin, end) over ranges that cover [0, n), each at least `grain` long but the
   * last, possibly on several threads; returns when all are done. May be nested. [any thread] */
  void (*parallel_for)(const struct bp_threads*, int64_t n, int64_t grain,
                       void (*body)(void* arg, int64_t begin, int64_t end), void* arg);
} bp_threads_t;

#ifdef __cplusplus
}
#endif
#endif
