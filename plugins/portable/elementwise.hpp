// Element-wise operators as rows of a table: a name, a small lambda, a rule for the dtype.
//
//   constexpr Elementwise rows[] = {
//       {"aten::exp.out", "t>t", loops<1>([](Floating auto x) { return std::exp(x); }), to_float},
//       {"aten::add.out", "oos>t", loops<2>([]<class T>(T a, T b, const T* p) { ... }), same},
//   };
//   constexpr auto table = entries(rows);
//   extern const std::span<const Entry> arithmetic_kernels = table;
//
// A lambda is compiled for those compute types that it accepts (constrain it with the concepts
// below) and takes as many values as loops<N> says; with a last parameter `const T*` it also gets
// the schema's remaining numbers, in order, as T. Returning bool or a real part is seen by itself.
#pragma once

#include <concepts>

#include "portable/convert.hpp"
#include "portable/kernel.hpp"

namespace backplane::portable {

template <class T>
concept Floating = std::floating_point<T>;
template <class T>
concept Integer = std::same_as<T, int64_t> || std::same_as<T, uint64_t>;
template <class T>
concept Real = Floating<T> || Integer<T>;
template <class T>
concept ComplexNumber = std::same_as<T, Complex64> || std::same_as<T, Complex128>;
template <class T>
concept Inexact = Floating<T> || ComplexNumber<T>;
template <class T>
concept Number = Real<T> || ComplexNumber<T>;

// Computes n elements. in: one strip for each operand. params: T[], or null.
struct Loop {
  void (*run)(void* out, const void* const* in, const void* params, int64_t n) = nullptr;
  DType result = DType::f32;  // what it writes: native, or boolean
};
// By Compute; null where the operator has no meaning.
struct Loops {
  std::array<Loop, 6> of;
  int arity;
};

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

// One operand of map(): a tensor, or a number where `tensor` is false.
struct Operand {
  Tensor tensor;
  Scalar number;
  DType as = DType::f32;  // converted to this before the operation
  bool exact = false;     // or to its compute type only
};

// out = loop(operands...), broadcast and stored as out's dtype. Resizes out. `result` is what the
// loop's values are rounded to first. `params`: of the loop's type.
struct Map {
  const Loop* loop;
  std::span<const Operand> operands;
  DType result = DType::f32;
  const void* params = nullptr;
};
Status map(Context& ctx, const Map& map, const Tensor& out);

// The whole operator `op` on a kernel's arguments; what the rows' kernels run.
Status run_elementwise(Context& ctx, const Args& args, const Elementwise& op);
Status check_elementwise(const Args& args, const Elementwise& op);

// The operands' common dtype by at::result_type.
[[nodiscard]] Result<DType> common_dtype(const Args& args, int first, int count);
// invalid_argument: a result of type `from` does not go into out.
Status check_cast(DType from, const Tensor& out);

// Entries for rows, which must be static.
Status run_row(Context& ctx, const Args& args);
Status check_row(const Args& args);
template <size_t N>
constexpr std::array<Entry, N> entries(const Elementwise (&rows)[N]) {
  std::array<Entry, N> result{};
  for (size_t i = 0; i < N; ++i) {
    result[i] = {rows[i].name,        rows[i].signature, run_row, kAll,
                 BP_KERNEL_MAY_ALIAS, check_row,         &rows[i]};
  }
  return result;
}

namespace detail {

template <class T, size_t>
using Same = T;

template <class F, class T, size_t... I>
constexpr Loop make_loop(std::index_sequence<I...>) {
  constexpr bool plain = std::is_invocable_v<F, Same<T, I>...>;
  constexpr bool with_params = std::is_invocable_v<F, Same<T, I>..., const T*>;
  if constexpr (plain) {
    using R = std::invoke_result_t<F, Same<T, I>...>;
    return {[](void* out, const void* const* in, const void*, int64_t n) {
              for (int64_t i = 0; i < n; ++i) {
                static_cast<R*>(out)[i] = F{}(static_cast<const T*>(in[I])[i]...);
              }
            },
            kNative<R>};
  } else if constexpr (with_params) {
    using R = std::invoke_result_t<F, Same<T, I>..., const T*>;
    return {[](void* out, const void* const* in, const void* params, int64_t n) {
              for (int64_t i = 0; i < n; ++i) {
                static_cast<R*>(out)[i] =
                    F{}(static_cast<const T*>(in[I])[i]..., static_cast<const T*>(params));
              }
            },
            kNative<R>};
  } else {
    return {};
  }
}

template <size_t N, class F>
inline constexpr Loops kLoops = {{make_loop<F, float>(std::make_index_sequence<N>()),
                                  make_loop<F, double>(std::make_index_sequence<N>()),
                                  make_loop<F, int64_t>(std::make_index_sequence<N>()),
                                  make_loop<F, uint64_t>(std::make_index_sequence<N>()),
                                  make_loop<F, Complex64>(std::make_index_sequence<N>()),
                                  make_loop<F, Complex128>(std::make_index_sequence<N>())},
                                 static_cast<int>(N)};

}  // namespace detail

template <size_t N, class F>
constexpr const Loops* loops(F) {
  return &detail::kLoops<N, F>;
}

}  // namespace backplane::portable
