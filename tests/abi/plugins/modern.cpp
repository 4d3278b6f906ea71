// A plugin in C++ that compiles and runs: y = factor * x for float32. Built twice, also with
// another compiler and a C++ library of its own. NAME is its name.
#include <backplane/plugin.hpp>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

namespace sdk = backplane::sdk;
using backplane::Code;
using backplane::Error;
using backplane::Ok;
using backplane::Result;
using backplane::Status;

struct Instance {
  double factor;
  Status execute(const sdk::Run& run) const {
    if (run.cancelled()) return Error{Code::cancelled, "as asked"};
    const bp_tensor_t& x = run.inputs()[0];
    BP_TRY(run.resize(0, {x.shape, static_cast<size_t>(x.ndim)}));
    int64_t count = 1;
    for (int32_t d = 0; d < x.ndim; ++d) count *= x.shape[d];
    const auto* from = static_cast<const float*>(x.data);
    auto* to = static_cast<float*>(run.outputs()[0].data);
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(factor * from[i]);
    return Ok{};
  }
};

struct Program {
  sdk::Datum datum;
  Result<std::unique_ptr<Instance>> instance(const bp_instance_args_t&) const {
    double factor = 0;
    if (datum.bytes().size() != sizeof factor) return Error{Code::incompatible, "no factor"};
    std::memcpy(&factor, datum.bytes().data(), sizeof factor);
    return std::make_unique<Instance>(Instance{factor});
  }
};

struct Modern {
  static constexpr bp_option_t kOptions[] = {{.name = BP_TEXT("factor"),
                                              .doc = BP_TEXT("what to multiply with"),
                                              .dflt = BP_TEXT("2"),
                                              .choices = {},
                                              .type = BP_OPT_FLOAT,
                                              .phases = BP_PHASE_COMPILE,
                                              .min = -10,
                                              .max = 10}};
  static constexpr bp_device_kind_t kDevices[] = {{BP_TEXT("cpu"), BP_DEV_CPU, 0}};
  static constexpr bp_str_t kIds[] = {BP_TEXT("OtherBackend")};
  static constexpr sdk::Info kInfo = {.name = NAME,
                                      .version = "1.0",
                                      .vendor = "tests",
                                      .license = "Apache-2.0",
                                      .options = kOptions,
                                      .device_kinds = kDevices,
                                      .delegate_ids = kIds};

  sdk::Host host;

  static Result<std::unique_ptr<Modern>> create(sdk::Host host, const sdk::Options&) {
    return std::make_unique<Modern>(Modern{host});
  }
  Result<std::vector<bp_device_t>> devices() const {
    bp_device_t device = {};
    device.device = {BP_DEV_CPU, 0};
    device.score = 1;
    device.name = BP_TEXT("this machine");
    return std::vector<bp_device_t>{device};
  }
  Status validate(uint32_t, const sdk::Options& options) const {
    BP_ASSIGN_OR_RETURN(const double factor, options.get("factor", 2.0));
    if (factor == 0) return Error{Code::invalid_argument, "factor 0 makes no sense"};
    return Ok{};
  }
  Status partition(const sdk::LowerRequest& request, const sdk::Claims& claims) const {
    int32_t index = 0;
    for (const bp_node_t& node : request.graph.nodes()) {
      if (sdk::op(node) == "test::scale") {
        BP_TRY(claims.take({&index, 1}));
      } else {
        claims.refuse(index, "not test::scale");
      }
      ++index;
    }
    return Ok{};
  }
  Status compile(const sdk::LowerRequest& request, const sdk::Emitter& emitter) const {
    BP_ASSIGN_OR_RETURN(const double factor, request.options.get("factor", 2.0));
    for (const bp_node_t& node : request.graph.nodes()) {
      if (sdk::op(node) == "test::throw") throw std::runtime_error("thrown in compile");
      if (sdk::op(node) != "test::scale") {
        return host.at(node, {Code::unsupported, "only test::scale"});
      }
    }
    BP_TRY(emitter.datum("factor", std::as_bytes(std::span(&factor, 1)), 8));
    BP_TRY(emitter.payload({}));
    return emitter.fingerprint(NAME " 1.0");
  }
  Result<sdk::Fit> check(std::string_view fingerprint, bp_devref_t) const {
    if (fingerprint == NAME " 1.0") return sdk::Fit{};
    return sdk::Fit{BP_FIT_RECOMPILE, "made by another version"};
  }
  Result<std::unique_ptr<Program>> load(const sdk::LoadRequest& request) const {
    BP_ASSIGN_OR_RETURN(sdk::Datum datum, request.data.get("factor"));
    return std::make_unique<Program>(Program{std::move(datum)});
  }
};

}  // namespace

BP_PLUGIN(Modern)
