#include "lower/method_signature.hpp"

#include <unordered_map>

namespace backplane::lower {
namespace {

class Builder {
 public:
  Builder(Module& module, runtime::MethodSignature& out) : symbols_(module.symbols), out_(out) {}

  // scale * symbol + offset where the size is that; a rule of nothing where it is another
  // expression.
  runtime::DimRule rule(SymInt size) {
    runtime::DimRule none;
    if (size.is_constant()) return runtime::DimRule::fixed(size.constant());
    if (const auto symbol = symbols_.as_symbol(size)) return {index(*symbol), 1, 0};
    const std::vector<size_t> used = symbols_.symbols_of(size);
    if (used.size() != 1) return none;
    // Linear if two steps are alike.
    const auto at = [&](int64_t value) {
      SymbolValues given(symbols_.num_symbols());
      given[used[0]] = value;
      return symbols_.evaluate(size, given);
    };
    const int64_t base = std::max<int64_t>(symbols_.info(used[0]).range.min, 1);
    const auto a = at(base);
    const auto b = at(base + 1);
    const auto c = at(base + 7);
    if (!a || !b || !c || *b - *a < 1 || *c - *a != 7 * (*b - *a)) return none;
    if (!is_linear(size)) return none;
    return {index(used[0]), *b - *a, *a - (*b - *a) * base};
  }

 private:
  // Sums and products of numbers and one symbol, and nothing else.
  [[nodiscard]] bool is_linear(SymInt size) const {
    if (size.is_constant()) return true;
    const SymNode& node = symbols_.node(size);
    if (node.op == SymOp::symbol || node.op == SymOp::constant) return true;
    if (node.op != SymOp::add && node.op != SymOp::mul) return false;
    for (const SymInt operand : node.operands) {
      if (!is_linear(operand)) return false;
    }
    return true;
  }

  int32_t index(size_t symbol) {
    const auto [at, added] = known_.try_emplace(symbol, static_cast<int32_t>(out_.symbols.size()));
    if (added) {
      const SymbolInfo& info = symbols_.info(symbol);
      out_.symbols.push_back({info.name, std::max<int64_t>(info.range.min, 0), info.range.max, 1});
    }
    return at->second;
  }

  SymbolTable& symbols_;
  runtime::MethodSignature& out_;
  std::unordered_map<size_t, int32_t> known_;
};

}  // namespace

runtime::MethodSignature signature_of(Module& module, const std::vector<ValueIndex>& written) {
  runtime::MethodSignature signature;
  signature.name = module.root().name;
  Builder builder(module, signature);
  const auto slot = [&](std::string_view name, const Value* value) {
    runtime::SlotSignature out;
    out.name = name;
    if (value != nullptr && value->kind == ValueKind::tensor) {
      for (const SymInt size : value->type.sizes) out.dims.push_back(builder.rule(size));
    } else if (value != nullptr && value->kind == ValueKind::sym_int && value->has_expr &&
               !value->expr.is_constant()) {
      out.number = builder.rule(value->expr);
    } else if (value != nullptr) {
      out.number = runtime::DimRule{};
    }
    return out;
  };
  const Graph& root = module.root();
  for (size_t i = 0; i < root.inputs.size(); ++i) {
    const Input& input = root.inputs[i];
    signature.inputs.push_back(
        slot(input.name, input.value == kNone ? nullptr : &root.value(input.value)));
    if (i < written.size()) signature.inputs.back().written = written[i];
  }
  for (const Output& output : root.outputs) {
    if (output.kind != Output::Kind::user) continue;
    const auto* ref = std::get_if<ValueRef>(&output.value);
    const Value* value = ref == nullptr ? nullptr : &root.value(ref->id);
    signature.outputs.push_back(slot(value == nullptr ? "" : value->name, value));
  }
  return signature;
}

}  // namespace backplane::lower
