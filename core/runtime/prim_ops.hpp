// The operators that are the core's own: arithmetic on sizes, what looks at a tensor's shape or
// address, and checks. Kernel libraries have none of these.
//
// Names are those of ExecuTorch where it has the operator; the rest is named in its manner:
// "executorch_prim::NAME.Scalar". In that namespace the overload, a leading "sym_" or "_sym_" and a
// trailing "_" don't count: sym_max, max, and_ and and are found alike.
#pragma once

#include <backplane/result.hpp>

#include <span>
#include <string_view>
#include <vector>

#include "runtime/boxed.hpp"
#include "runtime/memory.hpp"

namespace backplane::runtime {

// One call. `args` are the method's values themselves: inputs, then the result. Tensors' bytes are
// current on the host.
struct PrimCall {
  std::span<bp_boxed_t* const> args;
  std::vector<Block>& retired;  // for tensors that grow
};

struct PrimOp {
  std::string_view name;
  // How many arguments are used, the result included; more are passed over (`out` comes twice). In
  // a file, fewer than `min_args` are refused; between the two, the missing ones count as none.
  int8_t min_args = 0;
  int8_t num_args = 0;
  int8_t written = -1;       // the argument that is written, if one is
  bool is_view = false;      // the written one then looks at the bytes of the first
  bool reads_bytes = false;  // of tensors; else only their shapes matter
  Status (*run)(const PrimCall& call) = nullptr;
};

// The operator with that full name ("aten::sym_size.int"), or null.
[[nodiscard]] const PrimOp* find_prim_op(std::string_view name);

// Parts of the table, one a source.
[[nodiscard]] std::span<const PrimOp> number_ops();  // named without namespace and overload
[[nodiscard]] std::span<const PrimOp> tensor_ops();  // full names

}  // namespace backplane::runtime
