#include <algorithm>

#include "runtime/loaded_program.hpp"

namespace backplane::runtime {
namespace {

constexpr size_t kMostListed = 50;

Result<Signature> signature_of(const pte::Program& program) {
  const NamedData* datum = find(program.named_data, kSignatureKey);
  if (datum == nullptr) return Signature{};
  return read_signature(datum->data);
}

bool has_kernels(const MethodPlan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(),
                     [](const Step& step) { return step.kind == Step::Kind::kernel; });
}

Status plan_methods(LoadedProgram& loaded, std::vector<std::string>& missing) {
  BP_ASSIGN_OR_RETURN(const Signature signature, signature_of(loaded.program));
  PlanContext context{loaded.program, loaded.data, loaded.states, loaded.copies, missing};
  for (const pte::Plan& plan : loaded.program.plans) {
    auto planned = plan_method(plan, signature, context);
    if (!planned.ok()) return std::move(planned).error().in("method '" + plan.name + "'");
    loaded.infos.push_back(planned->info);
    loaded.methods.push_back(std::move(planned).value());
  }
  return Ok{};
}

void find_kernels(LoadedProgram& loaded, PluginSource& plugins, const LoadOptions& options,
                  std::vector<std::string>& missing) {
  if (std::none_of(loaded.methods.begin(), loaded.methods.end(), has_kernels)) return;
  std::vector<std::string> problems;
  std::vector<KernelIndex> libraries;
  for (const KernelLibrary& library :
       plugins.kernel_libraries(options.kernel_libraries, problems)) {
    libraries.emplace_back(std::vector{library});
  }
  const size_t before = missing.size();
  for (MethodPlan& plan : loaded.methods) resolve_kernels(plan, libraries, missing);
  if (missing.size() == before) return;
  for (const std::string& problem : problems)
    missing.push_back("a plugin was left out: " + problem);
}

Error lacks(const std::vector<std::string>& missing) {
  std::string text = "the program needs what is not there: ";
  for (size_t i = 0; i < std::min(missing.size(), kMostListed); ++i) {
    text += (i == 0 ? "" : "; ") + missing[i];
  }
  if (missing.size() > kMostListed) {
    text += "; and " + std::to_string(missing.size() - kMostListed) + " more";
  }
  return {Code::not_found, std::move(text)};
}

Status resolve(LoadedProgram& loaded, PluginSource& plugins, const LoadOptions& options) {
  std::vector<std::string> missing;
  BP_TRY(plan_methods(loaded, missing));
  loaded.delegates.find(loaded.program, plugins, missing);
  find_kernels(loaded, plugins, options, missing);
  if (!missing.empty()) return lacks(missing);
  loaded.pool = std::make_unique<ThreadPool>();
  return loaded.delegates.load(loaded.program, loaded.data, options.options,
                               loaded.pool->num_threads());
}

}  // namespace

Status load_program(LoadedProgram& loaded, const std::string& path, PluginSource& plugins,
                    const LoadOptions& options) {
  loaded.path = path;
  BP_ASSIGN_OR_RETURN(loaded.file, MappedFile::open(path));
  BP_ASSIGN_OR_RETURN(loaded.program, pte::read(loaded.file.bytes(), path));
  BP_ASSIGN_OR_RETURN(loaded.data, DataMap::open({path, options.data_path, options.verify_hashes},
                                                 loaded.program.named_data));
  if (Status status = resolve(loaded, plugins, options); !status.ok()) {
    return std::move(status).error().in(path);
  }
  return Ok{};
}

}  // namespace backplane::runtime
