// SymbolTable: walks over an expression's nodes, operands first, without recursion.
#include <algorithm>
#include <unordered_set>

#include "graph/symbols.hpp"

namespace backplane {
namespace {

constexpr size_t kMaxText = 400;  // of an operand, before it is cut: shared parts multiply

struct Text {
  std::string text;
  int binding = 9;  // an operand that doesn't bind tighter than its operator gets parentheses
};

struct Infix {
  std::string_view text;  // empty: written as a function
  int binding = 9;
};

Infix infix(SymOp op) {
  using enum SymOp;
  switch (op) {
    case logical_or:
      return {" or ", 0};
    case logical_and:
      return {" and ", 0};
    case eq:
      return {" == ", 1};
    case ne:
      return {" != ", 1};
    case lt:
      return {" < ", 1};
    case le:
      return {" <= ", 1};
    case bit_and:
      return {" & ", 2};
    case bit_or:
      return {" | ", 2};
    case shift_left:
      return {" << ", 2};
    case shift_right:
      return {" >> ", 2};
    case add:
      return {" + ", 3};
    case mul:
      return {"*", 4};
    case floor_div:
      return {" // ", 4};
    case mod:
      return {" % ", 4};
    case pow:
      return {"**", 5};
    default:
      return {};
  }
}

std::string_view function(SymOp op) {
  using enum SymOp;
  switch (op) {
    case max:
      return "max";
    case min:
      return "min";
    case ceil_div:
      return "ceil_div";
    case where:
      return "where";
    default:
      return "not";
  }
}

size_t position(const std::vector<int32_t>& order, SymInt value) {
  return static_cast<size_t>(std::lower_bound(order.begin(), order.end(), value.index()) -
                             order.begin());
}

// A term of a sum that is not the first brings its sign along.
void append_term(std::string& out, std::string term) {
  if (out.empty()) {
    out = std::move(term);
  } else if (term.front() == '-') {
    out.append(" - ").append(term, 1);
  } else {
    out.append(" + ").append(term);
  }
}

// Factors with the coefficient, which comes first in the node, last: s0*4, -s0, s0*-4.
std::string product_text(std::vector<std::string> factors, bool has_coefficient) {
  std::string out;
  if (has_coefficient) {
    std::string coefficient = std::move(factors.front());
    factors.erase(factors.begin());
    if (coefficient.front() == '-') {
      out = "-";
      coefficient.erase(0, 1);
    }
    if (coefficient != "1") factors.push_back(std::move(coefficient));
  }
  for (size_t i = 0; i < factors.size(); ++i) {
    if (i > 0) out.push_back('*');
    out.append(factors[i]);
  }
  return out;
}

}  // namespace

std::vector<int32_t> SymbolTable::reachable(SymInt value) const {
  std::vector<int32_t> found;
  if (value.is_constant()) return found;
  std::unordered_set<int32_t> seen = {value.index()};
  found.push_back(value.index());
  for (size_t i = 0; i < found.size(); ++i) {
    for (const SymInt operand : nodes_[static_cast<size_t>(found[i])].operands) {
      if (!operand.is_constant() && seen.insert(operand.index()).second) {
        found.push_back(operand.index());
      }
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<int64_t> SymbolTable::evaluate(SymInt value, const SymbolValues& given) const {
  if (value.is_constant()) return value.constant();
  const std::vector<int32_t> order = reachable(value);
  std::vector<std::optional<int64_t>> results;
  std::vector<int64_t> operands;
  for (const int32_t index : order) {
    const SymNode& current = nodes_[static_cast<size_t>(index)];
    std::optional<int64_t> result;
    if (current.op == SymOp::symbol) {
      const auto which = static_cast<size_t>(current.payload);
      if (which < given.size()) result = given[which];
    } else {
      operands.clear();
      for (const SymInt x : current.operands) {
        const auto operand = x.is_constant() ? x.constant() : results[position(order, x)];
        if (operand) operands.push_back(*operand);
      }
      if (operands.size() == current.operands.size()) result = fold(current.op, operands);
    }
    results.push_back(result);
  }
  return results.back();
}

std::optional<int64_t> SymbolTable::hint(SymInt value) const {
  SymbolValues hints;
  for (const SymbolInfo& symbol : symbols_) {
    hints.push_back(symbol.hint >= 0 ? std::optional(symbol.hint) : std::nullopt);
  }
  return evaluate(value, hints);
}

std::vector<size_t> SymbolTable::symbols_of(SymInt value) const {
  std::vector<size_t> result;
  for (const int32_t index : reachable(value)) {
    if (const auto symbol = as_symbol(SymInt::expression(index))) result.push_back(*symbol);
  }
  return result;
}

SymInt SymbolTable::substitute(SymInt value, size_t index, SymInt replacement) {
  if (value.is_constant()) return value;
  const std::vector<int32_t> order = reachable(value);
  std::vector<SymInt> results;
  for (const int32_t at : order) {
    const SymNode current = nodes_[static_cast<size_t>(at)];  // a copy: make() may move nodes
    std::vector<SymInt> operands;
    bool changed = false;
    for (const SymInt x : current.operands) {
      operands.push_back(x.is_constant() ? x : results[position(order, x)]);
      changed |= operands.back() != x;
    }
    if (current.op == SymOp::symbol && static_cast<size_t>(current.payload) == index) {
      results.push_back(replacement);
    } else {
      results.push_back(changed ? make(current.op, operands) : SymInt::expression(at));
    }
  }
  return results.back();
}

std::string SymbolTable::text(SymInt value) const {
  if (value.is_constant()) return std::to_string(value.constant());
  const std::vector<int32_t> order = reachable(value);
  std::vector<Text> results;
  for (const int32_t at : order) {
    const SymNode& current = nodes_[static_cast<size_t>(at)];
    if (current.op == SymOp::symbol) {
      results.push_back({symbols_[static_cast<size_t>(current.payload)].name});
      continue;
    }
    const auto [between, binding] = infix(current.op);
    std::vector<std::string> parts;
    for (const SymInt x : current.operands) {
      Text part =
          x.is_constant() ? Text{std::to_string(x.constant())} : results[position(order, x)];
      const bool plain = between.empty() || part.binding > binding;
      parts.push_back(plain ? std::move(part.text) : "(" + part.text + ")");
    }
    Text result;
    if (current.op == SymOp::add) {
      for (std::string& part : parts) append_term(result.text, std::move(part));
    } else if (current.op == SymOp::mul) {
      result.text = product_text(std::move(parts), current.operands.front().is_constant());
    } else {
      if (between.empty()) result.text.append(function(current.op)).push_back('(');
      for (size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) result.text.append(between.empty() ? ", " : between);
        result.text.append(parts[i]);
      }
      if (between.empty()) result.text.push_back(')');
    }
    result.binding = binding;
    if (result.text.size() > kMaxText) result.text.resize(kMaxText), result.text.append("...");
    results.push_back(std::move(result));
  }
  return results.back().text;
}

}  // namespace backplane
