#include "arguments.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lower_command.hpp"
#include "verbs.hpp"

namespace backplane::cli {
namespace {

constexpr Option kOptions[] = {
    {"output,o", Takes::one, "PATH", "where to"},
    {"spec,s", Takes::many, "KEY=VALUE", "what"},
    {"count", Takes::one, "N", "how many"},
    {"force,f", Takes::nothing, "", "do it"},
};

const Verb kVerb = {.name = "do",
                    .summary = "does it",
                    .synopsis = "FILE [OPTIONS]",
                    .description = "Does it.",
                    .example = "backplane do x\nbackplane do y",
                    .options = kOptions,
                    .min_positional = 1,
                    .max_positional = 2,
                    .run = nullptr};

Result<Arguments> parse(std::vector<std::string> words) {
  return Arguments::parse(kVerb, words);
}

TEST_SUITE("cli/arguments") {
  TEST_CASE("options come in every usual form, before and after words") {
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"-o", "out", "x"}, {"-oout", "x"}, {"--output", "out", "x"}, {"x", "--output=out"}}) {
      const auto arguments = parse(words);
      REQUIRE_MESSAGE(arguments.ok(), arguments.error().message);
      CHECK(arguments->value("output") == "out");
      CHECK(arguments->positional().size() == 1);
      CHECK_FALSE(arguments->has("force"));
    }
    const auto many = parse({"--spec", "a=b=c", "x", "-s", "d", "-f", "y", "--spec=e"});
    REQUIRE(many.ok());
    CHECK(std::vector<std::string>(many->values("spec").begin(), many->values("spec").end()) ==
          std::vector<std::string>{"a=b=c", "d", "e"});
    CHECK(many->has("force"));
    const auto dashes = parse({"--", "-x", "--output"});
    REQUIRE(dashes.ok());
    CHECK(dashes->positional()[1] == "--output");
  }

  TEST_CASE("what is wrong is named, with the nearest option") {
    const std::pair<std::vector<std::string>, const char*> cases[] = {
        {{"x", "--ouput", "y"}, "do: unknown option '--ouput'; did you mean '--output'?"},
        {{"x", "--out", "y"}, "do: unknown option '--out'"},
        {{"x", "-z"}, "do: unknown option '-z'"},
        {{"x", "--jsno"}, "do: unknown option '--jsno'; did you mean '--json'?"},
        {{}, "do: something is missing: FILE [OPTIONS]"},
        {{"x", "y", "z"}, "do: 'z' is one word too many"},
        {{"x", "-o", "a", "--output", "b"}, "do: --output is given 2 times, once is allowed"},
    };
    for (const auto& [words, message] : cases) {
      const auto result = parse(words);
      REQUIRE_FALSE(result.ok());
      CHECK(result.error().message == message);
    }
    CHECK_FALSE(parse({"x", "-o"}).ok());
    CHECK_FALSE(parse({"x", "-o", ""}).ok());
    CHECK_FALSE(parse({"x", "--force=1"}).ok());
  }

  TEST_CASE("help asks for nothing else") {
    const auto arguments = parse({"--help"});
    REQUIRE(arguments.ok());
    CHECK(arguments->has("help"));
    CHECK(help_of(kVerb).find("-o, --output PATH") != std::string::npos);
    CHECK(help_of(kVerb).find("(repeatable)") != std::string::npos);
    CHECK(help_of(kVerb).find("  backplane do x\n  backplane do y\n") != std::string::npos);
  }

  TEST_CASE("numbers are checked") {
    CHECK_FALSE(parse({"x"})->number("count", 1)->has_value());
    CHECK(**parse({"x", "--count", "3"})->number("count", 1) == 3);
    CHECK(parse({"x", "--count", "0"})->number("count", 1).error().message ==
          "--count is '0'; it must be a whole number of 1 or more");
    CHECK_FALSE(parse({"x", "--count", "3x"})->number("count", 1).ok());
  }

  // What `lower` makes of its words.
  Result<LowerCommand> lower(std::vector<std::string> words,
                             const std::vector<std::string>& available = {"cpu", "cuda"}) {
    BP_ASSIGN_OR_RETURN(const Arguments arguments, Arguments::parse(kLowerVerb, words));
    const std::string input = arguments.positional().empty() ? "" : arguments.positional()[0];
    BP_ASSIGN_OR_RETURN(LowerCommand command, parse_lower(arguments, input, available));
    BP_TRY(add_methods(arguments, command));
    return command;
  }

  TEST_CASE("the default backend is taken when none is asked for, and is there") {
    CHECK(lower({"x.pt2"})->options.backends == std::vector<std::string>{"cpu"});
    CHECK(lower({"x.pt2"})->default_backend);
    CHECK(lower({"x.pt2"}, {"cuda"})->options.backends.empty());
    CHECK(lower({"x.pt2", "-b", "none"})->options.backends.empty());
    CHECK(lower({"x.pt2", "-b", "cuda", "-b", "cpu"})->options.backends ==
          std::vector<std::string>{"cuda", "cpu"});
    CHECK_FALSE(lower({"x.pt2", "-b", "cuda"})->default_backend);
    CHECK_FALSE(lower({"x.pt2", "-b", "none", "-b", "cpu"}).ok());
    CHECK_FALSE(lower({"x.pt2", "-b", "cpu", "-b", "cpu"}).ok());
  }

  TEST_CASE("specs know the backends, wherever they stand") {
    const auto command = lower({"--spec", "cuda:a=b", "--spec", "cpu:c=d", "x.pt2", "-b", "cuda"});
    REQUIRE(command.ok());
    CHECK(command->options.specs[0].plugin == "cuda");
    CHECK(command->options.specs[1].plugin.empty());
    CHECK(command->options.specs[1].key == "cpu:c");
    CHECK(lower({"x.pt2", "-s", "cpu:c=d"})->options.specs[0].plugin == "cpu");
  }

  TEST_CASE("methods have names of their own, and their specs") {
    const auto command =
        lower({"p.pt2", "-m", "decode=d.pt2", "--method-spec", "decode:k=v", "--model", "m",
               "--bound", "s0=8", "--threads", "2", "--require-all"});
    REQUIRE_MESSAGE(command.ok(), command.error().message);
    REQUIRE(command->methods.size() == 2);
    CHECK(command->methods[0].name == "forward");
    CHECK(command->methods[0].path == "p.pt2");
    CHECK(command->methods[1].specs[0].key == "k");
    CHECK(command->methods[1].model == "m");
    CHECK(command->options.bounds.at("s0") == 8);
    CHECK(command->options.num_threads == 2);
    CHECK(command->options.require_all);
    CHECK_FALSE(lower({"p.pt2", "-m", "forward=d.pt2"}).ok());
    CHECK_FALSE(lower({"-m", "a=d.pt2", "-m", "a=e.pt2"}).ok());
    CHECK_FALSE(lower({"p.pt2", "--method-spec", "decode:k=v"}).ok());
  }

  TEST_CASE("every verb has a page with an example") {
    for (const Verb* verb : {&kInspectVerb, &kLowerVerb, &kPluginsVerb, &kRunVerb, &kVerifyVerb}) {
      const std::string page = help_of(*verb);
      CHECK(page.find("\nexample:\n  backplane " + std::string(verb->name)) != std::string::npos);
      CHECK(Arguments::parse(*verb, std::vector<std::string>{"--help"}).ok());
    }
  }
}

}  // namespace
}  // namespace backplane::cli
