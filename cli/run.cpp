// `backplane run`.
#include <algorithm>

#include <backplane/plugins.hpp>

#include "method_io.hpp"
#include "program_runner.hpp"
#include "run_results.hpp"
#include "tensors/tensor_file.hpp"
#include "verbs.hpp"

namespace backplane::cli {
namespace {

constexpr Option kOptions[] = {
    {"input,i", Takes::many, "[KEY=]FILE",
     "tensors for the inputs; KEY is in.K or an input's name; NAME=7 gives a number"},
    {"output,o", Takes::one, "FILE", "write the outputs to .npz, .safetensors or .npy"},
    {"method,m", Takes::one, "NAME", "method to run (default: forward, or the only one)"},
    {"image-size", Takes::one, "HxW", "resize images to this"},
    {"repeat", Takes::one, "N", "execute N times, state carried on, and say the best time"},
    {"top", Takes::one, "N", "the N largest of each row of a float32 output, as classes"},
    load_options::kSeed,
    load_options::kData,
    load_options::kHashes,
    load_options::kLoadSpec,
    load_options::kKernels,
};

struct RunCommand {
  std::string program;
  std::string method;
  std::string output;
  LoadOptions load;
  std::vector<InputFile> inputs;
  int64_t repeat = 1;
  int64_t top = 0;
  int64_t seed = 0;
};

// All that can be told from the words alone; the files of inputs are read after it.
Result<RunCommand> parse(const Arguments& arguments, std::optional<ImageSize>& image_size) {
  RunCommand command{.program = arguments.positional()[0],
                     .method = arguments.value("method"),
                     .output = arguments.value("output")};
  BP_ASSIGN_OR_RETURN(command.load, parse_load(arguments));
  if (arguments.has("image-size")) {
    BP_ASSIGN_OR_RETURN(image_size, parse_image_size(arguments.value("image-size")));
  }
  BP_ASSIGN_OR_RETURN(const auto repeat, arguments.number("repeat", 1));
  BP_ASSIGN_OR_RETURN(const auto seed, arguments.number("seed", 0));
  BP_ASSIGN_OR_RETURN(const auto top, arguments.number("top", 1));
  command.repeat = repeat.value_or(1);
  command.top = top.value_or(0);
  command.seed = seed.value_or(0);
  for (const std::string& text : arguments.values("input")) BP_TRY(parse_input(text));
  return command;
}

struct Outcome {
  MethodInfo info;
  MethodResult result;
  double best_ms = 0;  // of all executions
};

Result<Outcome> execute_all(RunCommand& command, PluginSource& plugins) {
  BP_ASSIGN_OR_RETURN(Runner runner, load(command.program, plugins, command.load, command.method,
                                          static_cast<uint64_t>(command.seed)));
  Outcome outcome{.info = runner.method.info()};
  BP_ASSIGN_OR_RETURN(const auto inputs, assign_inputs(outcome.info, command.inputs));
  for (int64_t i = 0; i < command.repeat; ++i) {
    BP_ASSIGN_OR_RETURN(outcome.result, execute(runner.method, inputs));
    const double took_ms = outcome.result.execute_ms;
    outcome.best_ms = i == 0 ? took_ms : std::min(outcome.best_ms, took_ms);
  }
  return outcome;
}

Status write_outputs(const RunCommand& command, const Outcome& outcome) {
  if (command.output.empty()) return Ok{};
  std::vector<NamedView> views;
  for (const NamedTensor& named : outcome.result.tensors)
    views.push_back({named.name, named.tensor.view()});
  return write_tensors(command.output, views);
}

void show(const Console& console, const RunCommand& command, const Outcome& outcome) {
  JsonWriter json;
  json.begin_object();
  json.member("program", command.program);
  json.member("method", outcome.info.name);
  show_results(console, outcome.result, command.top, json);
  json.member("best_ms", outcome.best_ms);
  if (command.repeat > 1) {
    console.print("best of " + std::to_string(command.repeat) + ": " +
                  std::to_string(outcome.best_ms) + " ms");
  }
  if (!command.output.empty()) {
    console.print("written to " + command.output);
    json.member("written_to", command.output);
  }
  json.end_object();
  if (console.json) console.document(json);
}

int run(const Arguments& arguments, Console& console) {
  std::optional<ImageSize> image_size;
  auto command = parse(arguments, image_size);
  if (!command.ok()) return console.wrong_usage("run", command.error());
  auto inputs = read_inputs(arguments.values("input"), image_size);
  if (!inputs.ok()) return console.fail(inputs.error());
  command->inputs = *std::move(inputs);
  Plugins plugins = Plugins::standard();
  const auto outcome = execute_all(*command, plugins);
  if (!outcome.ok()) return console.fail(outcome.error());
  if (const Status status = write_outputs(*command, *outcome); !status.ok()) {
    return console.fail(status.error());
  }
  show(console, *command, *outcome);
  return kDone;
}

}  // namespace

const Verb kRunVerb = {
    .name = "run",
    .summary = "run a method of a .pte",
    .synopsis = "PROGRAM.pte [OPTIONS]",
    .description =
        "Loads a program and its weights, runs a method once, and prints its outputs. Inputs come "
        "from\n"
        ".npy, .npz, .safetensors, .png, .jpg, .raw and .bin files: a tensor without a name is the "
        "next\n"
        "input, one with a name is the input in.K or the one called so. Images are NCHW, 0 to 1.\n"
        "An input that is a number is given by its name: --input n=7, scale=0.5, causal=true.",
    .example =
        "backplane run out/digits.pte --input seven.png\n"
        "backplane run out/bert.pte -i ids.npy -i mask=mask.npy -o result.safetensors",
    .options = kOptions,
    .min_positional = 1,
    .max_positional = 1,
    .run = run,
};

}  // namespace backplane::cli
