// Files that ExecuTorch wrote: what they need is found or named, and what can be run is.
#include <filesystem>

#include "loaded.hpp"

using namespace backplane;
using namespace backplane::test;

namespace {

// The tests run in tests/data.
std::string at(const std::string& name) {
  return "executorch/" + name;
}

}  // namespace

TEST_SUITE("core/runtime/executorch") {
  TEST_CASE("a program's operators that nobody has are listed by their names there") {
    TestPlugins plugins;
    const auto program = Program::load(at("control.pte"), plugins);
    REQUIRE_FALSE(program.ok());
    CHECK(program.error().code == Code::not_found);
    for (const char* name :
         {"'aten::sum.IntList_out'", "'aten::gt.Scalar_out'", "'aten::cos.out'"}) {
      CHECK(program.error().message.find(name) != std::string::npos);
    }
  }

  TEST_CASE("external weights are found beside the program") {
    TestPlugins plugins;
    const auto program = Program::load(at("external.pte"), plugins);
    REQUIRE_FALSE(program.ok());
    CHECK(program.error().message.find("datum") == std::string::npos);
    CHECK(program.error().message.find("'aten::addmm.out'") != std::string::npos);
  }

  TEST_CASE("a delegate of others is asked for by its id, and its data are there") {
    TestPlugins plugins;
    const auto program = Program::load(at("delegate.pte"), plugins);
    REQUIRE_FALSE(program.ok());
    CHECK(program.error().message.find("delegate 'XnnpackBackend'") != std::string::npos);
    CHECK(program.error().message.find("operator") == std::string::npos);
  }
}
