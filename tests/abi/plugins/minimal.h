/* Of plugins that are not to be used, but to fail: a table with a name. */
#ifndef BP_TESTS_MINIMAL_H_
#define BP_TESTS_MINIMAL_H_
#include <backplane/plugin.h>

static int32_t create(const bp_host_t* host, bp_array_t options, bp_backend_t** out);
static void destroy(bp_backend_t* backend) {
  (void)backend;
}

#define MINIMAL_PLUGIN(plugin_name)                                                      \
  BP_EXPORT const bp_plugin_t backplane_plugin_v1 = {.magic = BP_MAGIC,                  \
                                                     .struct_size = sizeof(bp_plugin_t), \
                                                     .build_flags = BP_BUILD_FLAGS,      \
                                                     .name = BP_TEXT(plugin_name),       \
                                                     .version = BP_TEXT("1.0"),          \
                                                     .create = create,                   \
                                                     .destroy = destroy};
#endif
