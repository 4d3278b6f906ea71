#include "lower_command.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "values.hpp"

namespace backplane::cli {
namespace {

constexpr std::string_view kNoBackend = "none";

Error wrong(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

Status choose_backends(const Arguments& arguments, std::span<const std::string> available,
                       LowerCommand& command) {
  const std::span<const std::string> given = arguments.values("backend");
  std::vector<std::string>& backends = command.options.backends;
  backends.assign(given.begin(), given.end());
  if (std::find(given.begin(), given.end(), kNoBackend) != given.end()) {
    if (given.size() > 1)
      return wrong("--backend none stands alone: it means kernels for everything");
    backends.clear();
  } else if (given.empty() &&
             std::find(available.begin(), available.end(), kDefaultBackend) != available.end()) {
    backends.emplace_back(kDefaultBackend);
    command.default_backend = true;
  }
  for (auto name = backends.begin(); name != backends.end(); ++name) {
    if (std::find(backends.begin(), name, *name) != name) {
      return wrong("--backend " + *name + " is given twice; give it once");
    }
  }
  return Ok{};
}

}  // namespace

Result<LowerCommand> parse_lower(const Arguments& arguments, const std::string& input,
                                 std::span<const std::string> available) {
  LowerCommand command;
  LowerOptions& options = command.options;
  BP_TRY(choose_backends(arguments, available, command));
  if (!input.empty()) {
    command.methods.push_back(
        {.name = "forward", .path = input, .model = arguments.value("model"), .specs = {}});
  }
  for (const std::string& text : arguments.values("spec")) {
    BP_ASSIGN_OR_RETURN(Spec spec, parse_spec(text, options.backends));
    options.specs.push_back(std::move(spec));
  }
  for (const std::string& text : arguments.values("bound")) BP_TRY(add_bound(text, options.bounds));
  BP_ASSIGN_OR_RETURN(const std::optional<int64_t> threads, arguments.number("threads", 1));
  options.num_threads = static_cast<int>(std::min<int64_t>(threads.value_or(0), 1024));
  options.require_all = arguments.has("require-all");
  options.isolate = arguments.has("isolate");
  return command;
}

Status add_methods(const Arguments& arguments, LowerCommand& command) {
  std::vector<MethodSource>& methods = command.methods;
  for (const std::string& text : arguments.values("method")) {
    BP_ASSIGN_OR_RETURN(MethodSource method, parse_method(text));
    const bool taken = std::any_of(methods.begin(), methods.end(), [&](const MethodSource& other) {
      return other.name == method.name;
    });
    if (taken) {
      return wrong("there are two methods '" + method.name +
                   "' (a file without --method is 'forward'); give each a name of its own");
    }
    methods.push_back(std::move(method));
  }
  for (MethodSource& method : methods) method.model = arguments.value("model");
  for (const std::string& text : arguments.values("method-spec")) {
    BP_TRY(add_method_spec(text, command.options.backends, methods));
  }
  return Ok{};
}

std::string describe(const MethodReport& method) {
  std::string text = std::to_string(method.num_delegated) + " of " +
                     std::to_string(method.num_nodes) + " nodes to ";
  std::map<std::string_view, int> counts;
  for (const auto& [backend, nodes] : method.partitions) ++counts[backend];
  if (counts.empty()) text += "backends";
  for (const auto& [backend, count] : counts) {
    if (backend != counts.begin()->first) text += ", ";
    text += std::string(backend) + " in " + std::to_string(count) +
            (count == 1 ? " partition" : " partitions");
  }
  return text + "; memory " + format_bytes(method.planned_bytes) + " (" +
         format_bytes(method.naive_bytes) + " without sharing)";
}

std::string format_bytes(uint64_t bytes) {
  std::string digits = std::to_string(bytes);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits + (bytes == 1 ? " byte" : " bytes");
}

}  // namespace backplane::cli
