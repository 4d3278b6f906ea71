// What a run over an archive found, as TAP for test runners, JSON for programs, and a page for
// docs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "vector.hpp"

namespace backplane::vectors {

struct Counts {
  int passed = 0, wrong = 0, refused = 0, failed = 0, crashed = 0;
  void add(Verdict verdict);
  [[nodiscard]] int total() const { return passed + wrong + refused + failed + crashed; }
  [[nodiscard]] bool good() const { return wrong == 0 && crashed == 0 && failed == 0; }
};

struct Report {
  std::vector<std::string> backends;
  std::vector<Vector> vectors;
  std::vector<Outcome> outcomes;  // one a vector
};

// One line an operator and dtype; what is wrong, failed or crashed is "not ok", with the case and
// the reason; where all were refused the line is a skip.
void print_tap(const Report& report);
// Counts, core and all, then the cases that did not pass.
[[nodiscard]] std::string to_json(const Report& report);
// The table operator × dtype, as Markdown.
[[nodiscard]] std::string to_markdown(const Report& report);

// Of all, or of the core ones alone.
[[nodiscard]] Counts count(const Report& report, bool core_only);

}  // namespace backplane::vectors
