// One method of a loaded Program: its file's plan with everything resolved that does not depend on
// a session or a call. Immutable; shared by all Methods made from it.
#pragma once

#include <backplane/program.hpp>
#include <backplane/result.hpp>

#include <span>
#include <string>
#include <vector>

#include "format/pte.hpp"
#include "runtime/data_map.hpp"
#include "runtime/prim_ops.hpp"
#include "runtime/signature.hpp"
#include "runtime/tensor_state.hpp"

namespace backplane::runtime {

// A mutable buffer of the program's sessions. Methods that name one FQN share it.
struct StatePlan {
  std::string key;  // the FQN; of a buffer without one, the method and the value
  uint64_t size_bytes = 0;
  Bytes initial;  // of `size_bytes`, or empty: zeros
};

struct Step {
  enum class Kind : uint8_t { prim, kernel, delegate, move, jump, nothing };
  Kind kind = Kind::nothing;
  const PrimOp* prim = nullptr;
  const bp_kernel_t* kernel = nullptr;
  // Prim and kernel: the operator's arguments, outputs last and only once; -1 for one that is
  // absent. Delegate: inputs, then outputs. Move: from, to. Jump: the condition.
  std::vector<pte::ValueIndex> args;
  uint32_t num_inputs = 0;  // delegate: how many of `args` are inputs
  std::vector<pte::ValueIndex> written;
  // Of an operator that works in place, a result of its own that then is its first argument; or -1.
  pte::ValueIndex in_place_result = -1;
  int32_t target = 0;  // delegate: its index; jump: the instruction
};

struct InputPlan {
  pte::ValueIndex value = 0;
  int32_t tensor = -1;           // into tensors; -1: a number, a string or none
  pte::ValueIndex written = -1;  // what the input became; -1: the method does not write it
};

struct OutputPlan {
  pte::ValueIndex value = 0;
  int32_t tensor = -1;
  // Whether the instruction that makes it may write to a buffer of the caller's itself.
  bool is_direct = false;
};

struct MethodPlan {
  const pte::Plan* file = nullptr;
  std::span<const pte::Instruction> instructions;
  std::span<const pte::StackTrace> traces;  // one an instruction, or none
  MethodInfo info;
  MethodSignature signature;  // as many inputs and outputs as `file`
  std::vector<TensorPlan> tensors;
  std::vector<int32_t> tensor_of;   // by value; -1: not a tensor
  std::vector<uint8_t> is_written;  // by value: some step writes it, or the caller may
  std::vector<Step> steps;
  std::vector<InputPlan> inputs;
  std::vector<OutputPlan> outputs;
  std::vector<int32_t> rebound;  // tensors that some step makes look at another's bytes

  [[nodiscard]] const TensorPlan* tensor(pte::ValueIndex value) const {
    const int32_t t = tensor_of[static_cast<size_t>(value)];
    return t < 0 ? nullptr : &tensors[static_cast<size_t>(t)];
  }
  // "instruction 12, aten::add.out 'add_3' (encoder.layers.0, model.py:120)".
  [[nodiscard]] std::string describe(size_t step) const;
};

// What the plans of one program have in common.
struct PlanContext {
  const pte::Program& program;
  DataMap& data;
  std::vector<StatePlan>& states;
  std::vector<Block>& copies;         // constants that lie at an address that kernels can't use
  std::vector<std::string>& missing;  // data that are not there
};

// Everything but steps' operators and delegates.
// unsupported, invalid_argument: names the value or instruction.
[[nodiscard]] Result<MethodPlan> plan_method(const pte::Plan& file, const Signature& signature,
                                             PlanContext& context);

// plan_method's parts, one a source.
Status check_signature(MethodPlan& plan);  // and makes it as long as the file's inputs and outputs
Status plan_tensors(MethodPlan& plan, PlanContext& context);
Status plan_steps(MethodPlan& plan);
void plan_slots(MethodPlan& plan, bool is_ours);

// "aten::add.out" of an operator of the file.
[[nodiscard]] std::string full_name(const pte::Operator& op);

}  // namespace backplane::runtime
