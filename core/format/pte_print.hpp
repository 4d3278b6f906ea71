// A method of a `.pte` as text for people, one line an instruction:
//
//   12  aten::add.out(%4, encoder.weight, 1.0) -> %7: float32[1, 64]   @ model.py:120
//   13  jump to 17 unless %8
//
// Inputs and outputs are called in.K and out.K by place, constants by their name.
#pragma once

#include <string>
#include <vector>

#include "format/pte.hpp"

namespace backplane::pte {

[[nodiscard]] std::vector<std::string> print_instructions(const Plan& plan);

}  // namespace backplane::pte
