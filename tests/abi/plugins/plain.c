/* A plugin in plain C: takes every aten::relu and emits one byte for each. */
#include <backplane/plugin.h>
#include <stdlib.h>
#include <string.h>

struct bp_backend {
  const bp_host_t* host;
};

static int32_t create(const bp_host_t* host, bp_array_t options, bp_backend_t** out) {
  (void)options;
  *out = malloc(sizeof(bp_backend_t));
  if (*out == NULL) return BP_OUT_OF_MEMORY;
  (*out)->host = host;
  return BP_OK;
}

static void destroy(bp_backend_t* backend) {
  free(backend);
}

static int is_relu(const bp_node_t* node) {
  static const char name[] = "aten::relu";
  return node->op.len == sizeof name - 1 && memcmp(node->op.ptr, name, node->op.len) == 0;
}

static int32_t partition(bp_backend_t* backend, const bp_lower_t* request) {
  const bp_graph_t* graph = request->graph;
  for (uint32_t i = 0; i < graph->nodes.count; ++i) {
    const bp_node_t* node = BP_AT(bp_node_t, graph->nodes, i);
    const int32_t index = (int32_t)i;
    bp_claim_t claim = {sizeof claim, BP_CLAIM_EACH, &index, 1, 0, {NULL, 0}, 0.0};
    int32_t code = BP_OK;
    if (is_relu(node)) code = backend->host->claim(request->sink, &claim);
    if (code != BP_OK) return code;
  }
  return BP_OK;
}

static int32_t compile(bp_backend_t* backend, const bp_lower_t* request) {
  const bp_host_t* host = backend->host;
  bp_emit_t emit = {sizeof emit, BP_EMIT_PAYLOAD, {NULL, 0}, "r", 1, 1, -1, 0};
  for (uint32_t i = 0; i < request->graph->nodes.count; ++i) {
    const bp_node_t* node = BP_AT(bp_node_t, request->graph->nodes, i);
    const bp_str_t reason = BP_TEXT("only aten::relu");
    int32_t code = BP_OK;
    if (!is_relu(node)) return host->fail(host, BP_UNSUPPORTED, node->debug_id, reason);
    code = host->emit(request->sink, &emit);
    if (code != BP_OK) return code;
  }
  return BP_OK;
}

BP_EXPORT const bp_plugin_t backplane_plugin_v1 = {
    .magic = BP_MAGIC,
    .struct_size = sizeof(bp_plugin_t),
    .abi_minor = BP_ABI_MINOR,
    .build_flags = BP_BUILD_FLAGS,
    .data_placement = BP_DATA_INLINE,
    .name = BP_TEXT("plain"),
    .version = BP_TEXT("1.0"),
    .create = create,
    .destroy = destroy,
    .partition = partition,
    .compile = compile,
};
