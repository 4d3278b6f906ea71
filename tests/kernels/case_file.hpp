// Files of kernel calls with the results that PyTorch gave, written by tests/data/make/kernels.py,
// whose opening comment has the layout.
#pragma once

#include <string>
#include <vector>

#include "harness.hpp"

namespace backplane::testing {

struct CaseValue {
  uint32_t kind = BP_BOX_NONE;
  int64_t i = 0;
  double f = 0, imag = 0;
  std::vector<int64_t> ints;
  std::vector<double> doubles;
  std::vector<uint8_t> bools;
  std::string text;
  std::vector<HostTensor> tensors;  // one, or a list
  std::vector<uint8_t> present;     // for each of a list
};

struct Case {
  std::string name;    // "aten::add.out"
  bool fails = false;  // PyTorch refused it
  double rtol = 0, atol = 0;
  std::vector<CaseValue> inputs;
  std::vector<CaseValue> outputs;  // tensors, or lists of them
};

// All cases of a file; empty if there is none.
std::vector<Case> read_cases(const std::string& path);

// What is wrong with `actual`, empty if nothing is. Equal infinities and NaNs agree.
std::string difference(const HostTensor& actual, const HostTensor& expected, double rtol,
                       double atol);

}  // namespace backplane::testing
