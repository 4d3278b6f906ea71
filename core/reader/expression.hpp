// Symbolic expressions as `.pt2` files write them, as a tree.
//
// Two spellings, one grammar: `sympy.srepr` ("Add(Symbol('s0', integer=True), Integer(1))") and,
// in older files and in the names of range constraints, plain text ("2*s0 + 1").
#pragma once

#include <backplane/result.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

struct Expression {
  enum class Kind : uint8_t {
    integer,   // integer
    real,      // real
    infinity,  // integer: 1 or -1
    symbol,    // name
    call,      // name, operands; operators are calls too: Add, Mul, Pow, FloorDiv, LessThan, …
  };
  Kind kind = Kind::integer;
  int64_t integer = 0;
  double real = 0;
  std::string name;
  std::vector<Expression> operands;
};

// Truth values become integers 0 and 1; names of functions are SymPy's long ones ("Equality");
// keyword arguments are dropped. At most 10,000 nodes, 100 levels deep.
// invalid_argument: malformed, too large, or an integer over 64 bits; names the text.
[[nodiscard]] Result<Expression> parse_expression(std::string_view text);

// One text for equal trees: "TruncToInt(Mul(1.7, ToFloat(s0)))".
[[nodiscard]] std::string to_text(const Expression& expression);

}  // namespace backplane
