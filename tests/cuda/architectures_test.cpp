// The list that gpu_arch gives.
#include <doctest/doctest.h>

#include "cuda/compiler/architectures.hpp"

namespace backplane::cuda::compiler {
namespace {

TEST_SUITE("cuda/architectures") {
  TEST_CASE("what fits a device best comes first, each once") {
    const auto list = parse_architectures("compute_80,sm_80,sm_90a,sm_80,sm_90");
    REQUIRE(list.ok());
    std::string names;
    for (const Architecture& a : *list) names += a.name + " ";
    CHECK(names == "sm_90a sm_90 sm_80 compute_80 ");
    CHECK((*list)[0].is_exact);
    CHECK((*list)[0].capability == 90);
    CHECK((*list)[3].kind == ImageKind::ptx);
  }

  TEST_CASE("what is no architecture is named") {
    for (const char* bad :
         {"", "sm_", "sm_90x", "90", "sm_80,,sm_90", "sm_80 sm_90", "compute_", "sm_99999999999"}) {
      const auto list = parse_architectures(bad);
      REQUIRE_FALSE(list.ok());
      CHECK(list.error().message.find("gpu_arch") == 0);
    }
    CHECK(parse_architectures("sm_75").error().code == Code::unsupported);
  }
}

}  // namespace
}  // namespace backplane::cuda::compiler
