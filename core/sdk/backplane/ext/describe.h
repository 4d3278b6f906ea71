/* bp.describe/1: what a payload consists of, for `inspect` and `lower --explain`.
 *
 * Facts come as text: a topic and what there is to say, in the order in which to show them. Topics
 * known to the host: "plan" (one step), "source" (generated code), "kernels" (their number), "note"
 * (such as why two nodes were not fused). Others are shown as they are.
 */
#ifndef BP_EXT_DESCRIBE_H_
#define BP_EXT_DESCRIBE_H_
#include "../types.h"
#ifdef __cplusplus
extern "C" {
#endif

#define BP_EXT_DESCRIBE "bp.describe/1"

typedef struct bp_describe {
  uint32_t struct_size, reserved;
  /* Calls say(arg, topic, text) for each fact, on this thread. No device is needed. [any thread] */
  int32_t (*describe)(bp_backend_t*, const bp_blob_t* payload,
                      void (*say)(void* arg, bp_str_t topic, bp_str_t text), void* arg);
  /* Bytes of device memory that an instance needs beside weights, inputs and outputs, when the
   * inputs have these shapes (data are NULL). [any thread] */
  int32_t (*workspace)(bp_backend_t*, const bp_blob_t* payload, const bp_tensor_t* inputs,
                       uint32_t num_inputs, uint64_t* bytes);
} bp_describe_t;

#ifdef __cplusplus
}
#endif
#endif
