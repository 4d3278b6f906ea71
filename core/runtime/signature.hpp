// `backplane.signature/1`: the named datum of a `.pte` that holds what ExecuTorch's own tables
// don't say of its methods: names, and how sizes depend on each other. JSON; members with the value
// in brackets are left out:
//
//   {"methods": [{
//     "name": "forward",
//     "symbols": [{"name": "s0", "min": 1, "max": 512, "multiple": 8}],      [0, none, 1]
//     "inputs":  [{"name": "x", "dims": [{"symbol": 0, "scale": 2, "offset": 1}, 8, null]},
//                 {"name": "cache", "written": 12},                          [-1]
//                 {"name": "n", "number": {"symbol": 0}}],
//     "outputs": [{"name": "y", "dims": [{"symbol": 0}]}]}]}
#pragma once

#include <backplane/result.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/named_data.hpp"

namespace backplane::runtime {

inline constexpr std::string_view kSignatureKey = "backplane.signature/1";

// A number that is the same wherever it is named in one call. `min` and `max` are inclusive.
struct SymbolRule {
  std::string name;
  int64_t min = 0;
  int64_t max = std::numeric_limits<int64_t>::max();
  int64_t multiple_of = 1;  // 1 or more
  friend bool operator==(const SymbolRule&, const SymbolRule&) = default;
};

// A size or number that is scale * symbol + offset. Without a symbol it is `offset` if scale is 0
// (the JSON has that number then), else only what the file's tensor says holds (null).
struct DimRule {
  int32_t symbol = -1;  // into MethodSignature::symbols
  int64_t scale = 1;    // with a symbol, 1 or more
  int64_t offset = 0;

  [[nodiscard]] static DimRule fixed(int64_t size) { return {-1, 0, size}; }
  [[nodiscard]] bool is_fixed() const { return scale == 0; }
  friend bool operator==(const DimRule&, const DimRule&) = default;
};

// An input or output, in the order of pte::Plan::inputs or outputs.
struct SlotSignature {
  std::string name;           // as the exported program calls it; may be empty
  std::vector<DimRule> dims;  // of a tensor: one a dimension, or none at all
  // Of an input that is a number: set if any number may be given (that obeys the rule). Not set: it
  // must equal the one that the file has, as ExecuTorch wants it.
  std::optional<DimRule> number;
  // Of an input that the method writes: the value (pte::ValueIndex) that holds what it became when
  // the method is done; may be the input itself. -1: not written.
  int32_t written = -1;
  friend bool operator==(const SlotSignature&, const SlotSignature&) = default;
};

struct MethodSignature {
  std::string name;
  std::vector<SymbolRule> symbols;
  std::vector<SlotSignature> inputs;
  std::vector<SlotSignature> outputs;
  friend bool operator==(const MethodSignature&, const MethodSignature&) = default;
};

struct Signature {
  std::vector<MethodSignature> methods;
  friend bool operator==(const Signature&, const Signature&) = default;
};

// The JSON text, for the `.pte`.
[[nodiscard]] std::string write(const Signature& signature);

// Numbers are in the ranges above and symbols exist; whether it fits the program is for the loader
// to see. Members that are not known are skipped. invalid_argument: anything else.
[[nodiscard]] Result<Signature> read_signature(Bytes json);

}  // namespace backplane::runtime
