// Symbols that turned out to be numbers while lowering.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "graph/graph.hpp"

namespace backplane::passes {

class SymbolBindings {
 public:
  explicit SymbolBindings(SymbolTable& symbols) : symbols_(symbols) {}

  // `size`, if it is a bare symbol, is `number`. The first number given stays.
  void bind(SymInt size, int64_t number);

  // With numbers for the symbols that are bound.
  [[nodiscard]] SymInt substitute(SymInt size) const;
  void substitute(Value& value) const;

 private:
  SymbolTable& symbols_;
  std::unordered_map<size_t, int64_t> numbers_;  // by symbol
};

}  // namespace backplane::passes
