#include "graph/graph.hpp"

#include <backplane/tensor.hpp>

#include <algorithm>

namespace backplane {

void Graph::renumber() {
  for (Value& v : values) v.producer = kNone;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const ValueId id : nodes[i].outputs) {
      if (id != kNone) value(id).producer = static_cast<NodeId>(i);
    }
  }
}

ValueId Graph::add_value(std::string_view hint, Value value) {
  if (names_.empty()) {
    for (const Value& v : values) names_.insert(v.name);
  }
  std::string free_name(hint);
  for (uint64_t& n = suffixes_[free_name]; !names_.insert(free_name).second;) {
    free_name = std::string(hint) + "_" + std::to_string(++n);
  }
  value.name = std::move(free_name);
  values.push_back(std::move(value));
  return static_cast<ValueId>(values.size() - 1);
}

std::vector<int32_t> count_uses(const Graph& graph) {
  std::vector<int32_t> uses(graph.values.size(), 0);
  const auto count = [&](ValueId id) { ++uses[static_cast<size_t>(id)]; };
  for (const Node& node : graph.nodes) {
    for (const NamedArgument& arg : node.args) for_each_value(arg.value, count);
  }
  for (const Output& output : graph.outputs) for_each_value(output.value, count);
  return uses;
}

std::string describe(const Node& node) {
  std::string text = node.op + " '" + node.name + "'";
  const auto& [module_path, source] = node.origin;
  if (module_path.empty() && source.empty()) return text;
  text.append(" (").append(module_path);
  if (!module_path.empty() && !source.empty()) text.append(", ");
  return text.append(source).append(")");
}

std::optional<int64_t> max_bytes(const SymbolTable& symbols, const TensorType& type) {
  std::vector<int64_t> sizes;
  for (const SymInt size : type.sizes) {
    const std::optional<int64_t> bound = symbols.upper_bound(size);
    if (!bound) return std::nullopt;
    sizes.push_back(std::max<int64_t>(*bound, 0));
  }
  const Result<int64_t> bytes = checked_nbytes(type.dtype, sizes);
  if (!bytes.ok()) return std::nullopt;
  return *bytes;
}

bool is_contiguous(const SymbolTable& symbols, const TensorType& type) {
  if (type.strides.empty()) return true;
  if (type.strides.size() != type.sizes.size()) return false;
  const std::span<const SymInt> sizes = type.sizes;
  for (const SymInt size : sizes) {
    if (size == SymInt(0)) return true;
  }
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != SymInt(1) && !symbols.is_product(type.strides[i], sizes.subspan(i + 1))) {
      return false;
    }
  }
  return true;
}

}  // namespace backplane
