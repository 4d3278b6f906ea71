// Types of tensors and symbolic integers, as `.pt2` files hold them in JSON.
#pragma once

#include <backplane/result.hpp>

#include <string>

#include "graph/graph.hpp"
#include "reader/json.hpp"
#include "reader/symbolic.hpp"

namespace backplane {

// What reading of a file fills.
struct ReadContext {
  Module& module;
  SymbolicReader& symbolic;
};

// {"as_int": 2}, or {"as_expr": {"expr_str": …, "hint": …}}.
[[nodiscard]] Result<SymInt> read_sym_int(json::Value& object, ReadContext& context);

struct TensorMeta {
  TensorType type;
  SymInt storage_offset = 0;
  std::string fault;  // why such a tensor can't be used: its element type or layout; or empty
};

// invalid_argument: malformed, a negative size, or more bytes than 64 bits count.
[[nodiscard]] Result<TensorMeta> read_tensor_meta(json::Value& object, ReadContext& context);

}  // namespace backplane
