/* Every header of the contract, as a plugin's author includes it: in any order, in C and in C++. */
#include <backplane/ext/compile_all.h>
#include <backplane/ext/describe.h>
#include <backplane/ext/kernels.h>
#include <backplane/ext/state.h>
#include <backplane/ext/threads.h>
#include <backplane/ext/tune.h>
#include <backplane/graph.h>
#include <backplane/lower.h>
#include <backplane/option.h>
#include <backplane/plugin.h>
#include <backplane/run.h>
#include <backplane/types.h>

static const bp_str_t name = BP_TEXT("name");
static const bp_kv_t options[] = {{BP_TEXT("key"), BP_TEXT("value")}};
static const bp_array_t array = BP_ARRAY(options);

int use(const bp_host_t* host, const volatile int32_t* cancel);
int use(const bp_host_t* host, const volatile int32_t* cancel) {
  const bp_kv_t* first = BP_AT(bp_kv_t, array, 0);
  return BP_HAS(host, span) && first->key.len == name.len && !bp_cancelled(cancel);
}
