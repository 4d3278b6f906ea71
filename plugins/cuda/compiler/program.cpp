#include "cuda/compiler/program.hpp"

#include <string_view>
#include <unordered_map>

#include "cuda/compiler/ops/op_call.hpp"

namespace backplane::cuda::compiler {
namespace {

using RuleMap = std::unordered_map<std::string_view, Status (*)(OpCall&)>;

const RuleMap& rules() {
  static const RuleMap map = [] {
    RuleMap all;
    for (const auto family :
         {elementwise_rules(), view_rules(), reduction_rules(), norm_rules(), product_rules(),
          convolution_rules(), window_rules(), index_rules()}) {
      for (const OpRule& rule : family) all.emplace(rule.op, rule.build);
    }
    return all;
  }();
  return map;
}

void count_uses(const sdk::Graph& graph, std::vector<uint32_t>& uses) {
  const auto use = [&](int32_t value) {
    if (value >= 0) ++uses[static_cast<size_t>(value)];
  };
  for (const bp_node_t& node : graph.nodes()) {
    for (const bp_arg_t& arg : sdk::args(node)) {
      if (const auto value = sdk::value_of(arg)) use(*value);
      if (const auto values = sdk::values_of(arg)) {
        for (const int32_t value : *values) use(value);
      }
    }
  }
  for (const bp_output_t& output : graph.outputs()) use(output.value);
}

bool has_number_results(const sdk::Graph& graph, const bp_node_t& node) {
  for (const int32_t out : sdk::outputs(node)) {
    if (out >= 0 && graph.value(out).kind != BP_VALUE_SYM_INT) return false;
  }
  return node.num_outs > 0;
}

}  // namespace

Program::Program(const sdk::Graph& graph)
    : graph_(graph),
      g_(graph),
      of_value_(graph.values().size(), -1),
      uses_(graph.values().size(), 0) {
  count_uses(graph_, uses_);
  int32_t place = 0;
  for (const int32_t input : graph_.inputs()) add_given(input, Tensor::Kind::input, place++);
  for (uint32_t v = 0; v < graph_.values().size(); ++v) {
    const auto id = static_cast<int32_t>(v);
    if (sdk::is_constant(graph_.value(id)) && of_value_[v] < 0)
      add_given(id, Tensor::Kind::weight, id);
  }
}

void Program::add_given(int32_t value, Tensor::Kind kind, int32_t source) {
  const bp_value_t& v = graph_.value(value);
  if (v.kind != BP_VALUE_TENSOR || !is_supported(v.dtype)) return;
  std::vector<SizeId> shape;
  for (const bp_dim_t& dim : sdk::dims(v)) {
    const auto size = g_.sizes().of(dim);
    if (!size.ok()) return;
    shape.push_back(*size);
  }
  const TensorId id = g_.add(kind, v.dtype, shape);
  Tensor& tensor = g_.at(id);
  tensor.source = source;
  // Dense in its order of dimensions, as the host passes it.
  SizeId stride = g_.sizes().constant(1);
  for (uint32_t i = v.rank; i-- > 0 && kind == Tensor::Kind::input;) {
    const uint8_t d = v.dim_order[i];
    g_.at(id).strides[d] = stride;
    stride = g_.sizes().multiply(stride, shape[d]);
  }
  of_value_[static_cast<size_t>(value)] = id;
}

Status Program::add(int32_t node_index) {
  const bp_node_t& node = graph_.nodes()[static_cast<uint32_t>(node_index)];
  if (has_number_results(graph_, node)) {
    for (const int32_t out : sdk::outputs(node)) {
      if (out >= 0) BP_TRY(g_.sizes().of(graph_.value(out).scalar));
    }
    const bool is_size =
        sdk::op(node).starts_with("aten::sym_size") || sdk::op(node).starts_with("sym::");
    return is_size ? Status(Ok{}) : Error{Code::unsupported, "a number is computed"};
  }
  const auto rule = rules().find(sdk::op(node));
  if (rule == rules().end()) return Error{Code::unsupported, "no operator of this backend"};
  for (const int32_t out : sdk::outputs(node)) {
    if (out < 0 || uses_[static_cast<size_t>(out)] == 0) continue;
    const bp_value_t& v = graph_.value(out);
    if (v.kind != BP_VALUE_TENSOR || !is_supported(v.dtype))
      return Error{Code::unsupported, "a result has a dtype that no kernel holds"};
    if (v.rank > 8) return Error{Code::unsupported, "a result has more than 8 dimensions"};
  }
  OpCall call(g_, graph_, node_index, of_value_, uses_);
  return rule->second(call);
}

void Program::add_foreign(int32_t node) {
  for (const int32_t out : sdk::outputs(graph_.nodes()[static_cast<uint32_t>(node)])) {
    if (out < 0) continue;
    of_value_[static_cast<size_t>(out)] = -1;
    add_given(out, Tensor::Kind::input, 0);
  }
}

}  // namespace backplane::cuda::compiler
