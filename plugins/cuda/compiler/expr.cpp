#include "cuda/compiler/expr.hpp"

#include <cmath>
#include <cstdio>
#include <set>

namespace backplane::cuda::compiler {
namespace {

struct TypeName {
  bp_dtype_t dtype;
  std::string_view in_register, in_memory;
};
constexpr TypeName kTypes[] = {
    {sdk::kFloat32, "float", "float"},
    {sdk::kFloat16, "float", "half_t"},
    {sdk::kBFloat16, "float", "bfloat16_t"},
    {sdk::kFloat64, "double", "double"},
    {sdk::kInt64, "long long", "long long"},
    {sdk::kInt32, "int", "int"},
    {{BP_DT_INT, 16, 1}, "short", "short"},
    {{BP_DT_INT, 8, 1}, "signed char", "signed char"},
    {{BP_DT_UINT, 8, 1}, "unsigned char", "unsigned char"},
    {sdk::kBool, "bool", "bool"},
};

const TypeName* find_type(bp_dtype_t dtype) {
  for (const TypeName& type : kTypes) {
    if (type.dtype == dtype) return &type;
  }
  return nullptr;
}

size_t hash_of(const Expr& e) {
  size_t h = std::hash<std::string>()(e.text) + static_cast<size_t>(e.kind) * 31 +
             static_cast<size_t>(e.tensor) * 131;
  const auto mix = [&h](size_t x) { h = (h ^ x) * 0x9e3779b97f4a7c15U; };
  for (const ExprId o : e.operands) mix(static_cast<size_t>(o));
  for (const Index& i : e.indices) {
    mix(i.constant);
    for (const Term& t : i.terms) mix((static_cast<size_t>(t.atom) << 20U) + t.coefficient);
  }
  for (const AtomId v : e.variables) mix(static_cast<size_t>(v));
  return h;
}

std::string float_text(double number, bool is_double) {
  if (std::isnan(number)) return is_double ? "kNanDouble" : "kNan";
  if (std::isinf(number))
    return std::string(number < 0 ? "-" : "") + (is_double ? "kInfinityDouble" : "kInfinity");
  char text[64];
  std::snprintf(text, sizeof text, is_double ? "%.17g" : "%.9g",
                is_double ? number : static_cast<double>(static_cast<float>(number)));
  std::string out = text;
  if (out.find_first_of(".e") == std::string::npos) out += ".0";
  out += is_double ? "" : "f";
  return out[0] == '-' ? "(" + out + ")" : out;
}

}  // namespace

std::string_view register_type(bp_dtype_t dtype) {
  return find_type(dtype)->in_register;
}
std::string_view memory_type(bp_dtype_t dtype) {
  return find_type(dtype)->in_memory;
}
bool is_supported(bp_dtype_t dtype) {
  return find_type(dtype) != nullptr;
}
bool is_floating(bp_dtype_t dtype) {
  return dtype.code == BP_DT_FLOAT || dtype.code == BP_DT_BFLOAT;
}
bp_dtype_t accumulator(bp_dtype_t dtype) {
  if (dtype == sdk::kFloat64) return dtype;
  return is_floating(dtype) ? sdk::kFloat32 : sdk::kInt64;
}

ExprId ExprPool::add(Expr expr) {
  const size_t hash = hash_of(expr);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (at(it->second) == expr) return it->second;
  }
  exprs_.push_back(std::move(expr));
  const auto id = static_cast<ExprId>(exprs_.size() - 1);
  by_hash_.emplace(hash, id);
  return id;
}

ExprId ExprPool::load(TensorId tensor, bp_dtype_t dtype, std::vector<Index> at) {
  return add(
      {.kind = Expr::Kind::load, .dtype = dtype, .tensor = tensor, .indices = std::move(at)});
}
ExprId ExprPool::index(const Index& i) {
  return add({.kind = Expr::Kind::index, .dtype = sdk::kInt64, .indices = {i}});
}
ExprId ExprPool::literal(double number, bp_dtype_t dtype) {
  if (!is_floating(dtype)) return literal(static_cast<int64_t>(number), dtype);
  // In an operator on halves, a number is a float: it is not rounded.
  return add({.kind = Expr::Kind::literal,
              .dtype = dtype == sdk::kFloat64 ? dtype : sdk::kFloat32,
              .text = float_text(number, dtype == sdk::kFloat64)});
}
ExprId ExprPool::literal(int64_t number, bp_dtype_t dtype) {
  if (is_floating(dtype)) return literal(static_cast<double>(number), dtype);
  std::string text = std::to_string(number) + (dtype == sdk::kInt64 ? "LL" : "");
  if (dtype == sdk::kBool) text = number != 0 ? "true" : "false";
  if (number == INT64_MIN) text = "(-9223372036854775807LL - 1)";
  if (number < 0 && text[0] == '-') text = "(" + text + ")";
  return add({.kind = Expr::Kind::literal, .dtype = dtype, .text = std::move(text)});
}
ExprId ExprPool::input_number(int32_t input, bp_dtype_t dtype) {
  return add({.kind = Expr::Kind::number, .dtype = dtype, .tensor = input});
}
ExprId ExprPool::apply(bp_dtype_t dtype, std::string_view text, std::vector<ExprId> operands) {
  return add({.kind = Expr::Kind::apply,
              .dtype = dtype,
              .text = std::string(text),
              .operands = std::move(operands)});
}

ExprId ExprPool::cast(ExprId value, bp_dtype_t dtype) {
  const bp_dtype_t from = at(value).dtype;
  if (from == dtype) return value;
  // A half is a float already, and one that an operator computes with anyway.
  if (dtype == sdk::kBool) return apply(dtype, "$0 != 0", {value});
  if (is_floating(from) && !is_floating(dtype)) {
    return apply(dtype, "to_integer<" + std::string(register_type(dtype)) + ">($0)", {value});
  }
  return apply(dtype, "(" + std::string(register_type(dtype)) + ")$0", {value});
}

ExprId ExprPool::guard(std::vector<Index> indices, std::vector<SizeId> limits, ExprId inside,
                       ExprId otherwise) {
  std::vector<Index> tested;
  std::vector<SizeId> their_limits;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices_.is_below(indices[i], limits[i])) continue;
    tested.push_back(indices[i]);
    their_limits.push_back(limits[i]);
  }
  if (tested.empty()) return inside;
  return add({.kind = Expr::Kind::guard,
              .dtype = at(inside).dtype,
              .operands = {inside, otherwise},
              .indices = std::move(tested),
              .limits = std::move(their_limits)});
}

ExprId ExprPool::choose(ExprId condition, ExprId yes, ExprId no) {
  return add(
      {.kind = Expr::Kind::choose, .dtype = at(yes).dtype, .operands = {condition, yes, no}});
}

ExprId ExprPool::reduce(Reduction kind, ExprId element, std::vector<AtomId> over, ExprId position) {
  Expr e{.kind = Expr::Kind::reduce, .dtype = at(element).dtype, .reduction = kind};
  e.operands = {element};
  if (position >= 0) {
    e.operands.push_back(position);
    e.dtype = sdk::kInt64;
  }
  e.variables = std::move(over);
  return add(std::move(e));
}

// One substitution, with what it has done already.
struct ExprPool::Rewrite {
  ExprPool& pool;
  const std::map<AtomId, Index>& with;
  const Inline& inlined;
  std::map<ExprId, ExprId> done = {};

  Index index(const Index& i) {
    return pool.indices_.substitute(i, [&](AtomId id) -> Index {
      const Atom atom = pool.indices_.atom(id);
      if (atom.kind == Atom::Kind::value)
        return pool.indices_.of(pool.indices_.value(expr(atom.value), atom.extent));
      const auto found = with.find(id);
      return found == with.end() ? pool.indices_.of(id) : found->second;
    });
  }
  ExprId expr(ExprId id) {
    if (const auto found = done.find(id); found != done.end()) return found->second;
    Expr e = pool.at(id);
    for (Index& i : e.indices) i = index(i);
    ExprId out = -1;
    if (e.kind == Expr::Kind::load) out = inlined(e);
    if (out < 0) {
      for (ExprId& o : e.operands) o = expr(o);
      out = e.kind == Expr::Kind::guard
                ? pool.guard(e.indices, e.limits, e.operands[0], e.operands[1])
                : pool.add(std::move(e));
    }
    done.emplace(id, out);
    return out;
  }
};

ExprId ExprPool::substitute(ExprId of, const std::map<AtomId, Index>& with, const Inline& inlined) {
  return Rewrite{*this, with, inlined}.expr(of);
}

void visit(const ExprPool& pool, ExprId root, const std::function<void(ExprId)>& f) {
  std::set<ExprId> seen;
  const std::function<void(ExprId)> walk = [&](ExprId id) {
    if (!seen.insert(id).second) return;
    for (const ExprId o : pool.at(id).operands) walk(o);
    std::function<void(const Index&)> inside = [&](const Index& i) {
      for (const Term& term : i.terms) {
        const Atom& atom = pool.indices().atom(term.atom);
        if (atom.kind == Atom::Kind::value) walk(atom.value);
        if (atom.kind == Atom::Kind::quotient || atom.kind == Atom::Kind::rest) inside(atom.inner);
      }
    };
    for (const Index& i : pool.at(id).indices) inside(i);
    f(id);
  };
  walk(root);
}

}  // namespace backplane::cuda::compiler
