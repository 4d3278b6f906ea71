#include "cuda/compiler/size_table.hpp"

#include <algorithm>
#include <iterator>

namespace backplane::cuda::compiler {
namespace {

constexpr int64_t kUnbounded = INT64_MAX;

int64_t bound_of_product(int64_t a, int64_t b) {
  int64_t out = 0;
  if (a == 0 || b == 0) return 0;
  return a == kUnbounded || b == kUnbounded || __builtin_mul_overflow(a, b, &out) ? kUnbounded
                                                                                  : out;
}
int64_t bound_of_sum(int64_t a, int64_t b) {
  int64_t out = 0;
  return a == kUnbounded || b == kUnbounded || __builtin_add_overflow(a, b, &out) ? kUnbounded
                                                                                  : out;
}
int64_t floor_quotient(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

}  // namespace

SizeTable::SizeTable(const sdk::Graph& graph) : graph_(graph) {}

SizeId SizeTable::append(std::vector<Token> tokens, int64_t bound) {
  std::vector<std::tuple<uint32_t, uint32_t, int64_t>> key;
  for (const Token& t : tokens) key.emplace_back(t.op, t.count, t.value);
  const auto [found, is_new] = by_tokens_.emplace(key, static_cast<SizeId>(entries_.size()));
  if (!is_new) return found->second;
  Entry entry{{static_cast<uint32_t>(tokens_.size()), static_cast<uint32_t>(tokens.size())},
              std::nullopt,
              bound};
  if (tokens.size() == 1 && tokens[0].op == BP_SYM_CONSTANT) entry.known = tokens[0].value;
  tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
  entries_.push_back(std::move(entry));
  return found->second;
}

SizeId SizeTable::constant(int64_t number) {
  return append({{BP_SYM_CONSTANT, 0, number}}, number);
}

Result<SizeId> SizeTable::of(const bp_dim_t& dim) {
  if (dim.symbol >= 0) return symbol(dim.symbol);
  if (dim.value < 0) return constant(dim.size);
  const bp_dim_t& scalar = graph_.value(dim.value).scalar;
  if (scalar.symbol >= 0) return symbol(scalar.symbol);
  return Error{Code::unsupported, "a size is computed from values"};
}

Result<SizeId> SizeTable::symbol(int32_t index) {
  if (const auto found = by_symbol_.find(index); found != by_symbol_.end()) return found->second;
  const bp_symbol_t& s = graph_.symbols()[static_cast<uint32_t>(index)];
  SizeId id = 0;
  if (s.source == BP_SOURCE_INPUT && s.source_graph == 0) {
    const bool is_number = s.source_dim < 0;
    id = append({{is_number ? kTokenInputNumber : kTokenInputDim,
                  is_number ? 0 : static_cast<uint32_t>(s.source_dim), s.source_index}},
                s.max);
  } else if (s.expr.count > 0) {
    BP_ASSIGN_OR_RETURN(id, expression(s));
  } else {
    return Error{Code::unsupported,
                 "the size '" + std::string(sdk::view(s.name)) + "' depends on values"};
  }
  by_symbol_.emplace(index, id);
  return id;
}

Result<SizeId> SizeTable::expression(const bp_symbol_t& s) {
  std::vector<Token> tokens;
  for (const bp_sym_token_t& t : sdk::Array<bp_sym_token_t>(s.expr)) {
    if (t.op != BP_SYM_SYMBOL) {
      tokens.push_back({t.op, t.count, t.value});
      continue;
    }
    BP_ASSIGN_OR_RETURN(const SizeId id, symbol(static_cast<int32_t>(t.value)));
    tokens.push_back({kTokenSize, 0, id});
  }
  // A product of two is what `multiply` makes of them.
  if (tokens.size() == 3 && tokens[2].op == BP_SYM_MUL) {
    const auto leaf = [&](const Token& t) {
      return t.op == kTokenSize ? static_cast<SizeId>(t.value) : constant(t.value);
    };
    return multiply(leaf(tokens[0]), leaf(tokens[1]));
  }
  return append(std::move(tokens), s.max);
}

std::pair<int64_t, std::vector<SizeId>> SizeTable::factors_of(SizeId id) const {
  const Entry& e = entries_[id];
  if (e.known) return {*e.known, {}};
  if (!e.factors.empty()) return {e.factor, e.factors};
  return {1, {id}};
}

SizeId SizeTable::product(int64_t factor, std::vector<SizeId> factors) {
  if (factors.empty() || factor == 0) return constant(factor);
  if (factor == 1 && factors.size() == 1) return factors[0];
  std::sort(factors.begin(), factors.end());
  std::vector<Token> tokens;
  int64_t bound = factor;
  for (const SizeId f : factors) {
    tokens.push_back({kTokenSize, 0, f});
    bound = bound_of_product(bound, entries_[f].bound);
  }
  if (factor != 1) tokens.push_back({BP_SYM_CONSTANT, 0, factor});
  tokens.push_back({BP_SYM_MUL, static_cast<uint32_t>(tokens.size()), 0});
  const SizeId id = append(std::move(tokens), bound);
  entries_[id].factor = factor;
  entries_[id].factors = std::move(factors);
  return id;
}

SizeId SizeTable::multiply(SizeId a, SizeId b) {
  auto [factor, factors] = factors_of(a);
  const auto [other_factor, others] = factors_of(b);
  factors.insert(factors.end(), others.begin(), others.end());
  return product(factor * other_factor, std::move(factors));
}

SizeId SizeTable::binary(uint32_t op, SizeId a, SizeId b, int64_t bound) {
  return append({{kTokenSize, 0, a}, {kTokenSize, 0, b}, {op, 2, 0}}, bound);
}

SizeId SizeTable::add(SizeId a, SizeId b) {
  if (known(a) && known(b)) return constant(*known(a) + *known(b));
  if (is(a, 0)) return b;
  if (is(b, 0)) return a;
  return binary(BP_SYM_ADD, std::min(a, b), std::max(a, b), bound_of_sum(bound(a), bound(b)));
}

std::optional<SizeId> SizeTable::exact_div(SizeId a, SizeId b) {
  auto [factor, factors] = factors_of(a);
  const auto [divisor, others] = factors_of(b);
  if (divisor == 0 || factor % divisor != 0) return std::nullopt;
  if (factor == 0) return constant(0);
  for (const SizeId other : others) {
    const auto found = std::find(factors.begin(), factors.end(), other);
    if (found == factors.end()) return std::nullopt;
    factors.erase(found);
  }
  return product(factor / divisor, std::move(factors));
}

SizeId SizeTable::floor_div(SizeId a, SizeId b) {
  if (const auto exact = exact_div(a, b)) return *exact;
  if (known(a) && known(b) && *known(b) != 0) return constant(floor_quotient(*known(a), *known(b)));
  return binary(BP_SYM_FLOOR_DIV, a, b, bound(a));
}

SizeId SizeTable::ceil_div(SizeId a, SizeId b) {
  if (const auto exact = exact_div(a, b)) return *exact;
  if (known(a) && known(b) && *known(b) != 0)
    return constant(-floor_quotient(-*known(a), *known(b)));
  const int64_t divisor = known(b).value_or(1);
  const int64_t top = bound(a);
  return binary(BP_SYM_CEIL_DIV, a, b,
                top == kUnbounded || divisor < 1 ? top : (top + divisor - 1) / divisor);
}

std::vector<Size> SizeTable::sizes() const {
  std::vector<Size> out;
  out.reserve(entries_.size());
  for (const Entry& e : entries_) out.push_back({e.tokens, e.bound});
  return out;
}

}  // namespace backplane::cuda::compiler
