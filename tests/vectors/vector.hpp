// One program of an operator archive, and what became of it.
#pragma once

#include <backplane/plugin_source.hpp>
#include <backplane/result.hpp>

#include <string>
#include <vector>

namespace backplane::vectors {

struct Vector {
  std::string op;     // "nn.functional.relu", the folder
  std::string dtype;  // "float32", as the file's name begins
  std::string stem;   // path without extension
  bool core = false;  // every operator of it is core ATen
};

enum class Verdict : char {
  passed = 'p',
  wrong = 'w',
  refused = 'r',  // lowering or loading said no, before anything ran
  failed = 'f',   // it began to run, and then said no
  crashed = 'c',
};

struct Outcome {
  Verdict verdict = Verdict::crashed;
  std::string reason;
};

// Every NAME.pt2 with a NAME.safetensors below `folder`, in order of names. invalid_argument: there
// is none, or one without the "case" that says what it is.
[[nodiscard]] Result<std::vector<Vector>> find_vectors(const std::string& folder);

// Lowers it for `backends` (none: kernels alone) into `scratch`, runs it on its inputs and compares
// with PyTorch's outputs, by the rule of `backplane verify` and the one of ties.hpp.
[[nodiscard]] Outcome judge(PluginSource& plugins, const std::vector<std::string>& backends,
                            const Vector& vector, const std::string& scratch);

}  // namespace backplane::vectors
