// Throws out of every function, past the contract.
#include <backplane/plugin.h>

#include <stdexcept>

namespace {

template <class... Arguments>
int32_t fails(Arguments...) {
  throw std::runtime_error("from the plugin");
}
template <class... Arguments>
void gives_back(Arguments...) {
  throw 7;
}

int32_t create(const bp_host_t*, bp_array_t options, bp_backend_t** out) {
  static int object = 0;
  if (options.count == 0) throw std::runtime_error("from the plugin");
  *out = reinterpret_cast<bp_backend_t*>(&object);
  return BP_OK;
}
constexpr bp_option_t kOptions[] = {{.name = BP_TEXT("survive"),
                                     .doc = {},
                                     .dflt = {},
                                     .choices = {},
                                     .type = BP_OPT_BOOL,
                                     .phases = BP_PHASE_CREATE,
                                     .min = 0,
                                     .max = 0}};

}  // namespace

constinit const bp_plugin_t backplane_plugin_v1 = {
    .magic = BP_MAGIC,
    .struct_size = sizeof(bp_plugin_t),
    .abi_minor = BP_ABI_MINOR,
    .min_host_minor = 0,
    .build_flags = BP_BUILD_FLAGS,
    .data_placement = BP_DATA_INLINE,
    .name = BP_TEXT("thrower"),
    .version = BP_TEXT("1.0"),
    .vendor = {},
    .license = {},
    .options = BP_ARRAY(kOptions),
    .device_kinds = {},
    .delegate_ids = {},
    .kept_ops = {},
    .create = create,
    .destroy = gives_back,
    .devices = fails,
    .validate = fails,
    .partition = fails,
    .compile = fails,
    .check = fails,
    .load = fails,
    .unload = gives_back,
    .instance_create = fails,
    .instance_destroy = gives_back,
    .execute = fails,
    .finish = fails,
    .alloc = fails,
    .free = gives_back,
    .copy = fails,
    .stream_create = fails,
    .stream_destroy = gives_back,
    .stream_sync = fails,
    .event_record = fails,
    .event_wait = fails,
    .event_destroy = gives_back,
    .extension = nullptr,
};
