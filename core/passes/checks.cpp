// Checks that the exported program makes, and arithmetic on sizes: decided now where they can be.
#include <array>
#include <unordered_map>

#include "passes/passes.hpp"
#include "passes/rewriter.hpp"
#include "passes/symbolic_node.hpp"

namespace backplane::passes {
namespace {

class Simplify {
 public:
  Simplify(Module& module, Graph& graph, const ops::Table& table, const std::vector<bool>& trusted)
      : r_(module, graph, table), trusted_(trusted) {}

  Status run() {
    BP_TRY(r_.walk([this](Node& node) { return visit(node); }));
    return r_.finish();
  }

 private:
  Status visit(Node& node);
  Status simplify(Node& node);
  Status check_scalar(Node& node);
  Status check_metadata(const Node& node);
  Status check_range(const Node& node);
  // Emits a check that `a` `op` `b`, unless it is known to hold.
  Status require(std::string_view op, SymInt a, SymInt b, const std::string& message);
  [[nodiscard]] bool trusts(SymInt expr) const;

  Rewriter r_;
  const std::vector<bool>& trusted_;
  std::unordered_map<int32_t, ValueId> first_;  // expression → the value that has it
};

bool Simplify::trusts(SymInt expr) const {
  if (expr.is_constant()) return true;
  const std::vector<size_t> symbols = const_cast<Simplify*>(this)->r_.symbols().symbols_of(expr);
  return std::all_of(symbols.begin(), symbols.end(),
                     [&](size_t s) { return s < trusted_.size() && trusted_[s]; });
}

// A truth value that follows from a range which only the program's checks enforce must be computed:
// it is what those checks look at.
Status Simplify::simplify(Node& node) {
  const SymbolicResult result = evaluate_symbolic(r_, node);
  BP_TRY(r_.status());
  if (node.outputs.size() != 1 || node.outputs[0] == kNone) return r_.keep(std::move(node));
  Value& value = r_.graph().value(node.outputs[0]);
  bool is_trusted = true;
  if (value.kind == ValueKind::sym_bool) {
    for (const NamedArgument& arg : node.args) {
      const auto* ref = std::get_if<ValueRef>(&arg.value);
      if (ref == nullptr) continue;
      const Value& operand = r_.graph().value(ref->id);
      is_trusted = is_trusted && operand.has_expr && trusts(operand.expr);
    }
  }
  if (result.literal && is_trusted) {
    r_.replace(node.outputs[0], *result.literal);
    return r_.status();
  }
  if (result.expr && is_trusted) {
    value.expr = *result.expr;
    value.has_expr = true;
  }
  const bool is_shared =
      value.kind == ValueKind::sym_int && value.has_expr && !value.expr.is_constant();
  if (is_shared) {
    const auto [first, is_new] = first_.emplace(value.expr.index(), node.outputs[0]);
    if (!is_new) {
      r_.replace(node.outputs[0], ValueRef{first->second});
      return r_.status();
    }
  }
  return r_.keep(std::move(node));
}

Status Simplify::check_scalar(Node& node) {
  const NodeArgs args = r_.args(node);
  const Argument& condition = args.raw("self");
  if (std::holds_alternative<ValueRef>(condition)) return r_.keep(std::move(node));
  const auto* flag = std::get_if<bool>(&condition);
  const bool holds = flag != nullptr ? *flag : args.number("self") != 0;
  if (!r_.ok() || holds) return r_.status();
  return r_.fail(Code::invalid_argument, "never holds: " + std::string(args.text("assert_msg")));
}

Status Simplify::require(std::string_view op, SymInt a, SymInt b, const std::string& message) {
  const bool is_eq = op == "sym::eq";
  const std::optional<bool> known =
      is_eq ? r_.symbols().known_eq(a, b) : r_.symbols().known_le(a, b);
  if (known == true && trusts(a) && trusts(b)) return Ok{};
  if (known == false) return r_.fail(Code::invalid_argument, "never holds: " + message);
  const Argument left = r_.integer(a);
  const Argument right = r_.integer(b);
  BP_TRY(r_.status());
  const ValueRef condition = r_.emit_symbolic(op, {left, right}, std::nullopt, ValueKind::sym_bool);
  (void)r_.emit_all("aten::_assert_scalar", {condition, message});
  return r_.status();
}

Status Simplify::check_metadata(const Node& node) {
  const NodeArgs args = r_.args(node);
  const ValueRef tensor = args.tensor("a");
  BP_TRY(r_.status());
  const TensorType type = r_.type(tensor);
  const std::optional<DType> dtype = args.dtype("dtype");
  if (dtype && *dtype != type.dtype) {
    return r_.fail(Code::invalid_argument, "expects " + std::string(name_of(*dtype)) +
                                               ", but its operand is " +
                                               std::string(name_of(type.dtype)));
  }
  if (args.is_none("size")) return Ok{};
  const std::vector<SymInt> sizes = args.sizes("size");
  BP_TRY(r_.status());
  if (sizes.size() != type.sizes.size()) {
    return r_.fail(Code::invalid_argument, "expects another rank than its operand has");
  }
  for (size_t d = 0; d < sizes.size(); ++d) {
    BP_TRY(require("sym::eq", type.sizes[d], sizes[d],
                   "size " + std::to_string(d) + " of a tensor is not what the program expects"));
  }
  return Ok{};
}

// sym_constrain_range and sym_constrain_range_for_size.
Status Simplify::check_range(const Node& node) {
  const NodeArgs args = r_.args(node);
  const SymInt size = args.size("size");
  BP_TRY(r_.status());
  const std::string what = r_.symbols().text(size);
  const bool for_size = node.op.find("for_size") != std::string::npos;
  if (!args.is_none("min") || for_size) {
    const SymInt min = args.is_none("min") ? SymInt(0) : args.size("min");
    BP_TRY(require("sym::le", min, size, what + " >= " + r_.symbols().text(min)));
  }
  if (!args.is_none("max")) {
    const SymInt max = args.size("max");
    BP_TRY(require("sym::le", size, max, what + " <= " + r_.symbols().text(max)));
  }
  return r_.status();
}

Status Simplify::visit(Node& node) {
  if (node.op.starts_with("sym::") || node.op.starts_with("aten::sym_")) {
    const bool constrains = node.op.starts_with("aten::sym_constrain_range");
    return constrains ? check_range(node) : simplify(node);
  }
  if (node.op == "aten::_assert_scalar") return check_scalar(node);
  if (node.op == "aten::_assert_tensor_metadata") return check_metadata(node);
  return r_.keep(std::move(node));
}

}  // namespace

Status simplify_sizes(Module& module, const ops::Table& table) {
  const std::vector<bool> trusted = trusted_symbols(module);
  for (const std::unique_ptr<Graph>& graph : module.graphs) {
    BP_TRY(Simplify(module, *graph, table, trusted).run());
  }
  return Ok{};
}

}  // namespace backplane::passes
