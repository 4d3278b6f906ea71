// Lowering of expression trees. Quotients are carried as numerator and denominator until something
// rounds them, so that they never pass through floating point.
#include "reader/symbolic.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "reader/interval.hpp"

namespace backplane {
namespace {

using Kind = Expression::Kind;

// Functions that give an integer or a truth value, whatever they are of.
struct Operator {
  std::string_view name;
  SymOp op;
  size_t arity = 2;         // 0: any
  bool is_swapped = false;  // a >= b is b <= a
};

constexpr std::array kOperators = {
    Operator{"CleanDiv", SymOp::floor_div},
    Operator{"FloorDiv", SymOp::floor_div},
    Operator{"CeilDiv", SymOp::ceil_div},
    Operator{"Mod", SymOp::mod},
    Operator{"PythonMod", SymOp::mod},
    Operator{"ModularIndexing", SymOp::mod, 3},
    Operator{"PowByNatural", SymOp::pow},
    Operator{"LShift", SymOp::shift_left},
    Operator{"RShift", SymOp::shift_right},
    Operator{"BitwiseFn_bitwise_and", SymOp::bit_and},
    Operator{"BitwiseFn_bitwise_or", SymOp::bit_or},
    Operator{"Equality", SymOp::eq},
    Operator{"Unequality", SymOp::ne},
    Operator{"StrictLessThan", SymOp::lt},
    Operator{"LessThan", SymOp::le},
    Operator{"StrictGreaterThan", SymOp::lt, 2, true},
    Operator{"GreaterThan", SymOp::le, 2, true},
    Operator{"And", SymOp::logical_and, 0},
    Operator{"Or", SymOp::logical_or, 0},
};

// A number as far as integers can say it: numerator / denominator, or unknown.
struct Number {
  bool known = true;
  bool is_rounded = false;  // a float quotient that only rounding may follow, as floats lose bits
  SymInt numerator = 0;
  SymInt denominator = 1;

  [[nodiscard]] bool is_integer() const { return denominator == SymInt(1); }
};

constexpr Number kUnknown = {.known = false};

// c as p / 2^k where products with sizes are exact in float64 too.
Number dyadic(double c) {
  constexpr int kBits = 24;
  const double scaled = std::ldexp(c, kBits);
  if (!(std::fabs(c) < (1 << kBits)) || scaled != std::floor(scaled)) return kUnknown;
  auto numerator = static_cast<int64_t>(scaled);
  int64_t denominator = int64_t{1} << kBits;
  while (denominator > 1 && numerator % 2 == 0) {
    numerator /= 2;
    denominator /= 2;
  }
  return {.numerator = numerator, .denominator = denominator};
}

bool is_power_of_two(SymInt value) {
  return value.is_constant() && value.constant() > 0 &&
         (value.constant() & (value.constant() - 1)) == 0;
}

}  // namespace

class SymbolicLowering {
 public:
  explicit SymbolicLowering(SymbolicReader& reader) : reader_(reader), symbols_(reader.symbols_) {}

  // An integer, exact or a symbol that stands for it.
  SymInt integer(const Expression& e);

 private:
  Number number(const Expression& e);
  Number call(const Expression& e);
  Number sum(const Expression& e);
  Number product(const Expression& e);
  Number power(const Expression& e);
  Number quotient(const Expression& e);
  Number extremum(const Expression& e);
  Number rounded(const Expression& e);
  Number integer_call(const Expression& e);
  SymInt opaque(const Expression& e);

  SymbolicReader& reader_;
  SymbolTable& symbols_;
};

SymInt SymbolicLowering::integer(const Expression& e) {
  const Number n = number(e);
  if (!n.known) return opaque(e);
  return n.is_integer() ? n.numerator : symbols_.floor_div(n.numerator, n.denominator);
}

Number SymbolicLowering::number(const Expression& e) {
  switch (e.kind) {
    case Kind::integer:
      return {.numerator = e.integer};
    case Kind::real:
      return dyadic(e.real);
    case Kind::infinity:
      return {.numerator = e.integer < 0 ? -kUnbounded : kUnbounded};
    case Kind::symbol:
      // `zf0` and `zuf0` are numbers that are no integers.
      if (e.name.starts_with("zf") || e.name.starts_with("zuf")) return kUnknown;
      return {.numerator = reader_.symbol(e.name)};
    case Kind::call:
      return call(e);
  }
  return kUnknown;
}

Number SymbolicLowering::call(const Expression& e) {
  const std::string_view name = e.name;
  const size_t arity = e.operands.size();
  if (arity == 0) return kUnknown;
  if (name == "Add") return sum(e);
  if (name == "Mul") return product(e);
  if (name == "Max" || name == "Min") return extremum(e);
  if (arity == 1) {
    if (name == "ToFloat" || name == "Identity") return number(e.operands[0]);
    if (name == "Not") {
      const std::array operands = {integer(e.operands[0])};
      return {.numerator = symbols_.make(SymOp::logical_not, operands)};
    }
    if (name.ends_with("ToInt")) return rounded(e);
    return kUnknown;
  }
  if (name == "Pow") return power(e);
  if (name == "IntTrueDiv" || name == "FloatTrueDiv") return quotient(e);
  return integer_call(e);
}

Number SymbolicLowering::sum(const Expression& e) {
  Number total;
  for (const Expression& operand : e.operands) {
    const Number n = number(operand);
    if (!n.known || n.is_rounded) return kUnknown;
    if (total.denominator == n.denominator) {
      total.numerator = symbols_.add(total.numerator, n.numerator);
    } else {
      total.numerator = symbols_.add(symbols_.mul(total.numerator, n.denominator),
                                     symbols_.mul(n.numerator, total.denominator));
      total.denominator = symbols_.mul(total.denominator, n.denominator);
    }
  }
  return total;
}

Number SymbolicLowering::product(const Expression& e) {
  Number total = {.numerator = 1};
  for (const Expression& operand : e.operands) {
    const Number n = number(operand);
    if (!n.known || n.is_rounded) return kUnknown;
    total.numerator = symbols_.mul(total.numerator, n.numerator);
    total.denominator = symbols_.mul(total.denominator, n.denominator);
  }
  return total;
}

Number SymbolicLowering::power(const Expression& e) {
  const Number base = number(e.operands[0]);
  const Number exponent = number(e.operands[1]);
  if (!base.known || base.is_rounded || !exponent.known || !exponent.is_integer()) return kUnknown;
  if (exponent.numerator == SymInt(-1)) {
    return {.numerator = base.denominator, .denominator = base.numerator};
  }
  if (!base.is_integer() || symbols_.range(exponent.numerator).min < 0) return kUnknown;
  const std::array operands = {base.numerator, exponent.numerator};
  return {.numerator = symbols_.make(SymOp::pow, operands)};
}

Number SymbolicLowering::quotient(const Expression& e) {
  const Number a = number(e.operands[0]);
  const Number b = number(e.operands[1]);
  if (!a.known || a.is_rounded || !b.known || b.is_rounded) return kUnknown;
  const SymInt denominator = symbols_.mul(a.denominator, b.numerator);
  return {.is_rounded = !is_power_of_two(denominator),
          .numerator = symbols_.mul(a.numerator, b.denominator),
          .denominator = denominator};
}

Number SymbolicLowering::extremum(const Expression& e) {
  const bool is_max = e.name == "Max";
  std::optional<SymInt> best;
  for (const Expression& operand : e.operands) {
    const Number n = number(operand);
    if (!n.known || !n.is_integer()) return kUnknown;
    if (!best) {
      best = n.numerator;
    } else {
      best = is_max ? symbols_.max(*best, n.numerator) : symbols_.min(*best, n.numerator);
    }
  }
  return {.numerator = *best};
}

Number SymbolicLowering::rounded(const Expression& e) {
  const Number n = number(e.operands[0]);
  if (n.known && n.is_integer()) return n;
  if (!n.known || e.name == "RoundToInt") return {.numerator = opaque(e)};
  const SymInt down = symbols_.floor_div(n.numerator, n.denominator);
  if (e.name == "FloorToInt") return {.numerator = down};
  const SymInt up = symbols_.ceil_div(n.numerator, n.denominator);
  if (e.name == "CeilToInt") return {.numerator = up};
  if (e.name != "TruncToInt") return kUnknown;
  return {.numerator = symbols_.add(symbols_.max(down, 0), symbols_.min(up, 0))};
}

Number SymbolicLowering::integer_call(const Expression& e) {
  std::vector<SymInt> operands;
  const bool is_integer = std::any_of(kOperators.begin(), kOperators.end(), [&](const Operator& o) {
    return o.name == e.name && (o.arity == 0 || o.arity == e.operands.size());
  });
  for (const Expression& operand : e.operands) {
    const Number n = number(operand);
    if (!n.known || !n.is_integer()) return is_integer ? Number{.numerator = opaque(e)} : kUnknown;
    operands.push_back(n.numerator);
  }
  for (const Operator& known : kOperators) {
    if (known.name != e.name || !is_integer) continue;
    if (known.is_swapped) std::swap(operands[0], operands[1]);
    switch (known.op) {
      case SymOp::floor_div:
        return {.numerator = symbols_.floor_div(operands[0], operands[1])};
      case SymOp::ceil_div:
        return {.numerator = symbols_.ceil_div(operands[0], operands[1])};
      case SymOp::mod:
        break;
      default:
        return {.numerator = symbols_.make(known.op, operands)};
    }
    if (e.name == "ModularIndexing") {
      operands = {symbols_.floor_div(operands[0], operands[1]), operands[2]};
    }
    return {.numerator = symbols_.mod(operands[0], operands[1])};
  }
  if (e.name == "Where" && operands.size() == 3) {
    return {.numerator = symbols_.make(SymOp::where, operands)};
  }
  return kUnknown;
}

SymInt SymbolicLowering::opaque(const Expression& e) {
  const std::string name = to_text(e);
  if (const auto known = symbols_.find(name)) return *known;
  const SymInt result = symbols_.symbol(name);
  const size_t index = *symbols_.as_symbol(result);
  symbols_.info(index).range = rounded_inward(interval_of(e, symbols_));
  reader_.opaque_.push_back({index, e});
  return result;
}

SymInt SymbolicReader::symbol(std::string_view name) {
  if (const auto known = symbols_.find(name)) return *known;
  const SymInt result = symbols_.symbol(name);
  // `u0`, which a value gives: any integer until the file says otherwise. Sizes are not negative.
  if (name.starts_with("u")) {
    symbols_.info(*symbols_.as_symbol(result)).range = {-kUnbounded, kUnbounded};
  }
  return result;
}

Status SymbolicReader::constrain(std::string_view text, Range range) {
  BP_ASSIGN_OR_RETURN(const Expression e, parse_expression(text));
  if (e.kind != Kind::symbol) return Ok{};
  if (!e.name.starts_with("u")) range.min = std::max<int64_t>(range.min, 0);  // a size
  if (range.min > range.max) {
    return Error{Code::invalid_argument, "the range of symbol '" + e.name.substr(0, 200) +
                                             "' is empty: " + std::to_string(range.min) + " to " +
                                             std::to_string(range.max)};
  }
  symbols_.info(*symbols_.as_symbol(symbol(e.name))).range = range;
  return Ok{};
}

Result<SymInt> SymbolicReader::read(std::string_view text, std::optional<int64_t> hint) {
  const auto [found, is_new] = read_.try_emplace(std::string(text));
  if (is_new) {
    BP_ASSIGN_OR_RETURN(const Expression e, parse_expression(text));
    found->second = SymbolicLowering(*this).integer(e);
  }
  if (hint) {
    if (const auto index = symbols_.as_symbol(found->second)) symbols_.info(*index).hint = *hint;
  }
  return found->second;
}

void SymbolicReader::finish() {
  for (const Opaque& part : opaque_) {
    int64_t& hint = symbols_.info(part.symbol).hint;
    if (hint >= 0) continue;
    if (const auto value = hint_of(part.expression, symbols_)) hint = *value;
  }
}

}  // namespace backplane
