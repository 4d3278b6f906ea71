// Sizes as operands: finds or computes the value that a symbolic expression stands for.
#include <array>

#include "passes/names.hpp"
#include "passes/rewriter.hpp"

namespace backplane::passes {
namespace {

struct Operation {
  SymOp op;
  std::string_view name;
};

// ceil_div is built of these.
constexpr std::array kOperations = {
    Operation{SymOp::add, "sym::add"},
    Operation{SymOp::mul, "sym::mul"},
    Operation{SymOp::floor_div, "sym::floordiv"},
    Operation{SymOp::mod, "sym::mod"},
    Operation{SymOp::max, "sym::max"},
    Operation{SymOp::min, "sym::min"},
    Operation{SymOp::pow, "sym::pow"},
    Operation{SymOp::shift_left, "sym::lshift"},
    Operation{SymOp::shift_right, "sym::rshift"},
    Operation{SymOp::bit_and, "sym::and"},
    Operation{SymOp::bit_or, "sym::or"},
};

constexpr int kMaxDepth = 100;

}  // namespace

void Rewriter::note_sizes(ValueId id) {
  const Value& value = graph_.value(id);
  if (value.kind == ValueKind::sym_int && value.has_expr && !value.expr.is_constant()) {
    by_expression_.emplace(value.expr.index(), id);
  }
  if (value.kind != ValueKind::tensor) return;
  for (size_t d = 0; d < value.type.sizes.size(); ++d) {
    const SymInt size = value.type.sizes[d];
    if (size.is_constant()) continue;
    if (!sizes_.try_emplace(size.index(), id, static_cast<int64_t>(d)).second) continue;
    if (symbols().as_symbol(size)) continue;
    const std::vector<size_t> in = symbols().symbols_of(size);
    if (in.size() == 1) linear_in_.emplace(in[0], size.index());
  }
}

// The value of a symbol that no dimension is by itself, from one that is a * symbol + b.
std::optional<ValueRef> Rewriter::solve(size_t symbol) {
  const auto found = linear_in_.find(symbol);
  if (found == linear_in_.end()) return std::nullopt;
  const SymInt size = SymInt::expression(found->second);
  SymbolValues at(symbols().num_symbols());
  std::array<int64_t, 3> y{};
  for (size_t x = 0; x < y.size(); ++x) {
    at[symbol] = static_cast<int64_t>(x);
    const std::optional<int64_t> value = symbols().evaluate(size, at);
    if (!value) return std::nullopt;
    y[x] = *value;
  }
  const int64_t a = y[1] - y[0];
  const SymInt x = symbols().symbol(symbols().info(symbol).name);
  if (a == 0 || y[2] - y[1] != a || symbols().add(symbols().mul(a, x), y[0]) != size) {
    return std::nullopt;
  }
  const SymInt scaled = symbols().mul(a, x);
  ValueRef value = symbolic(size);
  if (y[0] != 0) value = emit_symbolic("sym::sub", {value, y[0]}, scaled);
  return emit_symbolic("sym::floordiv", {value, a}, x);
}

ValueRef Rewriter::symbolic(SymInt size) {
  if (const auto known = by_expression_.find(size.index()); known != by_expression_.end()) {
    return {known->second};
  }
  if (const auto at = sizes_.find(size.index()); at != sizes_.end()) {
    return emit_symbolic("aten::sym_size.int", {ValueRef{at->second.first}, at->second.second},
                         size);
  }
  if (const auto symbol = symbols().as_symbol(size)) {
    if (const auto solved = solve(*symbol)) return *solved;
    (void)fail(Code::unsupported, "graph '" + graph_.name + "' needs the size " +
                                      symbols().text(size) +
                                      ", which none of its inputs gives; pass it as an operand");
    return {0};
  }
  if (++depth_ > kMaxDepth) {
    (void)fail(Code::unsupported, "the size " + symbols().text(size) + " is nested too deeply");
  }
  const SymNode node = symbols().node(size);  // a copy: the table may grow
  std::vector<Argument> operands;
  for (SymInt operand : node.operands) {
    if (ok()) operands.push_back(integer(operand));
  }
  --depth_;
  if (!ok()) return {0};
  if (node.op == SymOp::ceil_div) {
    const SymInt minus = symbols().neg(node.operands[0]);
    const SymInt down = symbols().floor_div(minus, node.operands[1]);
    const ValueRef neg = emit_symbolic("sym::neg", {operands[0]}, minus);
    const ValueRef div = emit_symbolic("sym::floordiv", {neg, operands[1]}, down);
    return emit_symbolic("sym::neg", {div}, size);
  }
  for (const Operation& operation : kOperations) {
    if (operation.op != node.op || operands.empty()) continue;
    Argument result = operands[0];
    SymInt expr = node.operands[0];
    for (size_t i = 1; i < operands.size(); ++i) {
      const std::array pair = {expr, node.operands[i]};
      expr = i + 1 == operands.size() ? size : symbols().make(node.op, pair);
      result = emit_symbolic(operation.name, {result, operands[i]}, expr);
    }
    return as_value(result);
  }
  (void)fail(Code::unsupported,
             "the size " + symbols().text(size) + " cannot be computed by nodes");
  return {0};
}

Argument Rewriter::integer(SymInt size) {
  if (size.is_constant()) return size.constant();
  if (!ok()) return int64_t{1};
  const SymNode& node = symbols().node(size);
  if (node.op == SymOp::constant) return node.payload;
  return symbolic(size);
}

Argument Rewriter::integers(std::span<const SymInt> sizes) {
  IntList list;
  for (SymInt size : sizes) {
    const Argument one = integer(size);
    if (const auto* literal = std::get_if<int64_t>(&one)) {
      list.push_back({*literal, kNone});
    } else {
      list.push_back({0, std::get<ValueRef>(one).id});
    }
  }
  return list;
}

SymInt Rewriter::expression(const Argument& argument) {
  if (const auto* literal = std::get_if<int64_t>(&argument)) return *literal;
  if (const auto* flag = std::get_if<bool>(&argument)) return *flag ? 1 : 0;
  if (const auto* ref = std::get_if<ValueRef>(&argument)) {
    if (ref->id >= 0 && static_cast<size_t>(ref->id) < graph_.values.size()) {
      const Value& value = graph_.value(ref->id);
      if (value.kind == ValueKind::sym_int && value.has_expr) return value.expr;
      (void)fail(Code::unsupported, "nothing is known of the integer '" + value.name + "'");
    }
  }
  (void)fail(Code::invalid_argument, "an integer is expected");
  return 1;
}

std::vector<SymInt> Rewriter::expressions(const Argument& list) {
  std::vector<SymInt> out;
  if (const auto* ints = std::get_if<IntList>(&list)) {
    for (const IntElement& e : *ints) {
      out.push_back(e.is_literal() ? SymInt(e.literal) : expression(ValueRef{e.value}));
    }
  } else {
    out.push_back(expression(list));
  }
  return out;
}

SymInt Rewriter::size(ValueRef value, int64_t dim) {
  const TensorType& t = type(value);
  const int64_t wrapped = wrap_dim(dim, rank(value));
  if (ok() && t.sizes.empty()) {
    (void)fail(Code::invalid_argument, "a tensor of rank 0 has no dimension");
  }
  return ok() ? t.sizes[static_cast<size_t>(wrapped)] : SymInt(1);
}

int64_t Rewriter::wrap_dim(int64_t dim, int64_t rank) {
  const int64_t count = rank == 0 ? 1 : rank;
  if (dim < -count || dim >= count) {
    (void)fail(Code::invalid_argument, "dimension " + std::to_string(dim) +
                                           " is out of range for rank " + std::to_string(rank));
    return 0;
  }
  return dim < 0 ? dim + count : dim;
}

}  // namespace backplane::passes
