/* A plugin that is linked with a library that is then not there. */
#include "minimal.h"

int32_t gone(void);

static int32_t create(const bp_host_t* host, bp_array_t options, bp_backend_t** out) {
  (void)host, (void)options, (void)out;
  return gone();
}

MINIMAL_PLUGIN("missing")
