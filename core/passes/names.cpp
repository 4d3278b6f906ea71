#include "passes/names.hpp"

namespace backplane::passes {

std::string_view base_name(std::string_view op) {
  const size_t space = op.find("::");
  if (space != std::string_view::npos) op.remove_prefix(space + 2);
  return op.substr(0, op.find('.'));
}

std::string identifier(std::string_view text) {
  std::string out(text.empty() ? std::string_view("value") : text);
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain) c = '_';
  }
  return out;
}

std::string format(const SymbolTable& symbols, const TensorType& type) {
  std::string out(name_of(type.dtype));
  out += '[';
  for (size_t d = 0; d < type.sizes.size(); ++d) {
    if (d > 0) out += ", ";
    out += symbols.text(type.sizes[d]);
  }
  return out + ']';
}

}  // namespace backplane::passes
