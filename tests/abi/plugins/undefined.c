/* A plugin that uses a function which nobody defines. */
#include "minimal.h"

int32_t nobody_defines_this(void);

static int32_t create(const bp_host_t* host, bp_array_t options, bp_backend_t** out) {
  (void)host, (void)options, (void)out;
  return nobody_defines_this();
}

MINIMAL_PLUGIN("undefined")
