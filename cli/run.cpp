// `backplane run`.
#include <algorithm>
#include <chrono>
#include <numeric>

#include <backplane/plugins.hpp>

#include "method_io.hpp"
#include "program_runner.hpp"
#include "tensors/tensor_file.hpp"
#include "verbs.hpp"

namespace backplane::cli {
namespace {

constexpr Option kOptions[] = {
    {"input,i", Takes::many, "[KEY=]FILE",
     "tensors for the inputs; KEY is in.K or an input's name"},
    {"output,o", Takes::one, "FILE", "write the outputs to .npz, .safetensors or .npy"},
    {"method,m", Takes::one, "NAME", "method to run (default: forward, or the only one)"},
    {"image-size", Takes::one, "HxW", "resize images to this"},
    {"repeat", Takes::one, "N", "execute N times and say how long each took"},
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
    const auto start = std::chrono::steady_clock::now();
    BP_ASSIGN_OR_RETURN(outcome.result, execute(runner.method, inputs));
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    outcome.best_ms = i == 0 ? took.count() : std::min(outcome.best_ms, took.count());
  }
  return outcome;
}

// "class 7: 0.999975", the largest first, for each row of the last dimension.
void print_classes(const Console& console, const TensorView& view, int64_t top) {
  if (view.dtype != DType::f32 || view.sizes.empty() || !view.is_contiguous()) return;
  const int64_t classes = view.sizes.back();
  const int64_t rows = classes == 0 ? 0 : view.numel() / classes;
  const auto* scores = static_cast<const float*>(view.data);
  std::vector<int64_t> order(static_cast<size_t>(classes));
  for (int64_t r = 0; r < rows; ++r, scores += classes) {
    std::iota(order.begin(), order.end(), 0);
    const auto count = static_cast<std::ptrdiff_t>(std::min(top, classes));
    std::partial_sort(order.begin(), order.begin() + count, order.end(),
                      [&](int64_t a, int64_t b) { return scores[a] > scores[b]; });
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const int64_t best = order[static_cast<size_t>(i)];
      console.print((rows > 1 ? "row " + std::to_string(r) + ": " : "") + "class " +
                    std::to_string(best) + ": " + std::to_string(scores[best]));
    }
  }
}

void show(const Console& console, const RunCommand& command, const Outcome& outcome) {
  JsonWriter json;
  json.begin_object();
  json.member("program", command.program);
  json.member("method", outcome.info.name);
  json.key("outputs");
  json.begin_array();
  for (const NamedTensor& named : outcome.result.tensors) {
    const TensorView view = named.tensor.view();
    const std::string type = std::string(name_of(view.dtype)) + format_sizes(view.sizes);
    console.print(named.name + "  " + type + "  " + preview(view));
    if (command.top > 0) print_classes(console, view, command.top);
    json.begin_object();
    json.member("key", named.name);
    json.member("type", type);
    json.end_object();
  }
  for (const NamedScalar& scalar : outcome.result.scalars) {
    console.print((scalar.name.empty() ? "output" : scalar.name) + "  " + scalar.text);
    json.begin_object();
    json.member("name", scalar.name);
    json.member("value", scalar.text);
    json.end_object();
  }
  json.end_array();
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

Status write_outputs(const RunCommand& command, const Outcome& outcome) {
  if (command.output.empty()) return Ok{};
  std::vector<NamedView> views;
  for (const NamedTensor& named : outcome.result.tensors)
    views.push_back({named.name, named.tensor.view()});
  return write_tensors(command.output, views);
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
        "input, one with a name is the input in.K or the one called so. Images are NCHW, 0 to 1.",
    .example =
        "backplane run out/digits.pte --input seven.png\n"
        "backplane run out/bert.pte -i ids.npy -i mask=mask.npy -o result.safetensors",
    .options = kOptions,
    .min_positional = 1,
    .max_positional = 1,
    .run = run,
};

}  // namespace backplane::cli
