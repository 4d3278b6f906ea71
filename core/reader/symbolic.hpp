// From the expressions of a `.pt2` file to those of a SymbolTable.
//
// A table knows integers alone. Where a file computes a size with floating point (an output size
// from a scale factor), the exact part is turned into integer arithmetic; the rest becomes a symbol
// of its own, named by its text, with the range that follows from its operands'.
#pragma once

#include <backplane/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/symbols.hpp"
#include "reader/expression.hpp"

namespace backplane {

class SymbolicReader {
 public:
  // `symbols` must outlive the reader.
  explicit SymbolicReader(SymbolTable& symbols) : symbols_(symbols) {}

  // Says what the size called `text` can be; to be called before any expression is read, since
  // expressions are simplified by it. Ranges of compound expressions ("2*s0") are passed over: what
  // they imply is said of their symbols too. Unbounded: kUnbounded, -kUnbounded.
  // invalid_argument: the text is malformed, or the range is empty.
  Status constrain(std::string_view text, Range range);

  // The integer (or truth value) that `text` stands for; `hint`: its value at export, if known.
  // Equal texts cost one look-up.
  // invalid_argument: malformed.
  [[nodiscard]] Result<SymInt> read(std::string_view text, std::optional<int64_t> hint);

  // Gives hints to the symbols that stand for floating-point parts. To be called last.
  void finish();

 private:
  struct Opaque {
    size_t symbol;
    Expression expression;
  };

  SymInt symbol(std::string_view name);

  SymbolTable& symbols_;
  std::unordered_map<std::string, SymInt> read_;
  std::vector<Opaque> opaque_;

  friend class SymbolicLowering;
};

}  // namespace backplane
