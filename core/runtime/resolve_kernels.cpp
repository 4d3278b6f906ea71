// From operators' names to kernels, by name and by what a library says that it supports.
#include <algorithm>

#include "runtime/kernel_context.hpp"
#include "runtime/loaded_program.hpp"
#include "runtime/values.hpp"

namespace backplane::runtime {
namespace {

struct Candidate {
  std::string name;
  uint32_t wanted_flags = 0;  // one of them, if any is set
};

// Kernels that compute an operator. One that works in place is its out form with the first argument
// as output, where the kernel allows that.
std::vector<Candidate> candidates(const pte::Operator& op) {
  const std::string name = full_name(op);
  if (name == "dim_order_ops::_to_dim_order_copy.out") return {{"aten::_to_copy.out"}};
  if (!op.name.ends_with('_') || op.overload.ends_with("out")) return {{name}};
  const std::string base = op.name.substr(0, op.name.size() - 1) + ".";
  // copy reads nothing of its first argument but the shape.
  const uint32_t flags = op.name == "aten::copy_" ? 0 : BP_KERNEL_MAY_ALIAS | BP_KERNEL_IN_PLACE;
  std::vector<Candidate> found;
  if (op.overload.empty() || op.overload == "Tensor") found.push_back({base + "out", flags});
  if (!op.overload.empty()) found.push_back({base + op.overload + "_out", flags});
  found.push_back({name});
  return found;
}

class Resolver {
 public:
  Resolver(MethodPlan& plan, const std::vector<KernelIndex>& libraries)
      : plan_(plan), libraries_(libraries), values_(plan), context_(nullptr, nullptr) {}

  void run(std::vector<std::string>& missing) {
    std::vector<std::string> unknown;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      if (plan_.steps[i].kind != Step::Kind::kernel) continue;
      const auto& call = std::get<pte::KernelCall>(plan_.instructions[i]);
      const pte::Operator& op = plan_.file->operators[static_cast<size_t>(call.op)];
      const std::string name = full_name(op);
      std::string reason;
      plan_.steps[i].kernel = find(op, i, reason);
      if (plan_.steps[i].kernel != nullptr) continue;
      const std::string place = "method '" + plan_.file->name + "', " + plan_.describe(i);
      if (!reason.empty()) {
        missing.push_back("no kernel takes the arguments of " + place + ": " + reason);
      } else if (std::find(unknown.begin(), unknown.end(), name) == unknown.end()) {
        unknown.push_back(name);
        missing.push_back("operator '" + name + "' (" + place + ")");
      }
    }
  }

 private:
  // `reason`: why the last kernel of that name does not take the values.
  const bp_kernel_t* find(const pte::Operator& op, size_t step, std::string& reason) {
    for (const Candidate& candidate : candidates(op)) {
      for (const KernelIndex& library : libraries_) {
        const KernelEntry* entry = library.find(candidate.name);
        if (entry == nullptr) continue;
        const bp_kernel_t& kernel = *entry->kernel;
        if (candidate.wanted_flags != 0 && (kernel.flags & candidate.wanted_flags) == 0) {
          reason = "'" + candidate.name + "' does not work in place";
          continue;
        }
        if (kernel.device_kind != BP_DEV_CPU) {
          reason = "it works on another device than the host";
          continue;
        }
        Status status = context_.supports(kernel, values_.arguments(step));
        if (status.ok()) return &kernel;
        reason = "plugin '" + entry->plugin->name + "': " + status.error().message;
      }
    }
    return nullptr;
  }

  MethodPlan& plan_;
  const std::vector<KernelIndex>& libraries_;
  Values values_;
  KernelContext context_;
};

}  // namespace

void resolve_kernels(MethodPlan& plan, const std::vector<KernelIndex>& libraries,
                     std::vector<std::string>& missing) {
  Resolver(plan, libraries).run(missing);
}

}  // namespace backplane::runtime
