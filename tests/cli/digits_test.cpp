// The quickstart: a trained network is lowered, run on a picture and verified, with kernels alone.
#include <simdjson.h>

#include <algorithm>
#include <vector>

#include "command.hpp"
#include "tensors/tensor_file.hpp"

namespace backplane::cli {
namespace {

const std::string kExample = "../../examples/digits/";

// The digits network as a .pte in `folder`.
std::string lower_digits(const Folder& folder) {
  const Outcome outcome = command(
      {"lower", kExample + "digits.pt2", "--backend", "none", "-o", folder.path.string() + "/"});
  REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
  return folder / "digits.pte";
}

TEST_SUITE("cli/digits") {
  TEST_CASE("a lowered network knows the digit in a picture") {
    const Folder folder("backplane_digits_");
    const std::string program = lower_digits(folder);
    const Outcome text = command({"run", program, "-i", kExample + "seven.png", "--top", "1"});
    REQUIRE_MESSAGE(text.code == 0, text.err);
    CHECK(text.out.find("\nclass 7: 0.99") != std::string::npos);

    const std::string result = folder / "result.npz";
    REQUIRE(command({"run", program, "-i", "in.0=" + kExample + "seven.png", "-o", result, "-q"})
                .out.empty());
    const auto tensors = read_tensors(result);
    REQUIRE(tensors.ok());
    REQUIRE(tensors->size() == 1);
    CHECK((*tensors)[0].name == "out.0");
    const float* scores = (*tensors)[0].tensor.data_as<float>();
    CHECK(std::max_element(scores, scores + 10) - scores == 7);
  }

  TEST_CASE("verify tells PyTorch's results from others, of a .pt2 and of a .pte") {
    const Folder folder("backplane_verify_");
    const std::string program = lower_digits(folder);
    const auto verify = [](std::vector<std::string> words, const std::vector<std::string>& more) {
      words.insert(words.begin(), "verify");
      words.insert(words.end(), more.begin(), more.end());
      return command(words);
    };
    for (const std::vector<std::string>& what :
         {std::vector<std::string>{program}, {kExample + "digits.pt2", "--backend", "none"}}) {
      CAPTURE(what[0]);
      const Outcome same = verify(what, {"--case", "tensors/digits.safetensors"});
      CHECK(same.code == 0);
      CHECK(same.err.empty());
      const Outcome other = verify(what, {"--case", "tensors/digits_wrong.safetensors", "--json"});
      CHECK(other.code == 1);
      CHECK(other.err.find("1 of 1 outputs differ") != std::string::npos);
      simdjson::dom::parser parser;
      simdjson::dom::element tensor;
      REQUIRE(parser.parse(other.out)["tensors"].at(0).get(tensor) == simdjson::SUCCESS);
      CHECK(int64_t(tensor["different_elements"]) == 1);
      CHECK(std::string_view(tensor["text"]).find("[3, 5]") != std::string_view::npos);
      CHECK(verify(what, {"-c", "tensors/digits_wrong.safetensors", "-t", "0.1"}).code == 0);
      CHECK(verify(what, {"--case", "tensors/stored.npz"})
                .err.starts_with("backplane: tensors/stored.npz: 'a' is no input"));
    }
    CHECK(command({"verify", program, "--case", "tensors/stored.npz"}).code == 2);
  }

  TEST_CASE("what does not fit the program is refused with the input's name") {
    const Folder folder("backplane_unfit_");
    const std::string program = lower_digits(folder);
    const std::pair<std::vector<std::string>, const char*> cases[] = {
        {{}, "no tensor is given for in.0 (image)"},
        {{"-i", "in.1=tensors/gray.png"}, "'in.1' is no input"},
        {{"-i", "tensors/rgb.png"}, "image"},
        {{"-i", "tensors/gray.png"}, "image"},  // 9 x 13, and 8 x 8 is wanted
        {{"-i", "tensors/int16.npy"}, "image"},
        {{"-i", kExample + "seven.png", "--method", "forwrd"}, "forwrd"},
        {{"-i", kExample + "seven.png", "--data", folder / "none.ptd"}, "none.ptd"},
    };
    for (const auto& [more, text] : cases) {
      std::vector<std::string> words = {"run", program};
      words.insert(words.end(), more.begin(), more.end());
      const Outcome outcome = command(words);
      CAPTURE(outcome.err);
      CHECK(outcome.code == 1);
      CHECK(outcome.out.empty());
      CHECK(outcome.err.find(text) != std::string::npos);
    }
    CHECK(command({"run", program, "-i", "tensors/gray.png", "--image-size", "8x8"}).code == 0);
  }

  TEST_CASE("lower's report says where things are, in JSON too, and inspect agrees") {
    const Folder folder("backplane_report_");
    const Outcome outcome = command({"lower", kExample + "digits.pt2", "--backend", "none",
                                     "--name", "net", "-o", folder.path.string(), "--json"});
    REQUIRE_MESSAGE(outcome.code == 0, outcome.err);
    simdjson::dom::parser parser;
    simdjson::dom::element report;
    REQUIRE(parser.parse(outcome.out).get(report) == simdjson::SUCCESS);
    CHECK(std::string_view(report["pte"]) == folder / "net.pte");
    CHECK(std::string_view(report["ptd"]) == folder / "net.ptd");
    CHECK(uint64_t(report["ptd_bytes"]) == std::filesystem::file_size(folder / "net.ptd"));
    const Outcome pte = command({"inspect", folder / "net.pte"});
    CHECK(pte.code == 0);
    CHECK(pte.out.find("in.0") != std::string::npos);
    CHECK(pte.out.find("in net.ptd") != std::string::npos);
    CHECK(pte.out.find("float32[s40 in 1...512, 1, 8, 8]") != std::string::npos);
    CHECK(pte.out.find("aten::convolution.out(") == std::string::npos);
    const Outcome graph = command({"inspect", folder / "net.pte", "--graph"});
    CHECK(graph.out.find("     0  aten::convolution.out(in.0, features.0.weight, ") !=
          std::string::npos);
    CHECK(graph.out.find(" -> out.0: float32[512, 10]") != std::string::npos);
    CHECK(command({"inspect", folder / "net.ptd"}).out.find("\nset ") != std::string::npos);
  }
}

}  // namespace
}  // namespace backplane::cli
