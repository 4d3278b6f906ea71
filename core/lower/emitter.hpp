// How emit works inside: the state of one run. emit.cpp has straight-line code, emit_state.cpp what
// is written back and given out, emit_control_flow.cpp the bodies.
#pragma once

#include <unordered_map>

#include "lower/emit.hpp"

namespace backplane::lower {

inline const Argument kNoArgument = None{};

// Operators whose result is their first argument's bytes in another shape.
[[nodiscard]] bool is_contiguous_view(std::string_view op);

class Emitter {
 public:
  explicit Emitter(const EmitInput& input);
  Status run();
  Emitted finish();

 private:
  // The values of one graph that have a place in the file; -1: not yet.
  struct Frame {
    std::vector<ValueIndex> indices;
  };

  static pte::Value placeholder(ValueKind kind);
  void bind(int32_t g, ValueId id, ValueIndex index) {
    frames_[static_cast<size_t>(g)].indices[static_cast<size_t>(id)] = index;
  }
  ValueIndex index_of(int32_t g, ValueId id);
  ValueIndex fresh(const Value& value);
  ValueIndex constant(int32_t index);
  Result<ValueIndex> literal(const Argument& argument);
  Result<ValueIndex> argument(int32_t g, const Argument& argument);

  Status graph(int32_t g);
  void delegate(int32_t g, const DelegateSite& site);
  Status node(int32_t g, const Node& node);
  Status schema_arguments(int32_t g, const Node& node, const ops::Schema& schema,
                          std::vector<ValueIndex>& args);
  Result<bool> view(int32_t g, const Node& node);
  // Whether a tensor's memory is this method's own (not an input, a constant or state).
  [[nodiscard]] bool planned(ValueIndex root) const;
  ValueIndex absent_output();
  void share_memory(int32_t g, const Node& node, const std::string& op, int32_t at);

  // emit_state.cpp
  void plan_state_writes();
  Status outputs();
  [[nodiscard]] ValueId written_value(const Output& output) const;
  ValueIndex clone(ValueIndex from, const TensorType& type);
  void clone_into(ValueIndex from, ValueIndex to);

  // emit_control_flow.cpp
  struct Body {
    int32_t graph;
    std::vector<ValueIndex> results;
  };
  Status control_flow(int32_t g, const Node& node);
  Status cond(int32_t g, const Node& node);
  Status branch(int32_t g, const Node& node, int32_t body, const std::vector<ValueIndex>& operands);
  Status while_loop(int32_t g, const Node& node);
  Status scan(int32_t g, const Node& node);
  Status scan_like(int32_t g, const Node& node, const struct Scan& scan);
  Result<std::vector<ValueIndex>> operands(int32_t g, const Argument& list);
  Result<std::vector<ValueIndex>> body(int32_t body, std::span<const ValueIndex> inputs);
  Status carry(int32_t body, std::span<const ValueIndex> from, std::span<const ValueIndex> to);

  const EmitInput& in_;
  PlanBuilder builder_;
  std::vector<Frame> frames_;
  std::unordered_map<int32_t, ValueIndex> constants_;
  std::vector<ValueIndex> written_;
};

}  // namespace backplane::lower
