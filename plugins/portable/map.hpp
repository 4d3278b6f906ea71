// map(): one small function applied to all elements of broadcast tensors, and what turns a lambda
// into such a function.
//
// A lambda is compiled for those compute types that it accepts (constrain it with the concepts
// below) and takes as many values as loops<N> says; with a last parameter `const T*` it also gets
// numbers (Params). That it returns bool, or a real part, is seen by itself.
//
//   constexpr auto scaled = loops<1>([]<Floating T>(T x, const T* p) { return x * p[0]; });
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
  [[nodiscard]] const Loop& at(DType dtype) const {
    return of[static_cast<size_t>(compute_of(dtype))];
  }
};

// One operand of map(): a tensor, or a number where `tensor` is false.
struct Operand {
  Tensor tensor;
  Scalar number;
  std::optional<DType> as = std::nullopt;  // converted to this first, else to Map's dtype
  bool exact = false;                      // a number that keeps its compute type's precision
};

// A loop's numbers, in the compute type of `dtype`.
class Params {
 public:
  static constexpr size_t kMax = 8;
  Params(DType dtype, std::initializer_list<Scalar> numbers);
  void push_back(const Scalar& number);
  [[nodiscard]] const void* data() const { return bytes_.data(); }

 private:
  Compute compute_;
  size_t count_ = 0;
  alignas(16) std::array<std::byte, kMax * sizeof(Complex128)> bytes_{};
};

// out = op(operands...) in `dtype`'s precision, broadcast, stored as out's dtype. Resizes out.
struct Map {
  const Loops* loops;
  DType dtype;
  std::span<const Operand> operands;
  const void* params = nullptr;
};
Status map(Context& ctx, const Map& map, const Tensor& out);

// Sets all elements of `out`, which has its shape, to a number as its dtype holds it.
void fill(const Tensor& out, const Scalar& value);

// The dtype of a loop's results when it computes for `dtype`: bool, dtype, its real or complex kin.
[[nodiscard]] DType result_of(const Loop& loop, DType dtype);

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
