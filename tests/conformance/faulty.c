/* A plugin with one fault, which FAULT names; without it, a good one. */
#include <backplane/plugin.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum fault { NONE, LEAK, CRASH, OPEN_FILE, HANG, EXTENSION, HOST, EXIT, LOADS, DEFAULT, NO_DOC };
#ifndef FAULT
#define FAULT NONE
#endif

struct bp_backend {
  const bp_host_t* host;
};

__attribute__((constructor)) static void loaded(void) {
  if (FAULT == OPEN_FILE && open("/dev/null", O_RDONLY) < 0) abort();
}

static void* volatile lost;

static void at_exit(void) {
  raise(SIGSEGV);
}

static int32_t create(const bp_host_t* host, bp_array_t options, bp_backend_t** out) {
  const bp_str_t text = BP_TEXT("created");
  (void)options;
  if (FAULT == CRASH) abort();
  if (FAULT == HANG) sleep(1000);
  if (FAULT == HOST) host->log(host, BP_LOG_DEBUG, text);
  if (FAULT == EXIT) atexit(at_exit);
  if (FAULT == LEAK) lost = malloc(1000);
  *out = malloc(sizeof(bp_backend_t));
  if (*out == NULL) return BP_OUT_OF_MEMORY;
  (*out)->host = host;
  return BP_OK;
}

static void destroy(bp_backend_t* backend) {
  free(backend);
}

static int32_t load(bp_backend_t* backend, const bp_load_t* request, bp_program_t** out) {
  const bp_str_t reason = BP_TEXT("the payload is not of this backend");
  (void)request;
  if (FAULT != LOADS) return backend->host->fail(backend->host, BP_INVALID_ARGUMENT, 0, reason);
  *out = (bp_program_t*)backend;
  return BP_OK;
}
static void unload(bp_program_t* program) {
  (void)program;
}
static int32_t instance_create(bp_program_t* program, const bp_instance_args_t* args,
                               bp_instance_t** out) {
  (void)program, (void)args, (void)out;
  return BP_UNSUPPORTED;
}
static void instance_destroy(bp_instance_t* instance) {
  (void)instance;
}
static int32_t execute(bp_instance_t* instance, const bp_run_t* run) {
  (void)instance, (void)run;
  return BP_UNSUPPORTED;
}

static const void* extension(bp_backend_t* backend, bp_str_t id) {
  (void)id;
  return FAULT == EXTENSION ? backend : NULL;
}

static const bp_option_t options[] = {{
    .name = BP_TEXT("level"),
    .doc = {FAULT == NO_DOC ? NULL : "how much", FAULT == NO_DOC ? 0 : 8},
    .dflt = {FAULT == DEFAULT ? "9" : "1", 1},
    .type = BP_OPT_INT,
    .phases = BP_PHASE_CREATE,
    .min = 0,
    .max = 3,
}};

BP_EXPORT const bp_plugin_t backplane_plugin_v1 = {
    .magic = BP_MAGIC,
    .struct_size = sizeof(bp_plugin_t),
    .abi_minor = BP_ABI_MINOR,
    .build_flags = BP_BUILD_FLAGS,
    .data_placement = BP_DATA_INLINE,
    .name = BP_TEXT("faulty"),
    .version = BP_TEXT("1.0"),
    .options = {options, 1, sizeof(bp_option_t)},
    .create = create,
    .destroy = destroy,
    .load = load,
    .unload = unload,
    .instance_create = instance_create,
    .instance_destroy = instance_destroy,
    .execute = execute,
    .extension = extension,
};
