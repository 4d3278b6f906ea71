#include "program_runner.hpp"

#include <utility>

#include "values.hpp"

namespace backplane::cli {

Result<LoadOptions> parse_load(const Arguments& arguments) {
  LoadOptions options;
  options.data_path = arguments.value("data");
  options.verify_hashes = arguments.has("verify");
  for (const std::string& name : arguments.values("kernels"))
    options.kernel_libraries.push_back(name);
  for (const std::string& text : arguments.values("load-spec")) {
    // "plugin:key" stays one key: it is the loader that knows the program's plugins.
    auto spec = parse_spec(text, {});
    if (!spec.ok()) {
      return Error{Code::invalid_argument,
                   "--load-spec is '" + text + "'; it must be [PLUGIN:]KEY=VALUE"};
    }
    options.options.emplace_back(std::move(spec->key), std::move(spec->value));
  }
  return options;
}

Result<Runner> load(const std::string& path, PluginSource& plugins, const LoadOptions& options,
                    const std::string& method, uint64_t seed) {
  BP_ASSIGN_OR_RETURN(Program program, Program::load(path, plugins, options));
  BP_ASSIGN_OR_RETURN(Session session, program.session());
  session.seed(seed);
  const auto methods = program.methods();
  std::string name = method;
  if (name.empty()) name = methods.size() == 1 ? methods[0].name : "forward";
  auto found = session.method(name);
  if (!found.ok()) return std::move(found).error().in(path);
  return Runner{std::move(program), std::move(session), *std::move(found)};
}

}  // namespace backplane::cli
