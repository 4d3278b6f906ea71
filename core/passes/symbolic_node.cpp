#include "passes/symbolic_node.hpp"

#include <array>
#include <cmath>

namespace backplane::passes {
namespace {

struct Operator {
  std::string_view name;
  SymOp op;
  bool swapped = false;
};

constexpr std::array kOperators = {
    Operator{"sym::add", SymOp::add},
    Operator{"sym::mul", SymOp::mul},
    Operator{"sym::floordiv", SymOp::floor_div},
    Operator{"sym::mod", SymOp::mod},
    Operator{"sym::max", SymOp::max},
    Operator{"sym::min", SymOp::min},
    Operator{"sym::pow", SymOp::pow},
    Operator{"sym::lshift", SymOp::shift_left},
    Operator{"sym::rshift", SymOp::shift_right},
    Operator{"sym::and", SymOp::bit_and},
    Operator{"sym::or", SymOp::bit_or},
    Operator{"sym::eq", SymOp::eq},
    Operator{"sym::ne", SymOp::ne},
    Operator{"sym::lt", SymOp::lt},
    Operator{"sym::le", SymOp::le},
    Operator{"sym::gt", SymOp::lt, true},
    Operator{"sym::ge", SymOp::le, true},
    Operator{"sym::not", SymOp::logical_not},
    Operator{"sym::ite", SymOp::where},
};

// An operand as an expression, if it is an integer or a truth value of which one is known.
std::optional<SymInt> expression_of(const Graph& graph, const Argument& argument) {
  if (const auto* literal = std::get_if<int64_t>(&argument)) return *literal;
  if (const auto* flag = std::get_if<bool>(&argument)) return *flag ? 1 : 0;
  const auto* ref = std::get_if<ValueRef>(&argument);
  if (ref == nullptr) return std::nullopt;
  const Value& value = graph.value(ref->id);
  const bool is_integer = value.kind == ValueKind::sym_int || value.kind == ValueKind::sym_bool;
  if (!is_integer || !value.has_expr) return std::nullopt;
  return value.expr;
}

std::optional<double> number_of(const Argument& argument) {
  if (const auto* literal = std::get_if<int64_t>(&argument)) return static_cast<double>(*literal);
  if (const auto* real = std::get_if<double>(&argument)) return *real;
  if (const auto* flag = std::get_if<bool>(&argument)) return *flag ? 1 : 0;
  return std::nullopt;
}

std::optional<Argument> integer_from(double value) {
  if (!(std::fabs(value) < 9.2e18)) return std::nullopt;
  return static_cast<int64_t>(value);
}

// Arithmetic on literals of which one is a float, or whose result is.
std::optional<Argument> real_result(const Node& node) {
  std::vector<double> x;
  for (const NamedArgument& arg : node.args) {
    const std::optional<double> number = number_of(arg.value);
    if (!number) return std::nullopt;
    x.push_back(*number);
  }
  const std::string_view op = node.op;
  if (x.size() == 1) {
    if (op == "sym::float") return x[0];
    if (op == "sym::neg") return -x[0];
    if (op == "sym::pos") return x[0];
    if (op == "sym::sqrt") return std::sqrt(x[0]);
    if (op == "sym::int" || op == "sym::trunc") return integer_from(std::trunc(x[0]));
    if (op == "sym::floor") return integer_from(std::floor(x[0]));
    if (op == "sym::ceil") return integer_from(std::ceil(x[0]));
    if (op == "sym::round") return integer_from(std::nearbyint(x[0]));
    return std::nullopt;
  }
  if (x.size() != 2) return std::nullopt;
  if (op == "sym::add") return x[0] + x[1];
  if (op == "sym::sub") return x[0] - x[1];
  if (op == "sym::mul") return x[0] * x[1];
  if (op == "sym::truediv" && x[1] != 0) return x[0] / x[1];
  if (op == "sym::floordiv" && x[1] != 0) return std::floor(x[0] / x[1]);
  if (op == "sym::pow" || op == "sym::float_pow") return std::pow(x[0], x[1]);
  if (op == "sym::max") return std::fmax(x[0], x[1]);
  if (op == "sym::min") return std::fmin(x[0], x[1]);
  if (op == "sym::eq") return x[0] == x[1];
  if (op == "sym::ne") return x[0] != x[1];
  if (op == "sym::lt") return x[0] < x[1];
  if (op == "sym::le") return x[0] <= x[1];
  if (op == "sym::gt") return x[0] > x[1];
  if (op == "sym::ge") return x[0] >= x[1];
  return std::nullopt;
}

std::optional<SymInt> integer_result(Rewriter& r, const Node& node) {
  std::vector<SymInt> x;
  for (const NamedArgument& arg : node.args) {
    const std::optional<SymInt> operand = expression_of(r.graph(), arg.value);
    if (!operand) return std::nullopt;
    x.push_back(*operand);
  }
  SymbolTable& symbols = r.symbols();
  const bool is_same = node.op == "sym::int" || node.op == "sym::pos" || node.op == "sym::trunc" ||
                       node.op == "sym::floor" || node.op == "sym::ceil";
  if (x.size() == 1 && is_same) return x[0];
  if (x.size() == 1 && node.op == "sym::neg") return symbols.neg(x[0]);
  if (x.size() == 2 && node.op == "sym::sub") return symbols.sub(x[0], x[1]);
  for (const Operator& known : kOperators) {
    if (known.name != node.op) continue;
    if (known.swapped && x.size() == 2) std::swap(x[0], x[1]);
    const size_t arity = known.op == SymOp::logical_not ? 1 : known.op == SymOp::where ? 3 : 2;
    const bool by_zero = (known.op == SymOp::floor_div || known.op == SymOp::mod) &&
                         x.size() == 2 && x[1] == SymInt(0);
    if (x.size() != arity || by_zero) return std::nullopt;
    return symbols.make(known.op, x);
  }
  return std::nullopt;
}

// Questions about the shape of a tensor.
std::optional<SymInt> shape_result(Rewriter& r, const Node& node) {
  if (node.args.empty()) return std::nullopt;
  const auto* tensor = std::get_if<ValueRef>(&node.args[0].value);
  if (tensor == nullptr || r.graph().value(tensor->id).kind != ValueKind::tensor)
    return std::nullopt;
  if (node.op == "aten::sym_numel") return r.symbols().product(r.type(*tensor).sizes);
  if (node.op == "aten::sym_size.int" && node.args.size() == 2) {
    if (const auto* dim = std::get_if<int64_t>(&node.args[1].value)) return r.size(*tensor, *dim);
  }
  return std::nullopt;
}

}  // namespace

SymbolicResult evaluate_symbolic(Rewriter& r, const Node& node) {
  SymbolicResult result;
  if (node.outputs.size() != 1 || node.outputs[0] == kNone) return result;
  const Value& value = r.graph().value(node.outputs[0]);
  if (value.kind == ValueKind::tensor || value.kind == ValueKind::object) return result;
  const bool is_symbolic = node.op.starts_with("sym::");
  if (!is_symbolic && !node.op.starts_with("aten::sym_")) return result;
  result.expr = is_symbolic ? integer_result(r, node) : shape_result(r, node);
  if (!result.expr && value.kind == ValueKind::sym_int && value.has_expr) result.expr = value.expr;
  if (result.expr && result.expr->is_constant() && value.kind != ValueKind::sym_float) {
    const int64_t constant = result.expr->constant();
    result.literal = value.kind == ValueKind::sym_bool ? Argument(constant != 0) : constant;
  } else if (is_symbolic && !result.expr) {
    result.literal = real_result(node);
    if (result.literal && value.kind == ValueKind::sym_float) {
      result.literal = number_of(*result.literal).value_or(0);
    }
  }
  return result;
}

namespace {

// What a symbol that a node gives can be whatever the data is.
class Bounds {
 public:
  explicit Bounds(const Module& module)
      : module_(module), trusted_(module.symbols.num_symbols(), true), seen_(trusted_.size()) {}

  std::vector<bool> run() {
    for (const Input& input : module_.root().inputs) {
      if (input.value == kNone) continue;
      const Value& value = module_.root().value(input.value);
      for (SymInt size : value.type.sizes) see(size);
      if (value.has_expr) see(value.expr);
    }
    for (const std::unique_ptr<Graph>& graph : module_.graphs) {
      for (const Node& node : graph->nodes) visit(*graph, node);
    }
    return std::move(trusted_);
  }

 private:
  void see(SymInt size) {
    if (size.is_constant()) return;
    for (size_t symbol : module_.symbols.symbols_of(size)) seen_[symbol] = true;
  }

  void give(SymInt size, Range possible) {
    const std::optional<size_t> symbol = module_.symbols.as_symbol(size);
    if (!symbol || seen_[*symbol]) return;
    seen_[*symbol] = true;
    const Range& said = module_.symbols.info(*symbol).range;
    trusted_[*symbol] = said.min <= possible.min && said.max >= possible.max;
  }

  [[nodiscard]] int64_t max_elements(const TensorType& type) const {
    const std::optional<int64_t> bytes = max_bytes(module_.symbols, type);
    return bytes ? *bytes / static_cast<int64_t>(size_of(type.dtype)) : kUnbounded;
  }

  // The most that dimension `dim` of a result can be.
  [[nodiscard]] int64_t most(const Graph& graph, const Node& node, size_t dim) const {
    int64_t bound = 0;
    const bool is_part = node.op == "aten::slice.Tensor" || node.op == "aten::narrow";
    const bool is_index = node.op == "aten::index.Tensor";
    if (!is_part && !is_index && node.op != "aten::nonzero" && node.op != "aten::masked_select") {
      return kUnbounded;
    }
    for (const NamedArgument& arg : node.args) {
      for_each_value(arg.value, [&](ValueId id) {
        const TensorType& type = graph.value(id).type;
        if (graph.value(id).kind != ValueKind::tensor) return;
        if (is_part) {
          const bool has_dim = dim < type.sizes.size();
          const auto size = has_dim ? module_.symbols.upper_bound(type.sizes[dim]) : std::nullopt;
          bound = size.value_or(kUnbounded);
        } else if (!is_index || type.dtype == DType::boolean || type.dtype == DType::u8) {
          bound = std::max(bound, max_elements(type));
        }
      });
    }
    return bound;
  }

  void visit(const Graph& graph, const Node& node) {
    for (ValueId id : node.outputs) {
      if (id == kNone) continue;
      const Value& value = graph.value(id);
      if (value.kind == ValueKind::sym_int && value.has_expr) {
        const bool is_offset = node.op == "aten::sym_storage_offset";
        give(value.expr, {is_offset ? 0 : -kUnbounded, kUnbounded});
      }
      for (size_t d = 0; d < value.type.sizes.size(); ++d) {
        if (value.type.sizes[d].is_constant()) continue;
        give(value.type.sizes[d], {0, most(graph, node, d)});
      }
    }
  }

  const Module& module_;
  std::vector<bool> trusted_;
  std::vector<bool> seen_;
};

}  // namespace

std::vector<bool> trusted_symbols(const Module& module) {
  return Bounds(module).run();
}

}  // namespace backplane::passes
