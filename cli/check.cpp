// `backplane check`: the conformance kit. Prints TAP, so that `meson test` shows each question.
#include "check/checks.hpp"
#include "check/child.hpp"
#include "verbs.hpp"

namespace backplane::cli {
namespace {

constexpr int kTimeoutSeconds = 60;

constexpr Option kOptions[] = {
    {"programs,p", Takes::one, "FOLDER",
     "programs that the backend is tried on: NAME.pt2 with NAME.safetensors"},
    {"timeout", Takes::one, "SECONDS", "for each question (default: 60)"},
};

struct Count {
  int passed = 0;
  int failed = 0;
  int skipped = 0;
};

// TAP gives '#' a meaning, and a line its end.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '#') c = ' ';
  }
  return text;
}

void ask(const Check& check, int number, int timeout_s, const Console& console, Count& count) {
  const Status status = run_in_child(check.run, timeout_s);
  const std::string line = std::to_string(number) + " - " + one_line(check.name);
  if (status.ok()) {
    ++count.passed;
    console.always("ok " + line);
  } else if (status.error().code == Code::unsupported) {
    ++count.skipped;
    console.always("ok " + line + " # SKIP " + one_line(status.error().message));
  } else {
    ++count.failed;
    console.always("not ok " + line + "\n# " + one_line(status.error().message));
  }
}

int run(const Arguments& arguments, Console& console) {
  const auto timeout = arguments.number("timeout", 1);
  if (!timeout.ok()) return console.wrong_usage("check", timeout.error());
  const Target target{arguments.positional()[0]};
  std::vector<Check> checks = lifecycle_checks(target);
  if (arguments.has("programs")) {
    auto programs = program_checks(target, arguments.value("programs"));
    if (!programs.ok()) return console.fail(programs.error());
    for (Check& check : *programs) checks.push_back(std::move(check));
  }
  console.always("1.." + std::to_string(checks.size()));
  Count count;
  for (size_t i = 0; i < checks.size(); ++i) {
    ask(checks[i], static_cast<int>(i + 1), static_cast<int>(timeout->value_or(kTimeoutSeconds)),
        console, count);
  }
  console.always("# " + std::to_string(count.passed) + " passed, " + std::to_string(count.failed) +
                 " failed, " + std::to_string(count.skipped) + " skipped");
  return count.failed == 0 ? kDone : kFailed;
}

}  // namespace

const Verb kCheckVerb = {
    .name = "check",
    .summary = "ask a plugin everything that the contract demands",
    .synopsis = "NAME|PATH [OPTIONS]",
    .description =
        "Opens the plugin, by name or by the path of its library or manifest, and asks it one "
        "question\n"
        "after another, each in a process of its own: life and threads, options, what it says to "
        "damage.\n"
        "With --programs also whether what it takes of each program gives what PyTorch gave, on "
        "other\n"
        "sizes what the kernels give, and survives a damaged payload. What it does not take is "
        "skipped.\n"
        "Prints TAP; exits with 0 if nothing failed.",
    .example =
        "backplane check template\n"
        "backplane check ./build/mine.so --programs tests/data/passes",
    .options = kOptions,
    .min_positional = 1,
    .max_positional = 1,
    .run = run,
};

}  // namespace backplane::cli
