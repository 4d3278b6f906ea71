// The quickstart's network: lowered through a backend, as right as the README says on images that
// it has not seen.
#include <doctest/doctest.h>

#include <unistd.h>
#include <algorithm>
#include <backplane/lower.hpp>
#include <backplane/plugins.hpp>
#include <backplane/program.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tensors/tensor_file.hpp"

using namespace backplane;

namespace {

constexpr int kRight = 358;  // of 360: README, examples/digits/make/train.py
constexpr int64_t kBatch = 60;

std::string digits(const std::string& file) {
  return std::string(std::getenv("BACKPLANE_DIGITS")) + "/" + file;
}

struct Lowered {
  std::filesystem::path folder;
  std::string program;
  Lowered()
      : folder(std::filesystem::temp_directory_path() /
               ("backplane-digits-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(folder);
    program = (folder / "digits.pte").string();
  }
  ~Lowered() { std::filesystem::remove_all(folder); }
};

}  // namespace

TEST_SUITE("e2e/digits") {
  TEST_CASE("the accuracy on unseen images is what the README says") {
    Plugins plugins = Plugins::standard();
    const Lowered lowered;
    LowerOptions options;
    options.backends = {"template"};
    options.output = lowered.program;
    const auto report =
        lower_program(plugins, {{"forward", digits("digits.pt2"), "", {}}}, options);
    REQUIRE_MESSAGE(report.ok(), (report.ok() ? "" : report.error().message));
    CHECK(report->methods[0].num_delegated > 0);

    auto program = Program::load(lowered.program, plugins);
    REQUIRE_MESSAGE(program.ok(), (program.ok() ? "" : program.error().message));
    auto session = program->session();
    REQUIRE(session.ok());
    auto method = session->method("forward");
    REQUIRE(method.ok());

    const auto test = cli::read_tensors(digits("test.npz"));
    REQUIRE_MESSAGE(test.ok(), (test.ok() ? "" : test.error().message));
    const auto named = [&](const std::string& name) {
      return std::find_if(test->begin(), test->end(), [&](const auto& t) { return t.name == name; })
          ->tensor.view();
    };
    const TensorView images = named("images");
    const TensorView labels = named("labels");
    const auto count = images.sizes[0];
    REQUIRE(count == 360);
    int right = 0;
    for (int64_t first = 0; first < count; first += kBatch) {
      TensorView batch = images;
      batch.sizes[0] = kBatch;
      batch.data = static_cast<float*>(images.data) + first * 64;
      REQUIRE(method->set_input(0, batch).ok());
      REQUIRE(method->execute().ok());
      const auto out = method->output(0);
      REQUIRE(out.ok());
      for (int64_t i = 0; i < kBatch; ++i) {
        const float* row = static_cast<const float*>(out->data) + i * 10;
        right += std::max_element(row, row + 10) - row ==
                         static_cast<const int64_t*>(labels.data)[first + i]
                     ? 1
                     : 0;
      }
    }
    CHECK(right == kRight);
  }
}
