// Reading graph.h's structs in C++: ranges, and what arguments hold. Nothing here owns or
// allocates.
#pragma once

#include <backplane/graph.h>
#include <backplane/array.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

namespace backplane::sdk {

// A graph, borrowed for the call that passed it.
class Graph {
 public:
  explicit Graph(const bp_graph_t& graph) : graph_(&graph) {}
  [[nodiscard]] const bp_graph_t& raw() const { return *graph_; }
  [[nodiscard]] std::string_view name() const { return view(graph_->name); }

  [[nodiscard]] Array<bp_value_t> values() const { return Array<bp_value_t>(graph_->values); }
  [[nodiscard]] Array<bp_node_t> nodes() const { return Array<bp_node_t>(graph_->nodes); }
  [[nodiscard]] Array<bp_symbol_t> symbols() const { return Array<bp_symbol_t>(graph_->symbols); }
  [[nodiscard]] Array<bp_output_t> outputs() const { return Array<bp_output_t>(graph_->outputs); }
  [[nodiscard]] std::span<const int32_t> inputs() const {
    return {graph_->inputs, graph_->num_inputs};
  }

  // `id` is not -1.
  [[nodiscard]] const bp_value_t& value(int32_t id) const {
    return values()[static_cast<uint32_t>(id)];
  }
  // The graph that an argument of kind BP_ARG_GRAPH names.
  [[nodiscard]] Graph body(const bp_arg_t& arg) const { return Graph(*graph_->graphs[arg.v.i]); }

 private:
  const bp_graph_t* graph_;
};

[[nodiscard]] inline std::string_view op(const bp_node_t& node) {
  return view(node.op);
}
[[nodiscard]] inline Array<bp_arg_t> args(const bp_node_t& node) {
  return Array<bp_arg_t>(node.args);
}
[[nodiscard]] inline std::span<const int32_t> outputs(const bp_node_t& node) {
  return {node.outs, node.num_outs};
}
// The argument that the schema calls `name`; null if there is none.
[[nodiscard]] inline const bp_arg_t* find_arg(const bp_node_t& node, std::string_view name) {
  for (const bp_arg_t& arg : args(node)) {
    if (view(arg.name) == name) return &arg;
  }
  return nullptr;
}

// What an argument holds, or nothing if it is of another kind. Lists of one kind are views.
[[nodiscard]] inline std::optional<int32_t> value_of(const bp_arg_t& arg) {
  return arg.kind == BP_ARG_VALUE ? std::optional(static_cast<int32_t>(arg.v.i)) : std::nullopt;
}
[[nodiscard]] inline std::optional<int64_t> int_of(const bp_arg_t& arg) {
  return arg.kind == BP_ARG_INT ? std::optional(arg.v.i) : std::nullopt;
}
[[nodiscard]] inline std::optional<bool> bool_of(const bp_arg_t& arg) {
  return arg.kind == BP_ARG_BOOL ? std::optional(arg.v.i != 0) : std::nullopt;
}
// A real number: FLOAT, INT or BOOL.
[[nodiscard]] inline std::optional<double> number_of(const bp_arg_t& arg) {
  if (arg.kind == BP_ARG_FLOAT) return arg.v.f;
  if (arg.kind == BP_ARG_INT || arg.kind == BP_ARG_BOOL) return static_cast<double>(arg.v.i);
  return std::nullopt;
}
[[nodiscard]] inline std::optional<std::string_view> string_of(const bp_arg_t& arg) {
  return arg.kind == BP_ARG_STRING ? std::optional(view(arg.v.s)) : std::nullopt;
}
[[nodiscard]] inline std::optional<bp_dtype_t> dtype_of(const bp_arg_t& arg) {
  return arg.kind == BP_ARG_DTYPE ? std::optional(arg.v.dtype) : std::nullopt;
}
[[nodiscard]] inline std::optional<std::span<const int32_t>> values_of(const bp_arg_t& arg) {
  if (arg.kind != BP_ARG_VALUES) return std::nullopt;
  return std::span(arg.v.values, arg.count);
}
// All elements are known now; see dims_of.
[[nodiscard]] inline std::optional<std::span<const int64_t>> ints_of(const bp_arg_t& arg) {
  if (arg.kind != BP_ARG_INTS) return std::nullopt;
  return std::span(arg.v.ints, arg.count);
}
[[nodiscard]] inline std::optional<std::span<const bp_dim_t>> dims_of(const bp_arg_t& arg) {
  if (arg.kind != BP_ARG_DIMS) return std::nullopt;
  return std::span(arg.v.dims, arg.count);
}
[[nodiscard]] inline std::optional<std::span<const double>> floats_of(const bp_arg_t& arg) {
  if (arg.kind != BP_ARG_FLOATS) return std::nullopt;
  return std::span(arg.v.floats, arg.count);
}

[[nodiscard]] constexpr bool operator==(bp_dtype_t a, bp_dtype_t b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
inline constexpr bp_dtype_t kBool = {BP_DT_BOOL, 8, 1};
inline constexpr bp_dtype_t kInt32 = {BP_DT_INT, 32, 1};
inline constexpr bp_dtype_t kInt64 = {BP_DT_INT, 64, 1};
inline constexpr bp_dtype_t kFloat16 = {BP_DT_FLOAT, 16, 1};
inline constexpr bp_dtype_t kBFloat16 = {BP_DT_BFLOAT, 16, 1};
inline constexpr bp_dtype_t kFloat32 = {BP_DT_FLOAT, 32, 1};
inline constexpr bp_dtype_t kFloat64 = {BP_DT_FLOAT, 64, 1};

[[nodiscard]] inline bool is_known(const bp_dim_t& dim) {
  return dim.symbol == -1 && dim.value == -1;
}
[[nodiscard]] inline std::span<const bp_dim_t> dims(const bp_value_t& value) {
  return {value.dims, value.rank};
}
[[nodiscard]] inline bool is_static(const bp_value_t& value) {
  return std::all_of(value.dims, value.dims + value.rank, is_known);
}
// A parameter, buffer or constant whose bytes never change.
[[nodiscard]] inline bool is_constant(const bp_value_t& value) {
  return value.role == BP_ROLE_PARAMETER || value.role == BP_ROLE_BUFFER ||
         value.role == BP_ROLE_CONSTANT;
}
// Elements at the sizes' upper bounds; nothing if a size has none, or they don't fit.
[[nodiscard]] inline std::optional<int64_t> max_elements(const bp_value_t& value) {
  int64_t product = 1;
  for (const bp_dim_t& dim : dims(value)) {
    if (dim.size == 0) return 0;
    if (dim.size < 0 || dim.size > std::numeric_limits<int64_t>::max() / product)
      return std::nullopt;
    product *= dim.size;
    if (dim.size == std::numeric_limits<int64_t>::max()) return std::nullopt;
  }
  return product;
}

}  // namespace backplane::sdk
