#include "cuda/compiler/images.hpp"

#include <algorithm>

namespace backplane::cuda::compiler {
namespace {

constexpr size_t kKernelsInModule = 12;

constexpr std::string_view kPrelude =
#include "prelude.inc"
    ;

Text add_text(Plan& plan, std::string_view added) {
  const Text out{static_cast<uint32_t>(plan.text.size()), static_cast<uint32_t>(added.size())};
  plan.text.insert(plan.text.end(), added.begin(), added.end());
  return out;
}

}  // namespace

std::string_view device_prelude() {
  return kPrelude;
}

Status add_images(const Nvrtc& nvrtc, const std::vector<Architecture>& architectures,
                  Planned& planned) {
  Plan& plan = planned.plan;
  plan.summary[0].compiler = add_text(plan, nvrtc.version());
  std::vector<Text> targets;
  for (const Architecture& a : architectures) targets.push_back(add_text(plan, a.name));
  for (size_t first = 0; first < planned.kernels.size(); first += kKernelsInModule) {
    const size_t end = std::min(first + kKernelsInModule, planned.kernels.size());
    std::string source;
    for (size_t k = first; k < end; ++k) {
      source += (k == first ? "" : "\n") + planned.kernels[k];
      plan.kernels[k].module = static_cast<uint32_t>(plan.modules.size());
    }
    const Range images{static_cast<uint32_t>(plan.images.size()),
                       static_cast<uint32_t>(architectures.size())};
    for (size_t a = 0; a < architectures.size(); ++a) {
      const Architecture& to = architectures[a];
      BP_ASSIGN_OR_RETURN(const std::string image,
                          nvrtc.compile(std::string(kPrelude) + "\n" + source, to));
      const auto bytes = std::as_bytes(std::span(image));
      plan.bytes.resize((plan.bytes.size() + 15) / 16 * 16);
      plan.images.push_back({to.kind,
                             to.capability,
                             to.is_exact ? 1U : 0U,
                             0,
                             {plan.bytes.size(), bytes.size()},
                             targets[a]});
      plan.bytes.insert(plan.bytes.end(), bytes.begin(), bytes.end());
    }
    plan.modules.push_back({images, add_text(plan, source)});
  }
  return Ok{};
}

}  // namespace backplane::cuda::compiler
