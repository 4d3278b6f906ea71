#include "passes/fold_plan.hpp"

#include <algorithm>

#include "passes/bodies.hpp"

namespace backplane::passes {
namespace {

bool reads_a_number(const Node& node) {
  return node.op == "aten::item" || node.op == "aten::_local_scalar_dense";
}

bool is_symbolic(const Node& node) {
  return node.op.starts_with("sym::") || node.op.starts_with("aten::sym_");
}

// Nodes whose operands decide what the program is: sizes, checks, branches.
bool decides(const Node& node, bool has_new_size) {
  return has_new_size || reads_a_number(node) || node.op.starts_with("aten::_assert_async") ||
         node.op == "higher_order::cond";
}

class Planner {
 public:
  Planner(const Module& module, const Graph& graph, const Evaluator& evaluator,
          const std::vector<bool>& is_fixed)
      : module_(module), graph_(graph), evaluator_(evaluator), known_(is_fixed) {}

  FoldPlan run() {
    const size_t count = graph_.nodes.size();
    plan_.is_constant.resize(count);
    plan_.is_needed.resize(count);
    known_.resize(graph_.values.size());
    find_new_sizes();
    for (size_t i = 0; i < count; ++i) plan_.is_constant[i] = mark(graph_.nodes[i]);
    std::vector<bool> wanted(graph_.values.size());
    for (size_t i = count; i-- > 0;) {
      const Node& node = graph_.nodes[i];
      plan_.is_needed[i] = plan_.is_constant[i] &&
                           (is_new_size_[i] ||
                            std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId id) {
                              return id != kNone && wanted[static_cast<size_t>(id)];
                            }));
      const bool passes_on = plan_.is_needed[i] || decides(node, is_new_size_[i]);
      if (!passes_on) continue;
      for (const NamedArgument& arg : node.args) {
        if (node.op == "higher_order::cond" && &arg != &node.args[0]) break;
        for_each_value(arg.value, [&](ValueId id) { wanted[static_cast<size_t>(id)] = true; });
      }
    }
    return std::move(plan_);
  }

 private:
  // Nodes whose results have sizes that no earlier value has: they depend on data.
  void find_new_sizes() {
    std::vector<bool> seen(module_.symbols.num_symbols());
    const auto see = [&](const Value& value) {
      bool is_new = false;
      const auto one = [&](SymInt size) {
        if (size.is_constant()) return;
        for (size_t symbol : module_.symbols.symbols_of(size)) {
          is_new = is_new || !seen[symbol];
          seen[symbol] = true;
        }
      };
      for (SymInt size : value.type.sizes) one(size);
      if (value.has_expr) one(value.expr);
      return is_new;
    };
    for (const Input& input : graph_.inputs) {
      if (input.value != kNone) (void)see(graph_.value(input.value));
    }
    for (const Node& node : graph_.nodes) {
      bool is_new = false;
      for (ValueId id : node.outputs) {
        if (id != kNone && see(graph_.value(id))) is_new = true;
      }
      is_new_size_.push_back(is_new);
    }
  }

  bool mark(const Node& node) {
    const bool can = is_symbolic(node) || reads_a_number(node) || evaluator_.can_run(graph_, node);
    bool constant = can;
    for (const NamedArgument& arg : node.args) {
      for_each_value(arg.value,
                     [&](ValueId id) { constant = constant && known_[static_cast<size_t>(id)]; });
    }
    for (ValueId id : node.outputs) {
      if (id != kNone) known_[static_cast<size_t>(id)] = constant;
    }
    return constant;
  }

  const Module& module_;
  const Graph& graph_;
  const Evaluator& evaluator_;
  std::vector<bool> known_;        // by value
  std::vector<bool> is_new_size_;  // by node
  FoldPlan plan_;
};

}  // namespace

FoldPlan plan_folding(const Module& module, const Graph& graph, const Evaluator& evaluator,
                      const std::vector<bool>& is_fixed) {
  return Planner(module, graph, evaluator, is_fixed).run();
}

bool is_worth_it(int64_t result_bytes, int64_t bytes_gone) {
  constexpr int64_t kFew = 64 * 1024;
  return result_bytes <= kFew || result_bytes <= bytes_gone + bytes_gone / 2;
}

}  // namespace backplane::passes
