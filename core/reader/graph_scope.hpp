// A graph while it is read: names, and what is known of each value so far.
//
// A file lists nodes before the types of their values, and is read once; so values come to be when
// they are first mentioned, and what is still missing at the end is a fault.
#pragma once

#include <backplane/result.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.hpp"
#include "reader/tensor_meta.hpp"

namespace backplane {

struct GraphScope {
  static constexpr int32_t kUndefined = -2;
  static constexpr int32_t kByInput = -1;

  struct State {
    int32_t defined = kUndefined;  // kByInput, or the index of the node that makes it
    bool typed = false;            // the file says what it is
    std::string fault;             // why it can't be used; empty: it can
  };

  GraphScope(ReadContext& read_context, int32_t nesting)
      : context(read_context), depth(nesting), graph(std::make_unique<Graph>()) {}

  // The value called `name` (which must outlive the scope), made if new.
  ValueId mention(std::string_view name, ValueKind kind);
  // invalid_argument: it is defined already.
  Status define(ValueId id, int32_t node);
  State& state(ValueId id) { return states[static_cast<size_t>(id)]; }

  ReadContext& context;
  int32_t depth;  // of bodies within bodies
  std::unique_ptr<Graph> graph;
  std::vector<Argument> inputs;  // as the file lists them: ValueRef, or a literal
  std::vector<Argument> outputs;
  std::vector<State> states;  // by ValueId
  std::unordered_map<std::string_view, ValueId> ids;
};

// Checks that values are made before they are used, and takes those out of the graph that can't be
// used or that nothing makes: what used one gets an UnknownArgument that says why. Changes ids.
// invalid_argument: a value is used that nothing makes, or before it is made; names both.
Status close_scope(GraphScope& scope);

// Sets inputs and outputs of a body, all of them the user's.
void finish_body(GraphScope& scope);

}  // namespace backplane
