// Operators that write their operands, in terms of those that don't.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "passes/aliases.hpp"

namespace backplane::passes {

class InPlace {
 public:
  InPlace(Rewriter& rewriter, Aliases& aliases) : r_(rewriter), aliases_(aliases) {}

  // Whether `node` writes an operand: by its schema, or as batch normalisation in training does.
  [[nodiscard]] static bool writes(const Node& node);

  // Emits the functional form of a node that writes, tells `aliases` of the writes and of what the
  // node's results are now. Operands are those of the exported program (not yet read).
  // unsupported: there is no functional form.
  Status rewrite(const Node& node);

 private:
  Status copy(const Node& node, const Argument& from);
  Status change_shape(const Node& node, const ops::Schema& functional);
  Status call(const Node& node, const ops::Schema& functional);
  std::vector<ValueRef> batch_norm(std::vector<Argument> args);
  Status train_batch_norm(const Node& node);
  Status train_instance_norm(const Node& node);
  const ops::Schema* functional_of(const ops::Schema& schema);
  void write(ValueId target, ValueRef contents);
  ValueRef fit(ValueId target, const Argument& contents);
  Argument read(const Argument& argument);

  Rewriter& r_;
  Aliases& aliases_;
  std::unordered_map<std::string_view, const ops::Schema*> by_out_;  // out form → functional
};

}  // namespace backplane::passes
