#include "passes/symbol_bindings.hpp"

namespace backplane::passes {

void SymbolBindings::bind(SymInt size, int64_t number) {
  if (const std::optional<size_t> symbol = symbols_.as_symbol(size)) {
    numbers_.emplace(*symbol, number);
  }
}

SymInt SymbolBindings::substitute(SymInt size) const {
  if (size.is_constant() || numbers_.empty()) return size;
  for (size_t symbol : symbols_.symbols_of(size)) {
    const auto bound = numbers_.find(symbol);
    if (bound != numbers_.end()) size = symbols_.substitute(size, symbol, bound->second);
    if (size.is_constant()) break;
  }
  return size;
}

void SymbolBindings::substitute(Value& value) const {
  if (numbers_.empty()) return;
  for (SymInt& size : value.type.sizes) size = substitute(size);
  for (SymInt& stride : value.type.strides) stride = substitute(stride);
  if (value.has_expr) value.expr = substitute(value.expr);
}

}  // namespace backplane::passes
