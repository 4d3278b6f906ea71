#include "passes/decompose.hpp"

#include <string>
#include <unordered_map>

namespace backplane::passes {
namespace {

// Rules emit composites too (a pool that becomes a mean, a loss that becomes a softmax): as many
// rounds as such chains are long.
constexpr int kMostRounds = 6;

using RuleMap = std::unordered_map<std::string_view, bool (*)(Rewriter&, const Node&)>;

const RuleMap& rules() {
  static const RuleMap map = [] {
    RuleMap all;
    for (const auto family :
         {arithmetic_rules(), attention_rules(), calculus_rules(), class_loss_rules(),
          einsum_rules(), join_rules(), layer_rules(), loss_rules(), network_rules(),
          product_rules(), sampling_rules(), view_rules()}) {
      for (const DecompositionRule& rule : family) all.emplace(rule.op, rule.apply);
    }
    return all;
  }();
  return map;
}

// A number where the schema has a tensor: `add.Tensor(x, 2)` is `add.Scalar(x, 2)`.
bool take_number(Rewriter& r, const Node& node) {
  if (!node.op.ends_with(".Tensor") || node.args.size() < 2 ||
      !std::holds_alternative<ValueRef>(node.args[0].value)) {
    return false;
  }
  const Argument& other = node.args[1].value;
  const bool number = std::holds_alternative<int64_t>(other) ||
                      std::holds_alternative<double>(other) || std::holds_alternative<bool>(other);
  if (!number || node.args[1].name != "other") return false;
  const std::string scalar = node.op.substr(0, node.op.size() - 6) + "Scalar";
  const ops::Schema* schema = r.table().find(scalar);
  if (schema == nullptr || schema->parameters.size() != node.args.size()) return false;
  std::vector<Argument> args;
  for (const NamedArgument& arg : node.args) args.push_back(arg.value);
  r.replace(node, r.emit(scalar, std::move(args)));
  return true;
}

}  // namespace

bool can_decompose(std::string_view op) {
  return rules().contains(op);
}

Status decompose(Module& module, const ops::Table& table,
                 const std::function<bool(const Node&)>& keep) {
  for (int round = 0; round < kMostRounds; ++round) {
    bool changed = false;
    for (size_t g = 0; g < module.graphs.size(); ++g) {
      Rewriter r(module, *module.graphs[g], table);
      BP_TRY(r.walk([&](Node& node) -> Status {
        if (node.schema != nullptr && !keep(node)) {
          const auto rule = rules().find(node.op);
          const bool done =
              (rule != rules().end() && rule->second(r, node)) || (r.ok() && take_number(r, node));
          if (done || !r.ok()) {
            changed = true;
            return r.status();
          }
        }
        return r.keep(std::move(node));
      }));
      BP_TRY(r.finish());
    }
    if (!changed) break;
  }
  return Ok{};
}

}  // namespace backplane::passes
