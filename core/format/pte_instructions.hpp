// The part of a `.pte` program's types that says what a method does; pte.hpp has the rest.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "format/named_data.hpp"

namespace backplane::pte {

using ValueIndex = int32_t;  // into Plan::values

// One operator and overload of the plan: "aten::add" and "out"; the overload may be empty.
struct Operator {
  std::string name;
  std::string overload;
  friend bool operator==(const Operator&, const Operator&) = default;
};

struct CompileSpec {
  std::string key;
  std::vector<uint8_t> value;  // any bytes
  friend bool operator==(const CompileSpec&, const CompileSpec&) = default;
};

// One call site of a backend. `payload` may be empty.
struct Delegate {
  std::string id;  // the backend's name
  std::vector<CompileSpec> compile_specs;
  Bytes payload;
};

// `args`: each argument of the operator's schema in order, `out` ones included, then the result:
// the one `out` again, or a TensorList of the `out`s.
struct KernelCall {
  int32_t op = 0;  // into Plan::operators
  std::vector<ValueIndex> args;
  friend bool operator==(const KernelCall&, const KernelCall&) = default;
};

// `args`: the delegate's inputs, then its outputs; where they part is for the backend to know.
struct DelegateCall {
  int32_t delegate = 0;  // into Plan::delegates
  std::vector<ValueIndex> args;
  friend bool operator==(const DelegateCall&, const DelegateCall&) = default;
};

// values[to] becomes values[from]; of a tensor, its storage too.
struct MoveCall {
  ValueIndex from = 0;
  ValueIndex to = 0;
  friend bool operator==(const MoveCall&, const MoveCall&) = default;
};

// Goes to `destination`, an instruction of the same chain or its end, if values[condition] (a bool,
// or a tensor of one) is false.
struct JumpFalseCall {
  ValueIndex condition = 0;
  int32_t destination = 0;
  friend bool operator==(const JumpFalseCall&, const JumpFalseCall&) = default;
};

struct FreeCall {
  ValueIndex value = 0;
  friend bool operator==(const FreeCall&, const FreeCall&) = default;
};

using Instruction = std::variant<KernelCall, DelegateCall, MoveCall, JumpFalseCall, FreeCall>;

struct Frame {
  std::string file;
  int32_t line = 0;
  std::string name;
  std::string context;
  friend bool operator==(const Frame&, const Frame&) = default;
};
using StackTrace = std::vector<Frame>;

struct Chain {
  std::vector<ValueIndex> inputs;  // written, of no effect
  std::vector<ValueIndex> outputs;
  std::vector<Instruction> instructions;
  std::vector<StackTrace> stack_traces;  // one for each instruction, or none at all
};

}  // namespace backplane::pte
