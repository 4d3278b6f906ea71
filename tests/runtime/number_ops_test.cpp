// The core's arithmetic against Python's, whose answers stand in the tables.
#include <doctest/doctest.h>

#include <array>
#include <climits>
#include <cmath>
#include <variant>
#include <vector>

#include "runtime/prim_ops.hpp"

using namespace backplane;
using namespace backplane::runtime;

namespace {

using Number = std::variant<int64_t, double, bool>;

bp_boxed_t box(const Number& number) {
  return std::visit([](auto value) { return boxed(value); }, number);
}

Result<Number> evaluate(std::string_view name, std::vector<Number> operands) {
  const PrimOp* op = find_prim_op(name);
  REQUIRE(op != nullptr);
  REQUIRE(operands.size() + 1 == static_cast<size_t>(op->num_args));
  std::array<bp_boxed_t, 4> boxes{};
  std::array<bp_boxed_t*, 4> pointers{};
  for (size_t i = 0; i < pointers.size(); ++i) {
    if (i < operands.size()) boxes[i] = box(operands[i]);
    pointers[i] = &boxes[i];
  }
  std::vector<Block> retired;
  BP_TRY(op->run({std::span(pointers).first(operands.size() + 1), retired}));
  const bp_boxed_t& result = boxes[operands.size()];
  if (result.kind == BP_BOX_DOUBLE) return Number(result.v.f);
  if (result.kind == BP_BOX_BOOL) return Number(result.v.i != 0);
  return Number(result.v.i);
}

Number i(int64_t value) {
  return value;
}

}  // namespace

TEST_SUITE("core/runtime/numbers") {
  TEST_CASE("results are Python's, in value and type") {
    struct Case {
      const char* name;
      std::vector<Number> operands;
      Number expected;
    };
    const Case cases[] = {
        {"executorch_prim::add.Scalar", {i(2), i(3)}, i(5)},
        {"executorch_prim::add.Scalar", {i(2), 0.5}, 2.5},
        {"executorch_prim::sub.Scalar", {true, i(3)}, i(-2)},
        {"executorch_prim::mul.Scalar", {i(-4), i(3)}, i(-12)},
        {"executorch_prim::floordiv.Scalar", {i(-7), i(2)}, i(-4)},
        {"executorch_prim::floordiv.Scalar", {i(7), i(-2)}, i(-4)},
        {"executorch_prim::floordiv.Scalar", {-7.0, i(2)}, -4.0},
        {"executorch_prim::mod.Scalar", {i(-7), i(3)}, i(2)},
        {"executorch_prim::mod.int", {i(7), i(-3)}, i(-2)},
        {"executorch_prim::mod.Scalar", {i(INT64_MIN), i(-1)}, i(0)},
        {"executorch_prim::mod.Scalar", {-7.5, i(2)}, 0.5},
        {"executorch_prim::truediv.Scalar", {i(7), i(2)}, 3.5},
        {"executorch_prim::pow.Scalar", {i(3), i(4)}, i(81)},
        {"executorch_prim::pow.Scalar", {i(-2), i(63)}, i(INT64_MIN)},
        {"executorch_prim::pow.Scalar", {2.0, i(-1)}, 0.5},
        {"executorch_prim::neg.Scalar", {i(5)}, i(-5)},
        {"executorch_prim::pos.Scalar", {2.5}, 2.5},
        {"executorch_prim::abs.Scalar", {i(-5)}, i(5)},
        {"executorch_prim::eq.Scalar", {i(2), 2.0}, true},
        {"executorch_prim::ne.Scalar", {i(2), i(2)}, false},
        {"executorch_prim::lt.Scalar", {i(1), i(2)}, true},
        {"executorch_prim::le.Scalar", {i(2), i(2)}, true},
        {"executorch_prim::gt.Scalar", {1.5, i(2)}, false},
        {"executorch_prim::ge.Scalar", {i(INT64_MAX), i(INT64_MAX - 1)}, true},
        {"executorch_prim::and_.Scalar", {true, false}, false},
        {"executorch_prim::or.Scalar", {i(5), i(2)}, i(7)},
        {"executorch_prim::lshift.Scalar", {i(3), i(4)}, i(48)},
        {"executorch_prim::rshift.Scalar", {i(-5), i(1)}, i(-3)},
        {"executorch_prim::ceil.Scalar", {-1.5}, i(-1)},
        {"executorch_prim::floor.Scalar", {-1.5}, i(-2)},
        {"executorch_prim::trunc.Scalar", {-1.5}, i(-1)},
        {"executorch_prim::round.Scalar", {2.5}, i(2)},
        {"executorch_prim::round.Scalar", {3.5}, i(4)},
        {"executorch_prim::round.Scalar", {i(3)}, i(3)},
        {"executorch_prim::sym_int.Scalar", {-2.9}, i(-2)},
        {"executorch_prim::sym_float.Scalar", {i(3)}, 3.0},
        {"executorch_prim::sym_max.Scalar", {i(3), i(9)}, i(9)},
        {"executorch_prim::sym_min.Scalar", {i(3), 2.5}, 2.5},
        {"executorch_prim::sym_not.Scalar", {false}, true},
        {"executorch_prim::sym_ite.Scalar", {true, i(1), i(2)}, i(1)},
        {"executorch_prim::sym_ite.Scalar", {false, i(1), 2.5}, 2.5},
        {"executorch_prim::_sym_sqrt.Scalar", {i(9)}, 3.0},
    };
    for (const Case& c : cases) {
      CAPTURE(c.name);
      const auto result = evaluate(c.name, c.operands);
      REQUIRE(result.ok());
      CHECK(*result == c.expected);
    }
  }

  TEST_CASE("what 64 bits can't hold, and division by zero, are errors") {
    struct Case {
      const char* name;
      std::vector<Number> operands;
    };
    const Case cases[] = {
        {"executorch_prim::add.Scalar", {i(INT64_MAX), i(1)}},
        {"executorch_prim::sub.Scalar", {i(INT64_MIN), i(1)}},
        {"executorch_prim::mul.Scalar", {i(INT64_MAX), i(2)}},
        {"executorch_prim::neg.Scalar", {i(INT64_MIN)}},
        {"executorch_prim::abs.Scalar", {i(INT64_MIN)}},
        {"executorch_prim::floordiv.Scalar", {i(1), i(0)}},
        {"executorch_prim::floordiv.Scalar", {i(INT64_MIN), i(-1)}},
        {"executorch_prim::mod.Scalar", {i(1), i(0)}},
        {"executorch_prim::truediv.Scalar", {i(1), i(0)}},
        {"executorch_prim::pow.Scalar", {i(2), i(63)}},
        {"executorch_prim::pow.Scalar", {i(2), i(-1)}},
        {"executorch_prim::lshift.Scalar", {i(1), i(64)}},
        {"executorch_prim::lshift.Scalar", {1.0, i(1)}},
        {"executorch_prim::and.Scalar", {1.0, i(1)}},
        {"executorch_prim::trunc.Scalar", {1e300}},
        {"executorch_prim::ceil.Scalar", {std::nan("")}},
    };
    for (const Case& c : cases) {
      CAPTURE(c.name);
      CHECK_FALSE(evaluate(c.name, c.operands).ok());
    }
  }

  TEST_CASE("names of other operators are not the core's") {
    for (const char* name :
         {"aten::add.out", "executorch_prim::nope.Scalar", "add", "executorch_prim::"}) {
      CHECK(find_prim_op(name) == nullptr);
    }
  }
}
