#include "cuda/compiler/compiler.hpp"

#include "cuda/compiler/architectures.hpp"
#include "cuda/compiler/images.hpp"
#include "cuda/compiler/nvrtc.hpp"
#include "cuda/compiler/plan_builder.hpp"
#include "cuda/compiler/program.hpp"

namespace backplane::cuda::compiler {
namespace {

std::string description(const Plan& plan) {
  const auto count = [](size_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  const size_t setup = plan.summary[0].num_setup_steps;
  return count(plan.steps.size() - setup, "step") + ", " + std::to_string(setup) +
         " at load: " + count(plan.launches.size(), "call") + " of " +
         count(plan.kernels.size(), "kernel") + ", " + count(plan.gemms.size(), "product") + ", " +
         count(plan.convolutions.size(), "convolution");
}

}  // namespace

Status validate(const sdk::Options& options) {
  BP_ASSIGN_OR_RETURN(const std::string_view list, options.get<std::string_view>("gpu_arch", {}));
  BP_TRY(parse_architectures(list));
  return Ok{};
}

Status partition(const sdk::LowerRequest& request, const sdk::Claims& claims) {
  Program program(request.graph);
  std::vector<int32_t> taken;
  int32_t index = 0;
  for (const bp_node_t& node : request.graph.nodes()) {
    const bool is_foreign = (node.flags & BP_NODE_TAKEN) != 0;
    const Status status = is_foreign ? Status(Ok{}) : program.add(index);
    if (!is_foreign && status.ok()) {
      taken.push_back(index);
    } else {
      program.add_foreign(index);
    }
    if (!status.ok()) claims.refuse(index, status.error().message);
    ++index;
  }
  return claims.take(taken);
}

Status compile(sdk::Host host, const sdk::LowerRequest& request, const sdk::Emitter& emitter) {
  BP_ASSIGN_OR_RETURN(const std::string_view list,
                      request.options.get<std::string_view>("gpu_arch", {}));
  BP_ASSIGN_OR_RETURN(const std::vector<Architecture> architectures, parse_architectures(list));
  BP_ASSIGN_OR_RETURN(const std::string_view precision,
                      request.options.get<std::string_view>("precision", "ieee"));
  BP_ASSIGN_OR_RETURN(const Nvrtc nvrtc, Nvrtc::open());
  Program program(request.graph);
  int32_t index = 0;
  for (const bp_node_t& node : request.graph.nodes()) {
    if (auto status = program.add(index++); !status.ok())
      return host.at(node, std::move(status).error().in(sdk::view(node.name)));
  }
  BP_ASSIGN_OR_RETURN(Planned planned,
                      make_plan(program, {precision == "tf32" ? Compute::tf32 : Compute::f32,
                                          sdk::view(request.raw.method)}));
  BP_TRY(add_images(nvrtc, architectures, planned));
  for (const int32_t weight : planned.weights) BP_TRY(emitter.constant(weight, 256));
  if (auto sound = check_plan(view_of(planned.plan)); !sound.ok())
    return Error{Code::internal, "the plan is not sound: " + sound.error().message};
  BP_TRY(emitter.description(description(planned.plan)));
  return emitter.payload(write_payload(planned.plan), 256);
}

}  // namespace backplane::cuda::compiler
