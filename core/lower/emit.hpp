// Emission: a partitioned graph becomes a method of a `.pte`.
//
// Functional operators are called in their out forms with planned outputs; views of contiguous
// memory cost nothing; state is written back at the end; control flow becomes jumps. What
// ExecuTorch has an operator for is written with that operator.
#pragma once

#include <backplane/result.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "lower/data_set.hpp"
#include "lower/graph_part.hpp"
#include "lower/plan_builder.hpp"
#include "ops/schema.hpp"

namespace backplane::lower {

// One call of a backend: which values of its graph go in and come out.
struct DelegateSite {
  pte::Delegate delegate;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
};

// How one graph of a module is run: node ids, and -1 - d for delegate d, in order.
struct GraphSchedule {
  std::vector<int32_t> order;
  std::vector<DelegateSite> delegates;
};

struct EmitInput {
  Module& module;
  const std::vector<GraphSchedule>& schedules;  // one a graph of the module
  const ops::Table& ops;
  DataSet& data;
  pte::Program& program;  // inline constants and initial state are added to it
  // FQNs of buffers that some method of the program writes: state in all of them.
  const StateNames& state;
  bool inline_constants = false;  // in the `.pte`'s constant segment; else external, by key
  // BP_KERNEL_* flags of the kernel that will run an out form; 0 if none is known.
  std::function<uint32_t(std::string_view out_name)> kernel_flags;
};

// The operator of an out form that runs `node`: "aten::add.out", "executorch_prim::mul.Scalar",
// "aten::sym_size.int". Empty for control flow and for operators without a schema.
[[nodiscard]] std::string runtime_operator(const ops::Table& ops, const Node& node);

// Marks the constants that the kernels of the method need; all constants have been added.
void use_constants(const EmitInput& input);

struct Emitted {
  pte::Plan plan;
  MemoryPlan memory;
  std::vector<ValueIndex>
      written;  // by input: the value that holds what it became; -1: not written
};

// unsupported names the node.
[[nodiscard]] Result<Emitted> emit(const EmitInput& input);

}  // namespace backplane::lower
