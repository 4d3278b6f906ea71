/* bp.compile_all/1: compiles all partitions of all methods of a program in one call, instead of one
 * call of `compile` each: for plugins that share kernels or merge weights across methods.
 */
#ifndef BP_EXT_COMPILE_ALL_H_
#define BP_EXT_COMPILE_ALL_H_
#include "../lower.h"
#ifdef __cplusplus
extern "C" {
#endif

#define BP_EXT_COMPILE_ALL "bp.compile_all/1"

typedef struct bp_compile_all {
  uint32_t struct_size, reserved;
  /* `parts`: what `compile` would get, each with a sink of its own, methods in the program's order.
   * Results for one part must not depend on the others but in how data are shared.
   * [one at a time] */
  int32_t (*compile_all)(bp_backend_t*, const bp_lower_t* const* parts, uint32_t count);
} bp_compile_all_t;

#ifdef __cplusplus
}
#endif
#endif
