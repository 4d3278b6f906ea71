// What a file says, one fact a line, as tests/data/make/executorch_files.py prints what
// ExecuTorch's reader finds. Texts are in hex, bytes as the first 16 digits of their SHA-256.
#pragma once

#include <string>

#include "format/ptd.hpp"
#include "format/pte.hpp"

namespace backplane {

std::string describe(const pte::Program& program);
std::string describe(const ptd::DataFile& file);

}  // namespace backplane
