// `backplane verify`. Its exit codes are its own: 0 same, 1 different, 2 not compared.
#include <cmath>
#include <filesystem>

#include <backplane/plugins.hpp>

#include "lower_command.hpp"
#include "program_runner.hpp"
#include "temporary_folder.hpp"
#include "tensors/tensor_file.hpp"
#include "verbs.hpp"
#include "verify_steps.hpp"

namespace backplane::cli {
namespace {

constexpr Option kOptions[] = {
    {"case,c", Takes::one, "FILE", "inputs and expected outputs: .safetensors or .npz"},
    {"method,m", Takes::one, "NAME", "method to run (default: forward, or the only one)"},
    {"tolerance,t", Takes::one, "T",
     "relative error that floats may have, instead of their type's"},
    lower_options::kBackend,
    lower_options::kSpec,
    lower_options::kBound,
    lower_options::kRequireAll,
    lower_options::kModel,
    lower_options::kIsolate,
    lower_options::kThreads,
    load_options::kSeed,
    load_options::kData,
    load_options::kHashes,
    load_options::kLoadSpec,
    load_options::kKernels,
};

struct VerifyCommand {
  std::string program;
  std::string method;
  LowerCommand lower;  // for a .pt2
  LoadOptions load;
  std::optional<double> tolerance;
  int64_t seed = 0;
};

bool needs_lowering(const std::string& program) {
  return std::filesystem::path(program).extension() == ".pt2";
}

Result<VerifyCommand> parse(const Arguments& arguments, PluginSource& plugins) {
  if (!arguments.has("case")) {
    return Error{Code::invalid_argument, "needs --case FILE: a .safetensors with in.0, out.0, …"};
  }
  for (const char* name :
       {"backend", "spec", "bound", "require-all", "model", "isolate", "threads"}) {
    if (!arguments.has(name) || needs_lowering(arguments.positional()[0])) continue;
    return Error{Code::invalid_argument, "--" + std::string(name) + " is for lowering, and " +
                                             arguments.positional()[0] + " is no .pt2"};
  }
  VerifyCommand command{.program = arguments.positional()[0], .method = arguments.value("method")};
  BP_ASSIGN_OR_RETURN(command.lower, parse_lower(arguments, command.program, plugins.names()));
  BP_ASSIGN_OR_RETURN(command.load, parse_load(arguments));
  BP_ASSIGN_OR_RETURN(const auto seed, arguments.number("seed", 0));
  command.seed = seed.value_or(0);
  if (arguments.has("tolerance")) {
    command.tolerance = parse_real(arguments.value("tolerance"));
    if (!command.tolerance || !(*command.tolerance >= 0) || std::isinf(*command.tolerance)) {
      return Error{Code::invalid_argument, "--tolerance is '" + arguments.value("tolerance") +
                                               "'; it must be a number of 0 or more"};
    }
  }
  return command;
}

Result<std::vector<ComparedTensor>> run_and_compare(const VerifyCommand& command,
                                                    const std::string& path, InputFile expected,
                                                    PluginSource& plugins) {
  BP_ASSIGN_OR_RETURN(Runner runner, load(path, plugins, command.load, command.method,
                                          static_cast<uint64_t>(command.seed)));
  return verify_steps(runner.method, std::move(expected), command.tolerance);
}

Result<std::vector<ComparedTensor>> verify(VerifyCommand& command, const std::string& case_path,
                                           PluginSource& plugins) {
  BP_ASSIGN_OR_RETURN(std::vector<NamedTensor> tensors, read_tensors(case_path));
  InputFile expected{{"", case_path}, std::move(tensors)};
  if (!needs_lowering(command.program)) {
    return run_and_compare(command, command.program, std::move(expected), plugins);
  }
  const TemporaryFolder folder;
  if (folder.path().empty()) {
    return Error{Code::unavailable, "no temporary folder can be made; set TMPDIR to one that can"};
  }
  const std::string path = folder.path() + "/program.pte";
  command.lower.options.output = path;
  BP_TRY(lower_program(plugins, command.lower.methods, command.lower.options));
  auto all = run_and_compare(command, path, std::move(expected), plugins);
  if (!all.ok()) return renamed(std::move(all).error(), path, command.program);
  return all;
}

int run(const Arguments& arguments, Console& console) {
  Plugins plugins = Plugins::standard();
  auto command = parse(arguments, plugins);
  if (!command.ok()) return console.wrong_usage("verify", command.error());
  const std::string expected = arguments.value("case");
  const auto all = verify(*command, expected, plugins);
  if (!all.ok()) return console.fail(all.error(), kNotCompared);
  const size_t different = show_comparisons(console, *all);
  if (different == 0) return kDone;
  console.error(command->program + ": " + std::to_string(different) + " of " +
                std::to_string(all->size()) + " outputs differ from " + expected);
  return kDifferent;
}

}  // namespace

const Verb kVerifyVerb = {
    .name = "verify",
    .summary = "compare a program's outputs with those of PyTorch",
    .synopsis = "PROGRAM.pt2|PROGRAM.pte --case FILE [OPTIONS]",
    .description =
        "Lowers the program (a .pt2), runs it on in.0, in.1 … of the case, and compares "
        "what\n"
        "comes out with out.0, out.1 … of it, or stepN.in.K and stepN.out.K one after another, if "
        "there are\n"
        "such. Exits with 0 if all are the same, 1 if not, 2 if they could not be compared.",
    .example =
        "backplane verify resnet.pt2 --case resnet.safetensors --backend cuda\n"
        "backplane verify out/resnet.pte --case resnet.safetensors --tolerance 1e-3",
    .options = kOptions,

    .min_positional = 1,
    .max_positional = 1,
    .run = run,
};

}  // namespace backplane::cli
