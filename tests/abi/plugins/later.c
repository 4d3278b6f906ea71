/* A plugin of a later minor version: its table and its options are longer than this host knows. */
#include <backplane/plugin.h>
#include <stddef.h>

typedef struct {
  bp_option_t option;
  uint64_t unit;
} later_option_t;

typedef struct {
  bp_plugin_t table;
  int32_t (*later)(bp_backend_t*);
  void (*still_later)(bp_backend_t*);
} later_table_t;

static int32_t create(const bp_host_t* host, bp_array_t options, bp_backend_t** out) {
  (void)options;
  *out = (bp_backend_t*)(uintptr_t)host;
  return BP_OK;
}
static void destroy(bp_backend_t* backend) {
  (void)backend;
}
static int32_t later(bp_backend_t* backend) {
  (void)backend;
  return BP_OK;
}

static const later_option_t options[] = {
    {{.name = BP_TEXT("first"),
      .dflt = BP_TEXT("1"),
      .type = BP_OPT_INT,
      .phases = BP_PHASE_CREATE},
     7},
    {{.name = BP_TEXT("second"),
      .dflt = BP_TEXT("2"),
      .type = BP_OPT_INT,
      .phases = BP_PHASE_CREATE},
     8},
};

/* Under the contract's name, though longer: as a later header would declare it. */
BP_EXPORT extern const later_table_t later_plugin __asm__("backplane_plugin_v1");
const later_table_t later_plugin = {
    .table =
        {
            .magic = BP_MAGIC,
            .struct_size = sizeof(later_table_t),
            .abi_minor = BP_ABI_MINOR + 1,
            .build_flags = BP_BUILD_FLAGS,
            .name = BP_TEXT("later"),
            .version = BP_TEXT("1.0"),
            .options = BP_ARRAY(options),
            .create = create,
            .destroy = destroy,
        },
    .later = later,
};
