// Rewrites one graph: walks its old nodes in order and puts new ones into a new list.
//
//   Rewriter r(module, graph, table);
//   BP_TRY(r.walk([&](Node& node) -> Status {
//     if (node.op != "aten::square") return r.keep(std::move(node));
//     const ValueRef x = r.args(node).tensor("self");
//     r.replace(node, r.emit("aten::mul.Tensor", {x, x}));
//     return r.status();
//   }));
//   BP_TRY(r.finish());
//
// The first error sticks: every later call does nothing and returns something harmless (checked
// accessors give size 1, rank 0), so a visit may emit a chain and check once, by returning
// status(). Operands of a visited node are already replaced. Values are numbered anew by finish, so
// no ValueId outlives it. Everything is linear in what is walked and emitted. [any thread, one at a
// time]
#pragma once

#include <backplane/result.hpp>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "ops/schema.hpp"

namespace backplane::passes {

class NodeArgs;

class Rewriter {
 public:
  // All three must outlive it. The graph has no nodes from now until finish.
  Rewriter(Module& module, Graph& graph, const ops::Table& table);

  // Visits the old nodes. An error is named after the node. What a visit neither keeps nor replaces
  // is gone, and may have no users.
  [[nodiscard]] Status walk(const std::function<Status(Node&)>& visit);
  // Gives the graph its new nodes and outputs, drops values that nobody uses, makes names unique.
  [[nodiscard]] Status finish();

  // Appends a node as it is.
  Status keep(Node&& node);

  // Appends a node of operator `op` (an aten or custom operator of the table): arguments in the
  // schema's order, then by name; what is not given takes its default. Integers stand for a list
  // of one or a float where the schema wants that. Result types are inferred, name and origin come
  // from the node being visited. The only result:
  ValueRef emit(std::string_view op, std::vector<Argument> args,
                std::vector<NamedArgument> by_name = {});
  // All results, one for each element of a Tensor[].
  std::vector<ValueRef> emit_all(std::string_view op, std::vector<Argument> args,
                                 std::vector<NamedArgument> by_name = {});

  // The same for an operator without a shape rule (or with one): results have these types then.
  std::vector<ValueRef> emit_as(std::string_view op, std::vector<NamedArgument> by_name,
                                std::vector<TensorType> otherwise);

  // Users of `old` (of the old graph) use `by` from now on. A value that was emitted in this visit
  // takes over the old one's name and type. internal: dtype, rank or a static size differ.
  void replace(ValueId old, ValueRef by);
  void replace(const Node& node, ValueRef by) { replace(node.outputs[0], by); }
  // Gives a value that was emitted in this visit the type of an old one. internal as above.
  void adopt_type(ValueRef value, ValueId old);
  // `replace` for a symbolic number that turned out to be a literal (int64_t, double or bool).
  void replace(ValueId old, Argument literal);
  // What stands for `old` now: a ValueRef or a literal.
  [[nodiscard]] Argument current(ValueId old) const;
  // `argument` with every old value replaced.
  void update(Argument& argument);

  // Puts the body's nodes here, `operands` for its inputs; returns what stands for its outputs. The
  // body stays as it is.
  std::vector<Argument> inline_body(const Graph& body, std::span<const Argument> operands);

  // -- values
  // A constant of the module as a value of this graph. The same value for the same index.
  ValueRef constant(int32_t index);
  // A value with a free name like `hint`, to be the output of a node that is kept.
  ValueId new_value(std::string_view hint, Value value);
  // `size` as an operand: a literal, or a value of kind sym_int, emitted if need be (sym_size of a
  // tensor that is at hand, and sym:: arithmetic) and found again later. unsupported: no value here
  // says what a symbol is.
  Argument integer(SymInt size);
  Argument integers(std::span<const SymInt> sizes);
  // Appends arithmetic on sizes (sym:: or aten::sym_size.int) that gives `expr`, if that is known;
  // a comparison if `kind` is sym_bool.
  ValueRef emit_symbolic(std::string_view op, std::vector<Argument> args,
                         std::optional<SymInt> expr, ValueKind kind = ValueKind::sym_int);
  // A literal as a value, for places that take only values; a ValueRef as it is.
  ValueRef as_value(const Argument& argument);

  // -- what is known of values; all checked
  [[nodiscard]] const TensorType& type(ValueRef value) const;
  [[nodiscard]] DType dtype(ValueRef value) const { return type(value).dtype; }
  [[nodiscard]] int64_t rank(ValueRef value) const {
    return static_cast<int64_t>(type(value).sizes.size());
  }
  // Size of a dimension, counted from the end if negative. invalid_argument: there is none.
  SymInt size(ValueRef value, int64_t dim);
  // `dim` from 0, for a tensor of this rank (rank 0 counts as 1). invalid_argument: out of range.
  int64_t wrap_dim(int64_t dim, int64_t rank);
  // An integer operand as an expression, and back: literals, and values that have one.
  // unsupported: a value of which nothing is known.
  SymInt expression(const Argument& argument);
  std::vector<SymInt> expressions(const Argument& list);

  // Typed access to a node's arguments.
  [[nodiscard]] NodeArgs args(const Node& node);

  // -- errors
  Status fail(Code code, std::string message);  // the first one sticks; returns it
  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  [[nodiscard]] Status status() const;

  [[nodiscard]] Module& module() { return module_; }
  [[nodiscard]] Graph& graph() { return graph_; }
  [[nodiscard]] SymbolTable& symbols() { return module_.symbols; }
  [[nodiscard]] const ops::Table& table() const { return table_; }

 private:
  std::vector<ValueRef> append(std::string_view op, std::vector<NamedArgument> args,
                               const std::vector<TensorType>* otherwise);
  void substitute(Argument& argument, const std::function<Argument(ValueId)>& map);
  void note_sizes(ValueId id);
  ValueRef symbolic(SymInt size);
  std::optional<ValueRef> solve(size_t symbol);
  void compact();
  void name_nodes();

  Module& module_;
  Graph& graph_;
  const ops::Table& table_;
  std::vector<Node> old_nodes_;
  std::vector<ValueId> forward_;                        // old value → what stands for it
  std::unordered_map<ValueId, Argument> literals_;      // the same, where it is a literal
  std::unordered_map<int32_t, ValueId> constants_;      // Module::constants → value
  std::unordered_map<int32_t, ValueId> by_expression_;  // SymInt::index → value of kind sym_int
  std::unordered_map<int32_t, std::pair<ValueId, int64_t>> sizes_;  // → a tensor's dimension
  std::unordered_map<size_t, int32_t> linear_in_;  // symbol → size that is linear in it alone
  Origin origin_;
  std::string hint_;
  const TensorType none_{};
  int depth_ = 0;
  size_t first_fresh_ = 0;  // values from here on were made in this visit
  std::optional<Error> error_;
};

// The arguments of a node of a known schema, defaults filled in, by the schema's names. A name that
// isn't there, or a value of another kind, is the rewriter's error (invalid_argument) and gives
// something harmless.
class NodeArgs {
 public:
  NodeArgs(Rewriter& rewriter, const Node& node) : rewriter_(rewriter), node_(node) {}

  [[nodiscard]] const Argument& raw(std::string_view name) const;
  [[nodiscard]] bool is_none(std::string_view name) const;
  [[nodiscard]] bool is_tensor(std::string_view name) const;  // and not a literal in its place
  [[nodiscard]] ValueRef tensor(std::string_view name) const;
  [[nodiscard]] std::vector<ValueRef> tensors(std::string_view name) const;  // without holes
  [[nodiscard]] int64_t integer(std::string_view name) const;                // a literal
  [[nodiscard]] SymInt size(std::string_view name) const;                    // or symbolic
  [[nodiscard]] double number(std::string_view name) const;                  // of a real literal
  [[nodiscard]] bool flag(std::string_view name) const;
  [[nodiscard]] std::string_view text(std::string_view name) const;
  [[nodiscard]] std::vector<int64_t> integers(std::string_view name) const;
  [[nodiscard]] std::vector<SymInt> sizes(std::string_view name) const;
  [[nodiscard]] std::optional<DType> dtype(std::string_view name) const;

 private:
  Rewriter& rewriter_;
  const Node& node_;
  const Argument none_ = None{};
};

inline NodeArgs Rewriter::args(const Node& node) {
  return {*this, node};
}

}  // namespace backplane::passes
