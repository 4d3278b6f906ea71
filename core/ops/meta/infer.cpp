#include <algorithm>

#include "ops/meta/call.hpp"

namespace backplane::ops {
namespace meta {
namespace {

// Whether `names` has `name` among its words.
bool has_word(std::string_view names, std::string_view name) {
  for (size_t at = names.find(name); at != std::string_view::npos; at = names.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || names[at - 1] == ' ') && (end == names.size() || names[end] == ' '))
      return true;
  }
  return false;
}

const Family* find(std::string_view name) {
  for (const auto rules : {elementwise_rules(), reduction_rules(), view_rules(), index_rules(),
                           factory_rules(), network_rules(), window_rules(), loss_rules()}) {
    const auto found = std::find_if(rules.begin(), rules.end(), [&](const Family& family) {
      return has_word(family.names, name);
    });
    if (found != rules.end()) return &*found;
  }
  return nullptr;
}

// By the name without "aten::", with the overload or else without; a copy form goes by its view.
const Family* rule_of(std::string_view op) {
  constexpr std::string_view kNamespace = "aten::";
  constexpr std::string_view kCopy = "_copy";
  if (op.starts_with(kNamespace)) op.remove_prefix(kNamespace.size());
  if (const Family* rule = find(op)) return rule;
  op = op.substr(0, op.find('.'));
  const Family* rule = find(op);
  if (rule != nullptr || !op.ends_with(kCopy)) return rule;
  return find(op.substr(0, op.size() - kCopy.size()));
}

// Results that are what was written. False if there are others.
bool add_written(Call& call, const Schema& schema) {
  for (const Return& result : schema.returns) {
    if (!result.written) return false;
  }
  for (const Return& result : schema.returns) {
    const auto from =
        std::find_if(schema.parameters.begin(), schema.parameters.end(),
                     [&](const Parameter& p) { return p.written && p.alias == result.alias; });
    if (from == schema.parameters.end()) return false;
    if (!from->list) {
      call.add(call.tensor(from->name));
      continue;
    }
    for (const TensorType* type : call.tensors(from->name)) {
      if (type != nullptr) call.add(*type);
    }
  }
  return true;
}

}  // namespace
}  // namespace meta

Result<std::vector<Value>> infer(Module& module, const Graph& graph, const Node& node) {
  if (node.schema == nullptr) return Error{Code::unsupported, "no shape rule for " + node.op};
  if (node.schema->returns.empty()) return std::vector<Value>();
  meta::Call call(module, graph, node);
  if (node.schema->mutates() && meta::add_written(call, *node.schema))
    return std::move(call).finish();
  const meta::Family* rule = meta::rule_of(node.op);
  if (rule == nullptr) return Error{Code::unsupported, "no shape rule for " + node.op};
  rule->infer(call, *rule);
  return std::move(call).finish();
}

}  // namespace backplane::ops
