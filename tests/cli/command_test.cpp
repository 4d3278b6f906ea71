// The command from outside: exit codes, what goes to stdout and what to stderr.
#include "command.hpp"

#include <simdjson.h>

#include <algorithm>

namespace backplane::cli {
namespace {

const std::string kDigits = "../../examples/digits/digits.pt2";
const std::vector<std::string> kVerbs = {"lower", "run", "verify", "inspect", "check", "plugins"};

TEST_SUITE("cli/command") {
  TEST_CASE("wrong usage exits with 64 and one line that names what is wrong") {
    const std::pair<std::vector<std::string>, const char*> cases[] = {
        {{}, "no verb"},
        {{"lowre"}, "unknown verb 'lowre'; did you mean 'lower'?"},
        {{"help", "inspct"}, "did you mean 'inspect'?"},
        {{"--verbose"}, "unknown verb '--verbose'"},
        {{"lower"}, "no program is given"},
        {{"lower", "x.pt2", "--bakend", "cpu"},
         "unknown option '--bakend'; did you mean '--backend'?"},
        {{"lower", "x.pt2", "y.pt2"}, "'y.pt2' is one word too many"},
        {{"lower", "x.pt2", "--spec", "fast"}, "[PLUGIN:]KEY=VALUE"},
        {{"lower", "x.pt2", "--bound", "s0"}, "SYMBOL=N"},
        {{"lower", "x.pt2", "-b", "none", "-b", "cpu"}, "stands alone"},
        {{"run"}, "something is missing"},
        {{"run", "x.pte", "--image-size", "8"}, "HEIGHTxWIDTH"},
        {{"run", "x.pte", "--repeat", "0"}, "1 or more"},
        {{"verify"}, "something is missing"},
        {{"verify", "x.pte"}, "--case"},
        {{"verify", "x.pte", "--case", "y.npz", "--tolerance", "-1"}, "0 or more"},
        {{"verify", "x.pte", "-c", "y.npz", "-b", "cpu"}, "--backend is for lowering"},
        {{"inspect"}, "something is missing"},
        {{"plugins", "shw", "cpu"}, "did you mean 'show'?"},
        {{"plugins", "show"}, "which plugin"},
    };
    for (const auto& [words, text] : cases) {
      CAPTURE(text);
      const Outcome outcome = command(words);
      CAPTURE(outcome.err);
      CHECK(outcome.code == 64);
      CHECK(outcome.out.empty());
      CHECK(outcome.err.find(text) != std::string::npos);
      CHECK(outcome.err.starts_with("backplane: "));
      CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    }
  }

  TEST_CASE("what is refused exits with 1, verify with 2, naming the file") {
    const Folder folder("backplane_refused_");
    std::ofstream(folder / "bad.pte") << "not a program at all, but longer than a header is";
    std::ofstream(folder / "bad.pt2") << "PK";
    std::ofstream(folder / "bad.ptd") << "";
    const std::pair<std::vector<std::string>, int> cases[] = {
        {{"lower", folder / "none.pt2"}, 1},
        {{"lower", folder / "bad.pt2"}, 1},
        {{"run", folder / "none.pte"}, 1},
        {{"run", folder / "bad.pte"}, 1},
        {{"run", "x.pte", "-i", folder / "none.npy"}, 1},
        {{"verify", folder / "bad.pt2", "--case", "tensors/stored.npz"}, 2},
        {{"verify", folder / "bad.pte", "--case", "tensors/stored.npz"}, 2},
        {{"verify", "x.pte", "--case", folder / "none.npz"}, 2},
        {{"inspect", folder / "none.pt2"}, 1},
        {{"inspect", folder / "bad.pt2"}, 1},
        {{"inspect", folder / "bad.pte"}, 1},
        {{"inspect", folder / "bad.ptd"}, 1},
        {{"inspect", folder / "x.txt"}, 1},
        {{"plugins", "show", folder / "none.so"}, 1},
    };
    for (const auto& [words, code] : cases) {
      const Outcome outcome = command(words);
      CAPTURE(outcome.err);
      CHECK(outcome.code == code);
      CHECK(outcome.out.empty());
      CHECK(outcome.err.find(folder.path.string()) != std::string::npos);
      CHECK(std::count(outcome.err.begin(), outcome.err.end(), '\n') == 1);
    }
    CHECK(command({"lower", kDigits, "-b", "cpuu"}).err.find("'cpuu'") != std::string::npos);
  }

  TEST_CASE("help is for every verb, and has an example") {
    CHECK(command({"--version"}).out.starts_with("backplane "));
    const std::string page = command({"help"}).out;
    CHECK(command({"--help"}).out == page);
    for (const std::string& verb : kVerbs) {
      CHECK(page.find("\n  " + verb) != std::string::npos);
      const Outcome outcome = command({verb, "--help"});
      CHECK(outcome.code == 0);
      CHECK(outcome.err.empty());
      CHECK(outcome.out.find("\nexample:\n  backplane " + verb) != std::string::npos);
      CHECK(command({"help", verb}).out == outcome.out);
    }
  }

  TEST_CASE("a standard output that takes nothing is an error, not a signal") {
    const Outcome outcome = command({"help"}, "/dev/full");
    CHECK(outcome.code == 1);
    CHECK(outcome.err == "backplane: cannot write to the standard output\n");
  }

  TEST_CASE("inspect says a program's inputs and outputs, as text and as one line of JSON") {
    const Outcome text = command({"inspect", kDigits});
    CHECK(text.code == 0);
    CHECK(text.out.find("in.0") != std::string::npos);
    CHECK(text.out.find("out.0") != std::string::npos);
    CHECK(text.out.find("aten::conv2d") != std::string::npos);
    CHECK(command({"inspect", kDigits, "--quiet"}).out.empty());
    const Outcome json = command({"inspect", kDigits, "--json"});
    CHECK(std::count(json.out.begin(), json.out.end(), '\n') == 1);
    simdjson::dom::parser parser;
    std::string_view key;
    CHECK(parser.parse(json.out)["inputs"].at(0)["key"].get(key) == simdjson::SUCCESS);
    CHECK(key == "in.0");
  }

  TEST_CASE("plugins are listed without being opened, with the folders looked in") {
    const Outcome text = command({"plugins"});
    CHECK(text.code == 0);
    CHECK(text.out.find("looked in ") != std::string::npos);
    simdjson::dom::parser parser;
    simdjson::dom::array folders;
    CHECK(parser.parse(command({"plugins", "--json"}).out)["folders"].get(folders) ==
          simdjson::SUCCESS);
    CHECK(folders.size() > 0);
  }
}

}  // namespace
}  // namespace backplane::cli
