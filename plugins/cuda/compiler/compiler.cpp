#include "cuda/compiler/compiler.hpp"

#include "cuda/compiler/architectures.hpp"

namespace backplane::cuda::compiler {

Status validate(const sdk::Options& options) {
  BP_ASSIGN_OR_RETURN(const std::string_view list, options.get<std::string_view>("gpu_arch", {}));
  BP_TRY(parse_architectures(list));
  return Ok{};
}

Status partition(const sdk::LowerRequest& request, const sdk::Claims& claims) {
  for (uint32_t i = 0; i < request.graph.nodes().size(); ++i)
    claims.refuse(static_cast<int32_t>(i), "no operator is compiled yet");
  return Ok{};
}

Status compile(sdk::Host, const sdk::LowerRequest&, const sdk::Emitter&) {
  return Error{Code::unsupported, "nothing is compiled yet"};
}

}  // namespace backplane::cuda::compiler
