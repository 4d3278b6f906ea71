// `backplane lower`.
#include <backplane/plugins.hpp>

#include "lower_command.hpp"
#include "signals.hpp"
#include "verbs.hpp"

namespace backplane::cli {
namespace {

constexpr Option kOptions[] = {
    {"output,o", Takes::one, "PATH", "file, or folder, to write to (default: beside the input)"},
    {"name,n", Takes::one, "NAME", "name of the .pte in its folder (default: the input's)"},
    lower_options::kBackend,
    lower_options::kSpec,
    lower_options::kMethod,
    lower_options::kMethodSpec,
    lower_options::kBound,
    lower_options::kRequireAll,
    lower_options::kModel,
    {"force,f", Takes::nothing, "", "replace a .ptd that belongs to another program"},
    {"explain", Takes::nothing, "", "say for each node who took it, or why nobody did"},
    lower_options::kIsolate,
    lower_options::kThreads,
};

void write_method(JsonWriter& json, const MethodReport& method) {
  json.begin_object();
  json.member("name", method.name);
  json.member("nodes", method.num_nodes);
  json.member("delegated", method.num_delegated);
  json.key("partitions");
  json.begin_array();
  for (const auto& [backend, nodes] : method.partitions) {
    json.begin_object();
    json.member("backend", backend);
    json.member("nodes", nodes);
    json.end_object();
  }
  json.end_array();
  json.member("planned_bytes", method.planned_bytes);
  json.member("naive_bytes", method.naive_bytes);
  json.end_object();
}

void print_document(const Console& console, const LowerCommand& command,
                    const LowerReport& report) {
  JsonWriter json;
  json.begin_object();
  json.member("pte", report.pte_path);
  json.member("pte_bytes", report.pte_bytes);
  if (!report.ptd_path.empty()) {
    json.member("ptd", report.ptd_path);
    json.member("ptd_bytes", report.ptd_bytes);
  }
  json.member("backends", command.options.backends);
  json.key("methods");
  json.begin_array();
  for (const MethodReport& method : report.methods) write_method(json, method);
  json.end_array();
  json.member("notes", report.notes);
  if (command.options.explain) json.member("explanation", report.explanation);
  json.end_object();
  console.document(json);
}

void print_report(const Console& console, const LowerCommand& command, const LowerReport& report) {
  for (const std::string& line : report.explanation) console.print(line);
  for (const std::string& note : report.notes) console.print("note: " + note);
  if (command.default_backend) {
    console.print("backend: " + std::string(kDefaultBackend) + ", the default (--backend chooses)");
  }
  for (const MethodReport& method : report.methods) {
    console.print(method.name + ": " + describe(method));
  }
  console.print(report.pte_path + ": " + format_bytes(report.pte_bytes));
  if (!report.ptd_path.empty()) {
    console.print(report.ptd_path + ": " + format_bytes(report.ptd_bytes));
  }
}

Result<LowerCommand> parse(const Arguments& arguments, PluginSource& plugins) {
  const std::string input = arguments.positional().empty() ? "" : arguments.positional()[0];
  BP_ASSIGN_OR_RETURN(LowerCommand command, parse_lower(arguments, input, plugins.names()));
  BP_TRY(add_methods(arguments, command));
  if (command.methods.empty()) {
    return Error{Code::invalid_argument,
                 "no program is given: PROGRAM.pt2, or --method NAME=FILE.pt2"};
  }
  command.options.force = arguments.has("force");
  command.options.explain = arguments.has("explain");
  return command;
}

int run(const Arguments& arguments, Console& console) {
  Plugins plugins = Plugins::standard();
  auto command = parse(arguments, plugins);
  if (!command.ok()) return console.wrong_usage("lower", command.error());
  auto output =
      output_path(command->methods[0].path, arguments.value("output"), arguments.value("name"));
  if (!output.ok()) return console.fail(output.error());
  command->options.output = *std::move(output);
  command->options.cancel = cancel_on_interrupt();
  Result<LowerReport> report = [&] {
    Progress progress(console);
    command->options.progress = [&](double fraction, const std::string& what) {
      progress.show(fraction, what);
    };
    return lower_program(plugins, command->methods, command->options);
  }();
  if (!report.ok()) return console.fail(report.error());
  if (console.json) {
    print_document(console, *command, *report);
  } else {
    print_report(console, *command, *report);
  }
  return kDone;
}

}  // namespace

const Verb kLowerVerb = {
    .name = "lower",
    .summary = "compile a .pt2 program to a .pte and its .ptd",
    .synopsis = "PROGRAM.pt2 [OPTIONS]",
    .description =
        "Compiles a torch.export program through the backends asked for, or the default one, and\n"
        "writes PROGRAM.pte, and its weights to a .ptd beside it. What no backend takes is left "
        "to\n"
        "kernels.",
    .example =
        "backplane lower digits.pt2 --backend cuda --spec data_name=digits_weights -o out/\n"
        "backplane lower prefill.pt2 --method decode=decode.pt2 --name llm",
    .options = kOptions,
    .min_positional = 0,
    .max_positional = 1,
    .run = run,
};

}  // namespace backplane::cli
