// What one element of a tensor is: an expression over the tensor's variables.
//
// Each expression has a dtype. float16 and bfloat16 are held as float and rounded where they are
// made, so a chain of operators gives what eager execution gives. Equal expressions are one.
#pragma once

#include <backplane/graph.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/compiler/index.hpp"

namespace backplane::cuda::compiler {

using sdk::operator==;  // of bp_dtype_t, which is of C's namespace

using ExprId = int32_t;
using TensorId = int32_t;

enum class Reduction : uint8_t { none, sum, product, max, min, any, all, arg_max, arg_min };

struct Expr {
  enum class Kind : uint8_t {
    load,     // tensor[indices]
    index,    // indices[0], an integer
    number,   // input `tensor` of the graph, a number on the host
    literal,  // text
    apply,    // text, in which $0, $1… are the operands
    guard,    // operands[0] where 0 ≤ indices[i] < limits[i], else operands[1]; only that is read
    choose,   // operands[1] where operands[0], else operands[2]; only that is read
    reduce    // operands[0] over all values of `variables`; arg_*: also operands[1], the position
  } kind;
  bp_dtype_t dtype;
  Reduction reduction = Reduction::none;
  TensorId tensor = -1;
  std::string text = {};
  std::vector<ExprId> operands = {};
  std::vector<Index> indices = {};
  std::vector<SizeId> limits = {};
  std::vector<AtomId> variables = {};
  friend bool operator==(const Expr&, const Expr&) = default;
};

// The type that holds such a value in a kernel, and the one that it has in memory.
[[nodiscard]] std::string_view register_type(bp_dtype_t dtype);
[[nodiscard]] std::string_view memory_type(bp_dtype_t dtype);
// Whether kernels can hold it: floats, integers and bool.
[[nodiscard]] bool is_supported(bp_dtype_t dtype);
[[nodiscard]] bool is_floating(bp_dtype_t dtype);
// Where sums of it are made: float32 of what is shorter, int64 of integers.
[[nodiscard]] bp_dtype_t accumulator(bp_dtype_t dtype);
[[nodiscard]] inline uint32_t size_of(bp_dtype_t dtype) {
  return dtype.bits / 8U;
}

class ExprPool {
 public:
  explicit ExprPool(SizeTable& sizes) : indices_(sizes) {}
  [[nodiscard]] IndexPool& indices() { return indices_; }
  [[nodiscard]] const IndexPool& indices() const { return indices_; }
  [[nodiscard]] const Expr& at(ExprId id) const { return exprs_[static_cast<size_t>(id)]; }
  [[nodiscard]] ExprId add(Expr expr);

  [[nodiscard]] ExprId load(TensorId tensor, bp_dtype_t dtype, std::vector<Index> at);
  [[nodiscard]] ExprId index(const Index& i);
  [[nodiscard]] ExprId literal(double number, bp_dtype_t dtype);
  [[nodiscard]] ExprId literal(int64_t number, bp_dtype_t dtype);
  [[nodiscard]] ExprId input_number(int32_t input, bp_dtype_t dtype);
  // `text` computes in register_type(dtype); rounded to dtype.
  [[nodiscard]] ExprId apply(bp_dtype_t dtype, std::string_view text, std::vector<ExprId> operands);
  [[nodiscard]] ExprId cast(ExprId value, bp_dtype_t dtype);
  [[nodiscard]] ExprId guard(std::vector<Index> indices, std::vector<SizeId> limits, ExprId inside,
                             ExprId otherwise);
  [[nodiscard]] ExprId choose(ExprId condition, ExprId yes, ExprId no);
  [[nodiscard]] ExprId reduce(Reduction kind, ExprId element, std::vector<AtomId> over,
                              ExprId position = -1);

  // `of` with its variables replaced, and with loads replaced where `inlined` says by what:
  // inlined(load) is -1 to keep it.
  using Inline = std::function<ExprId(const Expr& load)>;
  [[nodiscard]] ExprId substitute(ExprId of, const std::map<AtomId, Index>& with,
                                  const Inline& inlined);

 private:
  struct Rewrite;
  IndexPool indices_;
  std::vector<Expr> exprs_;
  std::multimap<size_t, ExprId> by_hash_;
};

// Calls f(expr id) for each expression below `root`, each once, operands first.
void visit(const ExprPool& pool, ExprId root, const std::function<void(ExprId)>& f);

}  // namespace backplane::cuda::compiler
