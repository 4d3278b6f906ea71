/* A plugin of the next major version. */
#include <stdint.h>

__attribute__((visibility("default"))) const uint32_t backplane_plugin_v2[64] = {1};
