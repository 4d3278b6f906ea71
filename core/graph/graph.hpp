// The graph: values, nodes in topological order, and the signature of a method.
//
// Plain data, changed by passes. Names of operators are those of the schemas: "aten::add.Tensor",
// "aten::relu" (default overload), "higher_order::cond", "sym::add" (Python arithmetic on sizes).
#pragma once

#include <backplane/dtype.hpp>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/argument.hpp"
#include "graph/constant.hpp"
#include "graph/symbols.hpp"

namespace backplane {
namespace ops {
struct Schema;
}

// Shape and element type. `strides` as eager PyTorch had them, in elements; empty means contiguous.
struct TensorType {
  DType dtype = DType::f32;
  std::vector<SymInt> sizes;
  std::vector<SymInt> strides;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

enum class ValueKind : uint8_t { tensor, sym_int, sym_float, sym_bool, object };

enum class Role : uint8_t {
  input,      // of the method, or of a body
  parameter,  // constant, from the state dict
  buffer,     // constant unless the method mutates it (Graph::outputs says so)
  constant,   // lifted or folded constant
  intermediate,
};

struct Value {
  std::string name;  // unique in its graph
  ValueKind kind = ValueKind::tensor;
  Role role = Role::intermediate;
  TensorType type;           // kind tensor
  SymInt expr;               // kind sym_int: what it is, as an expression (bare symbol if new)
  bool has_expr = false;     // whether `expr` says anything
  NodeId producer = kNone;   // kept by Graph::renumber
  int32_t constant = kNone;  // parameter, buffer, constant: index into Module::constants
};

// Where a node comes from, for messages. Views into Module::strings.
struct Origin {
  std::string_view module_path;  // "encoder.layers.3.attn"
  std::string_view source;       // "model.py:120 in forward"
};

struct Node {
  std::string op;
  std::string name;                     // as in the exported program; unique in its graph
  const ops::Schema* schema = nullptr;  // null: higher-order, symbolic, or unknown until lowering
  std::vector<NamedArgument> args;      // schema order, complete after pass fill_defaults
  std::vector<ValueId> outputs;         // flat: a Tensor[] result gives one value an element;
                                        // kNone where a result is absent
  Origin origin;
};

// An input of a method. A user input that export specialised to a number or None has no value.
struct Input {
  ValueId value = kNone;
  Argument literal;  // when value == kNone
  std::string name;
};

struct Output {
  enum class Kind : uint8_t { user, buffer_mutation, input_mutation };
  Kind kind = Kind::user;
  Argument value;      // ValueRef, a literal, or None
  std::string target;  // mutation: FQN of the buffer, or name of the input
};

struct Graph {
  std::string name;  // method name, or the body's
  std::vector<Value> values;
  std::vector<Node> nodes;    // topological order
  std::vector<Input> inputs;  // parameters, buffers and constants are not listed
  std::vector<Output> outputs;

  Value& value(ValueId id) { return values[static_cast<size_t>(id)]; }
  [[nodiscard]] const Value& value(ValueId id) const { return values[static_cast<size_t>(id)]; }

  // Sets every value's producer from the nodes. To be called after `nodes` was changed.
  void renumber();
  // A new value with a name that is free: `hint`, or `hint_1`, ….
  ValueId add_value(std::string_view hint, Value value);

 private:
  std::unordered_set<std::string> names_;               // filled at the first add_value
  std::unordered_map<std::string, uint64_t> suffixes_;  // last one tried, by hint
};

// A method with its bodies and data. graphs[0] is the method. Movable only.
struct Module {
  std::string source_file;
  std::vector<std::unique_ptr<Graph>> graphs;
  SymbolTable symbols;
  std::vector<Constant> constants;
  Buffers buffers;     // keeps constants' bytes alive
  StringPool strings;  // keeps string_views alive

  [[nodiscard]] Graph& root() { return *graphs[0]; }
  [[nodiscard]] const Graph& root() const { return *graphs[0]; }
};

// Calls `f(ValueId&)` for every value that `argument` refers to (holes are skipped).
template <class F>
void for_each_value(Argument& argument, F&& f) {
  if (auto* ref = std::get_if<ValueRef>(&argument)) {
    f(ref->id);
  } else if (auto* list = std::get_if<ValueList>(&argument)) {
    for (ValueId& id : list->ids) {
      if (id != kNone) f(id);
    }
  } else if (auto* ints = std::get_if<IntList>(&argument)) {
    for (IntElement& e : *ints) {
      if (!e.is_literal()) f(e.value);
    }
  }
}
template <class F>
void for_each_value(const Argument& argument, F&& f) {
  for_each_value(const_cast<Argument&>(argument), [&](ValueId& id) { f(ValueId{id}); });  // NOLINT
}

// Number of uses of each value, by ValueId: by nodes and by the graph's outputs.
[[nodiscard]] std::vector<int32_t> count_uses(const Graph& graph);

// How messages name a node: "aten::mm 'mm_3' (encoder.layers.3, model.py:120 in forward)".
[[nodiscard]] std::string describe(const Node& node);

// Bytes of a tensor of this type where all sizes are static, else at their upper bounds; nothing if
// one has none.
[[nodiscard]] std::optional<int64_t> max_bytes(const SymbolTable& symbols, const TensorType& type);
[[nodiscard]] bool is_contiguous(const SymbolTable& symbols, const TensorType& type);

// The graph as text for people, one line a node, with types, sizes and origins.
[[nodiscard]] std::string print(const Module& module);

// Checks all that holds between passes: order, names, indices, kinds, signature. `internal` names
// the first fault. Linear.
[[nodiscard]] Status verify(const Module& module);

}  // namespace backplane
