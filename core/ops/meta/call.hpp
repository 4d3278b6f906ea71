// One operator call as the shape rules see it: arguments by name, results to be added, arithmetic.
//
// The first error sticks; after it accessors give something harmless, so that a rule is a straight
// line and infer checks once.
#pragma once

#include <string>
#include <string_view>

#include "ops/meta.hpp"
#include "ops/schema.hpp"

namespace backplane::ops::meta {

using Sizes = std::vector<SymInt>;

// A tensor or scalar operand. A scalar's type has no sizes.
struct Operand {
  TensorType type;
  bool is_scalar = false;
};

class Call {
 public:
  Call(Module& module, const Graph& graph, const Node& node);

  // -- arguments by name; absent ones are their default, or None
  [[nodiscard]] const Argument& raw(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;  // there, and not None
  // A tensor's type. invalid_argument: it is none.
  const TensorType& tensor(std::string_view name);
  // Elements of Tensor[] or Tensor?[]: null where a hole is.
  std::vector<const TensorType*> tensors(std::string_view name);
  // Tensor or scalar, or nothing for None.
  std::optional<Operand> operand(std::string_view name);
  // An integer, literal or symbolic. unsupported: a value without an expression.
  SymInt integer(std::string_view name);
  int64_t literal(std::string_view name);  // unsupported: symbolic
  // A list of integers; one integer is a list of one.
  Sizes integers(std::string_view name);
  // The same for `count` dimensions: an element stands for all, none for `otherwise`.
  Sizes integers(std::string_view name, size_t count, SymInt otherwise);
  std::vector<int64_t> literals(std::string_view name);
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::optional<DType> dtype(std::string_view name) const;

  // A dimension from 0, of a tensor of `rank` dimensions (rank 0 counts as 1).
  size_t wrap(int64_t dim, size_t rank);
  size_t dim(std::string_view name, size_t rank) { return wrap(literal(name), rank); }

  // -- results
  void add(DType dtype, Sizes sizes);
  void add(const TensorType& like) { add(like.dtype, like.sizes); }
  void add_number(SymInt value);  // of kind sym_int

  // -- sizes
  SymbolTable& symbols() { return module_.symbols; }
  SymInt plus(SymInt a, SymInt b) { return symbols().add(a, b); }
  SymInt minus(SymInt a, SymInt b) { return symbols().sub(a, b); }
  SymInt times(SymInt a, SymInt b) { return symbols().mul(a, b); }
  SymInt product(std::span<const SymInt> sizes) { return symbols().product(sizes); }
  // invalid_argument: they differ. Gives the one that says more.
  SymInt same(SymInt a, SymInt b, std::string_view what);
  void expect_rank(const TensorType& type, size_t min, size_t max, std::string_view what);
  // What sizes become when tensors of these sizes are combined element by element.
  Sizes broadcast(const Sizes& a, const Sizes& b);

  // -- errors
  void fail(Code code, std::string message);
  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  // The overload of the operator, without the '.'.
  [[nodiscard]] std::string_view overload() const;
  [[nodiscard]] const Node& node() const { return node_; }

  Result<std::vector<Value>> finish() &&;

 private:
  std::optional<SymInt> expression(const Argument& argument);

  Module& module_;
  const Graph& graph_;
  const Node& node_;
  std::vector<Value> results_;
  std::optional<Error> error_;
  const TensorType none_{};
  const Argument absent_ = None{};
};

// Operators of one rule: base names, separated by spaces. What `detail` says is up to the rule.
struct Family {
  std::string_view names;
  void (*infer)(Call& call, const Family& family);
  std::string_view operands = {};
  int detail = 0;
};

// The rules, one table a file.
[[nodiscard]] std::span<const Family> elementwise_rules();
[[nodiscard]] std::span<const Family> reduction_rules();
[[nodiscard]] std::span<const Family> view_rules();
[[nodiscard]] std::span<const Family> index_rules();
[[nodiscard]] std::span<const Family> factory_rules();
[[nodiscard]] std::span<const Family> network_rules();
[[nodiscard]] std::span<const Family> window_rules();
[[nodiscard]] std::span<const Family> loss_rules();

}  // namespace backplane::ops::meta
