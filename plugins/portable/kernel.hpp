// What a kernel is written against: its arguments, the host's services, and its row in a table.
//
//   Status relu(Context& ctx, const Args& args) {
//     const Tensor self = args.tensor(0);
//     Tensor out = args.out(0);
//     BP_TRY(ctx.resize(out, self.shape()));
//     ...
//     return Ok{};
//   }
//   constexpr Entry table[] = {{"aten::relu.out", "t>t", relu, kReals}};
//   extern const std::span<const Entry> relu_kernels = table;
//
// The signature says what each argument holds, one letter each, outputs after '>'; the values are
// checked against it before the kernel runs, so accessors have nothing to report:
//   t tensor   l list of tensors   o tensor or number   s number   i integer, dtype, layout, device
//   f double   b bool   n integers (one integer stands for a list of one)   d doubles   m bools
//   z string   upper case: may be absent; L: a list whose elements may be absent
#pragma once

#include <backplane/ext/kernels.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "portable/scalar.hpp"

namespace backplane::portable {

// A piece of an error message.
class Piece {
 public:
  Piece(std::string_view text) : text_(text) {}                         // NOLINT
  Piece(const char* text) : text_(text) {}                              // NOLINT
  Piece(const std::string& text) : text_(text) {}                       // NOLINT
  Piece(DType dtype) : text_(name_of(dtype)) {}                         // NOLINT
  Piece(int64_t value) : text_(std::to_string(value)) {}                // NOLINT
  Piece(int value) : text_(std::to_string(value)) {}                    // NOLINT
  Piece(double value);                                                  // NOLINT
  Piece(std::span<const int64_t> shape);                                // NOLINT "[2, 3]"
  Piece(const Dims& shape) : Piece(std::span<const int64_t>(shape)) {}  // NOLINT
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};
[[nodiscard]] Error error(Code code, std::initializer_list<Piece> pieces);
// Code::invalid_argument, the usual one.
[[nodiscard]] Error invalid(std::initializer_list<Piece> pieces);

// The host's services for one run. [one call at a time, but for parallel_for's body]
class Context {
 public:
  explicit Context(bp_kernel_ctx_t* raw) : raw_(raw) {}

  // Gives `out` its shape; comes before writing it. output_too_small: a bound is exceeded.
  Status resize(const Tensor& out, std::span<const int64_t> shape);
  // Memory for `count` elements until the kernel returns, not initialized, aligned to 64 bytes.
  // out_of_memory: the host has none.
  template <class T>
  Result<T*> scratch(int64_t count) {
    BP_ASSIGN_OR_RETURN(void* memory, scratch_bytes(count, sizeof(T)));
    return static_cast<T*>(memory);
  }
  [[nodiscard]] uint64_t random() { return raw_->random(raw_); }
  // body(begin, end) over ranges that cover [0, n), maybe on several threads.
  template <class F>
  void parallel_for(int64_t n, int64_t grain, F&& body) {
    if (n > 0) {
      raw_->parallel_for(
          raw_, n, grain,
          [](void* f, int64_t begin, int64_t end) {
            (*static_cast<std::remove_reference_t<F>*>(f))(begin, end);
          },
          const_cast<void*>(static_cast<const void*>(&body)));
    }
  }
  [[nodiscard]] bp_kernel_ctx_t* raw() const { return raw_; }

 private:
  Result<void*> scratch_bytes(int64_t count, size_t element_size);
  bp_kernel_ctx_t* raw_;
};

struct Entry;

// The arguments of one call, by position in the schema. What the signature allows is there.
class Args {
 public:
  Args(const Entry& entry, std::span<const bp_boxed_t> values);

  [[nodiscard]] Tensor tensor(int64_t i) const;  // an absent one is false
  [[nodiscard]] bool is_tensor(int64_t i) const { return box(i).kind == BP_BOX_TENSOR; }
  [[nodiscard]] bool is_number(int64_t i) const;
  [[nodiscard]] bool has(int64_t i) const { return box(i).kind != BP_BOX_NONE; }
  [[nodiscard]] int64_t list_size(int64_t i) const { return box(i).count; }
  [[nodiscard]] Tensor list_tensor(int64_t i, int64_t element) const;
  [[nodiscard]] Scalar scalar(int64_t i) const;
  [[nodiscard]] int64_t integer(int64_t i) const;
  [[nodiscard]] int64_t integer_or(int64_t i, int64_t absent) const;
  [[nodiscard]] double floating(int64_t i) const;
  [[nodiscard]] double floating_or(int64_t i, double absent) const;
  [[nodiscard]] bool boolean(int64_t i) const { return box(i).v.i != 0; }
  [[nodiscard]] std::span<const int64_t> ints(int64_t i) const;  // empty when absent
  [[nodiscard]] std::span<const double> doubles(int64_t i) const;
  [[nodiscard]] std::span<const uint8_t> bools(int64_t i) const;
  [[nodiscard]] std::string_view string(int64_t i) const;  // empty when absent

  [[nodiscard]] int64_t size() const { return static_cast<int64_t>(values_.size()); }
  [[nodiscard]] int64_t num_inputs() const { return num_inputs_; }
  [[nodiscard]] Tensor out(int64_t i) const { return tensor(num_inputs_ + i); }
  // Element of an output that is a list.
  [[nodiscard]] int64_t out_list_size() const { return list_size(num_inputs_); }
  [[nodiscard]] Tensor out_list(int64_t e) const { return list_tensor(num_inputs_, e); }
  [[nodiscard]] const Entry& entry() const { return entry_; }

 private:
  [[nodiscard]] const bp_boxed_t& box(int64_t i) const { return values_[static_cast<size_t>(i)]; }
  const Entry& entry_;
  std::span<const bp_boxed_t> values_;
  int64_t num_inputs_;
};

// A kernel's row. `dtypes` holds for the first tensor argument (for out 0 if there is none);
// `check`, if given, refuses more. Both are asked by `supports`, where tensors have no data and
// shapes may be upper bounds, and again before each run.
struct Entry {
  std::string_view name;       // "aten::relu.out"
  std::string_view signature;  // "t>t"
  Status (*run)(Context&, const Args&);
  DTypes dtypes = kAll;
  uint32_t flags = 0;  // BP_KERNEL_*
  Status (*check)(const Args&) = nullptr;
  const void* data = nullptr;  // what functions shared by a family know their operator by
};

// PyTorch's refusal of a dtype: "not implemented for 'Bool'". The library puts the kernel's name in
// front of every error.
[[nodiscard]] Error not_implemented(DType dtype);

}  // namespace backplane::portable
