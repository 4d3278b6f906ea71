// The command: finds the verb, parses its words, and turns the outcome into an exit code.
#include <backplane/result.hpp>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "common/nearest.hpp"
#include "console.hpp"
#include "signals.hpp"
#include "verbs.hpp"

namespace backplane::cli {
namespace {

constexpr const Verb* kVerbs[] = {&kLowerVerb,   &kRunVerb,   &kVerifyVerb,
                                  &kInspectVerb, &kCheckVerb, &kPluginsVerb};

std::string overview() {
  std::string text =
      "usage: backplane VERB [OPTIONS]\n\n"
      "Lowers PyTorch programs through backends that are plugins, and runs what they "
      "made.\n\nverbs:\n";
  for (const Verb* verb : kVerbs) {
    std::string line = std::string("  ") + verb->name;
    line.resize(12, ' ');
    text += line + verb->summary + "\n";
  }
  return text +
         "  help        show this page, or the one of a verb\n\n"
         "example:\n  backplane lower digits.pt2 -o out/\n"
         "  backplane run out/digits.pte --input seven.png\n\n"
         "backplane VERB --help shows a verb's options, backplane --version the version.\n";
}

const Verb* find_verb(std::string_view name) {
  const auto* found = std::find_if(std::begin(kVerbs), std::end(kVerbs),
                                   [&](const Verb* verb) { return verb->name == name; });
  return found == std::end(kVerbs) ? nullptr : *found;
}

int unknown_verb(const Console& console, const std::string& name) {
  std::vector<std::string_view> names = {"help"};
  for (const Verb* verb : kVerbs) names.emplace_back(verb->name);
  return console.wrong_usage(
      "", {Code::invalid_argument, "unknown verb '" + name + "'" + did_you_mean(name, names)});
}

int help(const Console& console, std::span<const std::string> words) {
  if (words.empty()) {
    console.always(overview());
    return kDone;
  }
  const Verb* verb = find_verb(words[0]);
  if (!verb) return unknown_verb(console, words[0]);
  console.always(help_of(*verb));
  return kDone;
}

int run(std::span<const std::string> words) {
  Console console;
  if (words.empty()) {
    return console.wrong_usage("", {Code::invalid_argument, "no verb is given"});
  }
  const std::string& name = words[0];
  const std::span<const std::string> rest = words.subspan(1);
  if (name == "help" || name == "--help" || name == "-h") return help(console, rest);
  if (name == "--version") {
    console.always("backplane " BACKPLANE_VERSION);
    return kDone;
  }
  const Verb* verb = find_verb(name);
  if (!verb) return unknown_verb(console, name);
  const auto arguments = Arguments::parse(*verb, rest);
  if (!arguments.ok()) return console.wrong_usage(name, arguments.error());
  if (arguments->has("help")) return help(console, words.first(1));
  console.quiet = arguments->has("quiet");
  console.json = arguments->has("json");
  return verb->run(*arguments, console);
}

// What was printed must have arrived.
int finish(int code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  std::fputs("backplane: cannot write to the standard output\n", stderr);
  return code == kDone ? kFailed : code;
}

}  // namespace
}  // namespace backplane::cli

int main(int argc, char** argv) {
  using namespace backplane::cli;  // NOLINT(google-build-using-namespace)
  ignore_broken_pipes();
  try {
    const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
    return finish(run(words));
  } catch (const std::exception& error) {
    Console().error(std::string("internal error: ") + error.what());
    return kFailed;
  }
}
