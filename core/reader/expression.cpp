// A recursive-descent parser: infix operators by precedence, and calls, of which srepr is made.
#include "reader/expression.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

namespace backplane {
namespace {

constexpr int kMaxDepth = 100;
constexpr int kMaxNodes = 10000;

struct Infix {
  std::string_view token;
  std::string_view call;
};

struct Level {
  std::array<Infix, 7> operators;
};

// From the loosest to the tightest; where one token begins another, the longer comes first.
constexpr std::array kLevels = {
    Level{{{{"|", "Or"}}}},
    Level{{{{"&", "And"}}}},
    Level{{{{"<=", "LessThan"},
            {">=", "GreaterThan"},
            {"==", "Equality"},
            {"!=", "Unequality"},
            {"<", "StrictLessThan"},
            {">", "StrictGreaterThan"}}}},
    Level{{{{"+", "Add"}, {"-", "Subtract"}}}},
    Level{{{{"//", "FloorDiv"}, {"*", "Mul"}, {"/", "Divide"}, {"%", "Mod"}}}},
};

struct Rename {
  std::string_view from;
  std::string_view to;
};

constexpr std::array kRenames = {
    Rename{"Eq", "Equality"},          Rename{"Ne", "Unequality"},
    Rename{"Lt", "StrictLessThan"},    Rename{"Le", "LessThan"},
    Rename{"Gt", "StrictGreaterThan"}, Rename{"Ge", "GreaterThan"},
    Rename{"floor", "FloorToInt"},     Rename{"ceiling", "CeilToInt"},
};

struct Atom {
  std::string_view name;
  Expression::Kind kind;
  int64_t integer;
};

constexpr std::array kAtoms = {
    Atom{"true", Expression::Kind::integer, 1},
    Atom{"True", Expression::Kind::integer, 1},
    Atom{"false", Expression::Kind::integer, 0},
    Atom{"False", Expression::Kind::integer, 0},
    Atom{"oo", Expression::Kind::infinity, 1},
    Atom{"inf", Expression::Kind::infinity, 1},
    Atom{"int_oo", Expression::Kind::infinity, 1},
    Atom{"Infinity", Expression::Kind::infinity, 1},
    Atom{"IntInfinity", Expression::Kind::infinity, 1},
    Atom{"NegativeInfinity", Expression::Kind::infinity, -1},
    Atom{"NegativeIntInfinity", Expression::Kind::infinity, -1},
    Atom{"One", Expression::Kind::integer, 1},
    Atom{"Zero", Expression::Kind::integer, 0},
    Atom{"NegativeOne", Expression::Kind::integer, -1},
};

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

Expression make_integer(int64_t value) {
  return {.integer = value};
}

Expression make_call(std::string_view name, std::vector<Expression> operands) {
  return {
      .kind = Expression::Kind::call, .name = std::string(name), .operands = std::move(operands)};
}

Expression make_call(std::string_view name, Expression a, Expression b) {
  std::vector<Expression> operands;
  operands.push_back(std::move(a));
  operands.push_back(std::move(b));
  return make_call(name, std::move(operands));
}

// Whether f(f(a, b), c) is f(a, b, c).
bool is_flat(std::string_view call) {
  return call == "Add" || call == "Mul" || call == "And" || call == "Or";
}

Expression negated(Expression a) {
  if (a.kind == Expression::Kind::integer && a.integer != INT64_MIN) {
    return make_integer(-a.integer);
  }
  if (a.kind == Expression::Kind::infinity) a.integer = -a.integer;
  if (a.kind == Expression::Kind::real) a.real = -a.real;
  if (a.kind == Expression::Kind::infinity || a.kind == Expression::Kind::real) return a;
  return make_call("Mul", make_integer(-1), std::move(a));
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), rest_(text) {}

  Result<Expression> run() {
    BP_ASSIGN_OR_RETURN(Expression result, parse_level(0));
    skip_spaces();
    if (!rest_.empty()) return malformed("something follows its end");
    return result;
  }

 private:
  Result<Expression> parse_level(size_t level);
  Result<Expression> parse_unary();
  Result<Expression> parse_primary();
  Result<Expression> parse_number();
  Result<Expression> parse_call(std::string_view name);
  Result<Expression> finish_call(std::string_view name, std::vector<Expression> operands,
                                 std::optional<std::string_view> quoted);

  void skip_spaces() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) {
      rest_.remove_prefix(1);
    }
  }
  bool take(std::string_view token) {
    skip_spaces();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  std::string_view take_name() {
    size_t size = 0;
    while (size < rest_.size() && is_name_char(rest_[size])) ++size;
    const std::string_view name = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return name;
  }
  std::optional<std::string_view> take_quoted() {
    skip_spaces();
    if (rest_.empty() || (rest_[0] != '\'' && rest_[0] != '"')) return std::nullopt;
    const size_t end = rest_.find(rest_[0], 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  [[nodiscard]] Error malformed(std::string_view why) const {
    return {Code::invalid_argument, "symbolic expression '" + std::string(text_.substr(0, 200)) +
                                        "' can't be read at character " +
                                        std::to_string(text_.size() - rest_.size()) + ": " +
                                        std::string(why)};
  }

  struct Deeper {
    explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    ~Deeper() { --depth_; }
    int& depth_;
  };

  std::string_view text_;
  std::string_view rest_;
  int depth_ = 0;
  int num_nodes_ = 0;
};

Result<Expression> Parser::parse_level(size_t level) {
  if (level == kLevels.size()) return parse_unary();
  BP_ASSIGN_OR_RETURN(Expression left, parse_level(level + 1));
  bool is_chain = false;
  int nesting = 0;
  while (true) {
    const Infix* found = nullptr;
    for (const Infix& infix : kLevels[level].operators) {
      // `**` is a power, never a product.
      if (infix.token.empty() || (infix.token == "*" && rest_.starts_with("**"))) continue;
      if (take(infix.token)) {
        found = &infix;
        break;
      }
    }
    if (found == nullptr) return left;
    BP_ASSIGN_OR_RETURN(Expression right, parse_level(level + 1));
    std::string_view call = found->call;
    if (call == "Subtract") {
      call = "Add";
      right = negated(std::move(right));
    } else if (call == "Divide") {
      call = "Mul";
      right = make_call("Pow", std::move(right), make_integer(-1));
    }
    if (is_flat(call) && left.name == call && is_chain) {
      left.operands.push_back(std::move(right));
    } else {
      if (++nesting > kMaxDepth) return malformed("it is too deep");
      left = make_call(call, std::move(left), std::move(right));
    }
    is_chain = true;
  }
}

Result<Expression> Parser::parse_unary() {
  const Deeper deeper(depth_);
  if (depth_ > kMaxDepth || ++num_nodes_ > kMaxNodes) return malformed("it is too large");
  if (take("-")) {
    BP_ASSIGN_OR_RETURN(Expression operand, parse_unary());
    return negated(std::move(operand));
  }
  if (take("+")) return parse_unary();
  if (take("~")) {
    BP_ASSIGN_OR_RETURN(Expression operand, parse_unary());
    std::vector<Expression> operands;
    operands.push_back(std::move(operand));
    return make_call("Not", std::move(operands));
  }
  BP_ASSIGN_OR_RETURN(Expression base, parse_primary());
  if (!take("**")) return base;
  BP_ASSIGN_OR_RETURN(Expression exponent, parse_unary());
  return make_call("Pow", std::move(base), std::move(exponent));
}

Result<Expression> Parser::parse_primary() {
  skip_spaces();
  if (take("(")) {
    BP_ASSIGN_OR_RETURN(Expression inner, parse_level(0));
    if (!take(")")) return malformed("')' is missing");
    return inner;
  }
  if (!rest_.empty() && (is_digit(rest_[0]) || rest_[0] == '.')) return parse_number();
  const std::string_view name = take_name();
  if (name.empty()) return malformed("a number, a name or '(' should be here");
  if (take("(")) return parse_call(name);
  for (const Atom& atom : kAtoms) {
    if (atom.name == name) return Expression{.kind = atom.kind, .integer = atom.integer};
  }
  return Expression{.kind = Expression::Kind::symbol, .name = std::string(name)};
}

Result<Expression> Parser::parse_number() {
  const char* begin = rest_.data();
  const char* end = begin + rest_.size();
  int64_t integer = 0;
  const auto as_integer = std::from_chars(begin, end, integer);
  double real = 0;
  const auto as_real = std::from_chars(begin, end, real);
  if (as_integer.ptr == as_real.ptr && as_integer.ec == std::errc()) {
    rest_.remove_prefix(static_cast<size_t>(as_integer.ptr - begin));
    return make_integer(integer);
  }
  const std::string_view token(begin, static_cast<size_t>(as_real.ptr - begin));
  if (as_real.ec != std::errc() || token.find_first_of(".eE") == std::string_view::npos) {
    return malformed("a number that does not fit");
  }
  rest_.remove_prefix(token.size());
  return Expression{.kind = Expression::Kind::real, .real = real};
}

Result<Expression> Parser::parse_call(std::string_view name) {
  std::vector<Expression> operands;
  std::optional<std::string_view> quoted;
  bool first = true;
  while (!take(")")) {
    if (!first && !take(",")) return malformed("',' or ')' is missing");
    first = false;
    if (const auto text = take_quoted()) {
      if (!quoted) quoted = text;
      continue;
    }
    skip_spaces();
    const std::string_view before = rest_;
    const std::string_view keyword = take_name();
    if (!keyword.empty() && take("=") && !rest_.starts_with("=")) {
      BP_TRY(parse_level(0));
      continue;
    }
    rest_ = before;
    BP_ASSIGN_OR_RETURN(Expression operand, parse_level(0));
    operands.push_back(std::move(operand));
  }
  return finish_call(name, std::move(operands), quoted);
}

// Calls that spell an atom become that atom.
Result<Expression> Parser::finish_call(std::string_view name, std::vector<Expression> operands,
                                       std::optional<std::string_view> quoted) {
  if (name == "Symbol" && quoted && !quoted->empty()) {
    return Expression{.kind = Expression::Kind::symbol, .name = std::string(*quoted)};
  }
  if (name == "Float" && quoted) {
    Parser inner(*quoted);
    BP_ASSIGN_OR_RETURN(Expression value, inner.run());
    if (value.kind == Expression::Kind::integer) {
      value = {.kind = Expression::Kind::real, .real = static_cast<double>(value.integer)};
    }
    return value;
  }
  if (quoted) return malformed("a text where none belongs");
  if (name == "Integer" && operands.size() == 1) return std::move(operands[0]);
  if (name == "Rational" && operands.size() == 2) {
    return make_call("Mul", std::move(operands[0]),
                     make_call("Pow", std::move(operands[1]), make_integer(-1)));
  }
  if (name == "Half" && operands.empty()) {
    return make_call("Pow", make_integer(2), make_integer(-1));
  }
  for (const Atom& atom : kAtoms) {
    if (atom.name == name && operands.empty()) {
      return Expression{.kind = atom.kind, .integer = atom.integer};
    }
  }
  for (const Rename& rename : kRenames) {
    if (rename.from == name) name = rename.to;
  }
  return make_call(name, std::move(operands));
}

std::string number_text(double value) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end.ptr};
}

}  // namespace

Result<Expression> parse_expression(std::string_view text) {
  return Parser(text).run();
}

std::string to_text(const Expression& expression) {
  switch (expression.kind) {
    using enum Expression::Kind;
    case integer:
      return std::to_string(expression.integer);
    case real:
      return number_text(expression.real);
    case infinity:
      return expression.integer < 0 ? "-oo" : "oo";
    case symbol:
      return expression.name;
    case call:
      break;
  }
  std::string text = expression.name + "(";
  for (size_t i = 0; i < expression.operands.size(); ++i) {
    if (i != 0) text += ", ";
    text += to_text(expression.operands[i]);
  }
  return text + ")";
}

}  // namespace backplane
