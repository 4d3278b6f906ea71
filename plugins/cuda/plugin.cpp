// The CUDA backend: what the table says of it, and who does what.
#include <backplane/plugin.hpp>

#include <array>
#include <memory>

#include "cuda/compiler/compiler.hpp"
#include "cuda/runtime/devices.hpp"
#include "cuda/runtime/instance.hpp"
#include "cuda/runtime/program.hpp"

namespace backplane::cuda {
namespace {

constexpr std::array<bp_option_t, 2> kOptions = {{
    {.name = BP_TEXT("gpu_arch"),
     .doc = BP_TEXT("what to compile for: sm_NN for that GPU, compute_NN for any later one"),
     .dflt = BP_TEXT("sm_80,sm_90a,compute_80"),
     .choices = {},
     .type = BP_OPT_STRING,
     .phases = BP_PHASE_COMPILE,
     .min = 0,
     .max = 0},
    {.name = BP_TEXT("precision"),
     .doc = BP_TEXT("of float32 products and convolutions: ieee, or TensorFloat-32"),
     .dflt = BP_TEXT("ieee"),
     .choices = BP_TEXT("ieee|tf32"),
     .type = BP_OPT_ENUM,
     .phases = BP_PHASE_COMPILE,
     .min = 0,
     .max = 0},
}};
constexpr std::array<bp_device_kind_t, 1> kDevices = {{{BP_TEXT("cuda"), BP_DEV_CUDA, 0}}};

struct Cuda {
  static constexpr sdk::Info kInfo = {.name = "cuda",
                                      .version = BACKPLANE_VERSION,
                                      .vendor = "Backplane",
                                      .license = "Apache-2.0",
                                      .data_placement = BP_DATA_EXTERNAL | BP_DATA_INLINE,
                                      .options = kOptions,
                                      .device_kinds = kDevices,
                                      .kept_ops = compiler::kKeptOps};
  explicit Cuda(sdk::Host given) : host(given), devices_in_use(libraries) {}
  sdk::Host host;
  Libraries libraries;
  Devices devices_in_use;

  static Result<std::unique_ptr<Cuda>> create(sdk::Host host, const sdk::Options&) {
    return std::make_unique<Cuda>(host);
  }
  Status validate(uint32_t phase, const sdk::Options& options) {  // NOLINT: a slot of the table
    return phase == BP_PHASE_COMPILE ? compiler::validate(options) : Status(Ok{});
  }
  Status partition(const sdk::LowerRequest& request, const sdk::Claims& claims) {  // NOLINT: a slot
    return compiler::partition(request, claims);
  }
  Status compile(const sdk::LowerRequest& request, const sdk::Emitter& emitter) {
    return compiler::compile(host, request, emitter);
  }

  Result<std::unique_ptr<Program>> load(const sdk::LoadRequest& request) {
    return Program::load(host, libraries, devices_in_use, request);
  }
  Result<std::vector<bp_device_t>> devices() { return devices_in_use.list(); }
  Result<void*> alloc(const bp_alloc_t& request) { return devices_in_use.alloc(request); }
  void free(bp_devref_t device, void* memory, void* stream) {
    devices_in_use.free(device, memory, stream);
  }
  Status copy(const bp_tensor_t& to, const bp_tensor_t& from, void* stream) {
    return devices_in_use.copy(to, from, stream);
  }
  Result<void*> stream_create(bp_devref_t device) { return devices_in_use.stream_create(device); }
  void stream_destroy(void* stream) { devices_in_use.stream_destroy(stream); }
  Status stream_sync(void* stream) { return devices_in_use.stream_sync(stream); }
  Status event_record(void* stream, void*& event) {
    return devices_in_use.event_record(stream, event);
  }
  Status event_wait(void* stream, void* event) { return devices_in_use.event_wait(stream, event); }
  void event_destroy(void* event) { devices_in_use.event_destroy(event); }
};

}  // namespace
}  // namespace backplane::cuda

BP_PLUGIN(backplane::cuda::Cuda)
