#include "common/nearest.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace backplane {
namespace {

TEST_SUITE("core/nearest") {
  TEST_CASE("the nearest name is found within a third of the letters") {
    const std::vector<std::string_view> names = {"data_name",     "data_placement", "fast_math",
                                                 "target_device", "lower",          "run"};
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"data_nam", "data_name"},
        {"dataname", "data_name"},
        {"Data-Name", "data_name"},
        {"fast_mtah", "fast_math"},
        {"lowre", "lower"},
        {"rnu", "run"},
        {"runn", "run"},
        {"device", ""},
        {"", ""},
        {"zzz", ""},
        {"target_devise", "target_device"},

        {"LOWER", "lower"},
        {"x", ""},
    };
    for (const auto& [name, expected] : cases) {
      CAPTURE(name);
      CHECK(nearest(name, names) == expected);
    }
    CHECK(nearest("x", {}).empty());
    CHECK(nearest(std::string(1000000, 'a'), names).empty());
  }

  TEST_CASE("the end of a message names it, or there is none") {
    const std::vector<std::string_view> names = {"lower"};
    CHECK(did_you_mean("lowr", names) == "; did you mean 'lower'?");
    CHECK(did_you_mean("inspect", names).empty());
  }
}

}  // namespace
}  // namespace backplane
