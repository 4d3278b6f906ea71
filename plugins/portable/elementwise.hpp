// Element-wise operators as rows of a table: a name, a small lambda, a rule for the dtype.
//
//   constexpr Elementwise rows[] = {
//       {"aten::exp.out", "t>t", loops<1>([](Floating auto x) { return std::exp(x); }), to_float},
//       {"aten::add.out", "oos>t", loops<2>([]<class T>(T a, T b, const T* p) { ... }), same},
//   };
//   constexpr auto table = entries(rows);
//   extern const std::span<const Entry> arithmetic_kernels = table;
//
// What a lambda may be: map.hpp. Its params are the schema's remaining numbers, in order.
#pragma once

#include "portable/map.hpp"

namespace backplane::portable {

// What happens to the operands' common dtype before the operation.
enum class Rule : uint8_t {
  same,      // nothing
  to_float,  // integers and bool become float32
};
using enum Rule;

// An operator. Operands come first in the signature, `arity` of them; all other arguments are
// numbers, passed as params.
struct Elementwise {
  std::string_view name;
  std::string_view signature;
  const Loops* loops;
  Rule rule = Rule::same;
  DTypes dtypes = kNumbers;           // common dtypes that it takes, after the rule
  const Loops* bool_loops = nullptr;  // in place of `loops` for bool
  bool exact_numbers = false;         // half-width: numbers and 0-d operands keep float's precision
  // Refuses more; `common` is the operands' dtype before the rule.
  Status (*check)(const Args&, DType common) = nullptr;
};

// The whole operator `op` on a kernel's arguments; what the rows' kernels run.
Status run_elementwise(Context& ctx, const Args& args, const Elementwise& op);
Status check_elementwise(const Args& args, const Elementwise& op);

// Argument i, a tensor or a number.
[[nodiscard]] Operand operand_of(const Args& args, int64_t i);
// The operands' common dtype by at::result_type.
[[nodiscard]] Result<DType> common_dtype(const Args& args, int first, int count);
// invalid_argument: a result of type `from` does not go into out.
Status check_cast(DType from, const Tensor& out);

// Entries for rows, which must be static.
Status run_row(Context& ctx, const Args& args);
Status check_row(const Args& args);
template <class Rows>
constexpr size_t kRows = sizeof(Rows) / sizeof(Elementwise);
template <class Rows>
constexpr auto entries(const Rows& rows) {
  std::array<Entry, kRows<Rows>> result{};
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = {rows[i].name,        rows[i].signature, run_row, kAll,
                 BP_KERNEL_MAY_ALIAS, check_row,         &rows[i]};
  }
  return result;
}

}  // namespace backplane::portable
