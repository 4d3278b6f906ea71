#include "passes/fold.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ops/meta.hpp"
#include "passes/bodies.hpp"
#include "passes/fold_plan.hpp"
#include "passes/index_by_numbers.hpp"
#include "passes/known_tensors.hpp"
#include "passes/rewriter.hpp"
#include "passes/symbol_bindings.hpp"
#include "passes/symbolic_node.hpp"

namespace backplane::passes {
namespace {

class Folder {
 public:
  Folder(Module& module, Graph& graph, const ops::Table& table, const Evaluator& evaluator,
         SymbolBindings& bindings)
      : module_(module),
        graph_(graph),
        evaluator_(evaluator),
        bindings_(bindings),
        uses_(count_uses(graph)),
        known_(module) {
    find_fixed();
    plan_ = plan_folding(module, graph, evaluator, is_fixed_);
    find_gone();
    rewriter_.emplace(module, graph, table);
  }

  // Returns whether a branch was taken, so that there may be more to fold.
  Result<bool> run();

 private:
  void find_fixed();
  void find_gone();
  Status visit(Node& node);
  Status keep(Node& node);
  Status read_number(Node& node, const KnownTensor& tensor);
  Status check(Node& node, const KnownTensor& tensor);
  Status take_branch(Node& node, bool condition);
  bool fold(const Node& node);
  bool fold_view(const Node& node);
  bool fold_kernel(const Node& node);
  bool fits(const Node& node) const;
  void bind(ValueId output, std::span<const int64_t> sizes);
  void bind_inferred(const Node& node);
  void forget_operands(const std::vector<ValueId>& operands);
  [[nodiscard]] const KnownTensor* known(const Argument& argument) const;
  [[nodiscard]] std::string source_of(const Node& node) const;

  Rewriter& r() { return *rewriter_; }

  Module& module_;
  Graph& graph_;
  const Evaluator& evaluator_;
  SymbolBindings& bindings_;
  std::vector<int32_t> uses_;   // that are still to come, by value of the old graph
  std::vector<bool> is_fixed_;  // by value: a constant that nothing writes
  std::vector<bool> is_gone_;   // by value: only nodes that may be folded use it
  FoldPlan plan_;
  KnownTensors known_;
  std::optional<Rewriter> rewriter_;  // after the plan: it takes the nodes
  size_t at_ = 0;                     // of the node visited
  bool took_branch_ = false;
};

void Folder::find_fixed() {
  std::unordered_set<std::string_view> written;
  std::unordered_set<const std::byte*> memory;
  for (const Output& output : module_.root().outputs) {
    if (output.kind == Output::Kind::buffer_mutation) written.insert(output.target);
  }
  for (const Constant& constant : module_.constants) {
    if (written.contains(constant.fqn)) memory.insert(constant.storage.data());
  }
  is_fixed_.resize(graph_.values.size());
  for (size_t i = 0; i < graph_.values.size(); ++i) {
    const int32_t index = graph_.values[i].constant;
    if (index == kNone) continue;
    const Constant& constant = module_.constants[static_cast<size_t>(index)];
    const bool may_share = !constant.storage.empty() && memory.contains(constant.storage.data());
    if (written.contains(constant.fqn) || may_share) continue;
    is_fixed_[i] = true;
    known_.add_constant(static_cast<ValueId>(i), index);
  }
}

void Folder::find_gone() {
  is_gone_.assign(graph_.values.size(), true);
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    if (plan_.is_constant[i]) continue;
    for (const NamedArgument& arg : graph_.nodes[i].args) {
      for_each_value(arg.value, [&](ValueId id) { is_gone_[static_cast<size_t>(id)] = false; });
    }
  }
  for (const Output& output : graph_.outputs) {
    for_each_value(output.value, [&](ValueId id) { is_gone_[static_cast<size_t>(id)] = false; });
  }
}

const KnownTensor* Folder::known(const Argument& argument) const {
  const auto* ref = std::get_if<ValueRef>(&argument);
  return ref == nullptr ? nullptr : known_.find(ref->id);
}

std::string Folder::source_of(const Node& node) const {
  std::string source;
  for (const NamedArgument& arg : node.args) {
    for_each_value(arg.value, [&](ValueId id) {
      const KnownTensor* tensor = known_.find(id);
      if (source.empty() && tensor != nullptr) source = tensor->source;
    });
  }
  return source.empty() ? node.name : source;
}

void Folder::bind(ValueId output, std::span<const int64_t> sizes) {
  const std::vector<SymInt> recorded = graph_.value(output).type.sizes;
  for (size_t d = 0; d < std::min(recorded.size(), sizes.size()); ++d)
    bindings_.bind(recorded[d], sizes[d]);
  bindings_.substitute(graph_.value(output));
}

// Whether the results may be kept: their sizes, if they are known before they are computed.
bool Folder::fits(const Node& node) const {
  if (plan_.is_needed[at_]) return true;
  int64_t result = 0;
  for (ValueId id : node.outputs) {
    const std::optional<int64_t> bytes = max_bytes(module_.symbols, graph_.value(id).type);
    if (!bytes || *bytes > kUnbounded / 4 || result > kUnbounded / 4) return false;
    result += *bytes;
  }
  int64_t gone = 0;
  std::unordered_set<ValueId> counted;
  for (const NamedArgument& arg : node.args) {
    for_each_value(arg.value, [&](ValueId id) {
      const KnownTensor* tensor = known_.find(id);
      const bool is_old = static_cast<size_t>(id) < is_gone_.size();
      const bool counts = tensor != nullptr && is_old && is_gone_[static_cast<size_t>(id)];
      if (counts && counted.insert(id).second)
        gone += std::min(tensor->nbytes(), kUnbounded / 1024);
    });
  }
  return is_worth_it(result, gone);
}

bool Folder::fold_view(const Node& node) {
  std::vector<View> views = views_of(r(), node);
  if (!r().ok() || views.empty()) return false;
  for (const View& view : views) {
    const bool is_view =
        view.relation == View::Relation::same || view.relation == View::Relation::view;
    if (!is_view || known_.find(view.of) == nullptr) return false;
  }
  for (size_t i = 0; i < views.size(); ++i) {
    const KnownTensor of = *known_.find(views[i].of);
    if (!known_.add_view(node.outputs[i], of, views[i].steps)) {
      for (size_t done = 0; done < i; ++done) known_.forget(node.outputs[done]);
      return false;
    }
  }
  return true;
}

bool Folder::fold_kernel(const Node& node) {
  if (!evaluator_.can_run(graph_, node)) return false;
  std::unordered_map<ValueId, TensorView> views;
  const Evaluator::Operands operands = [&](ValueId id) -> const TensorView* {
    const KnownTensor* tensor = known_.find(id);
    if (tensor == nullptr) return nullptr;
    return &views.try_emplace(id, tensor->view()).first->second;
  };
  Result<std::vector<Tensor>> results = evaluator_.run(graph_, node, operands);
  if (!results.ok() || results->size() != node.outputs.size()) return false;
  const std::string source = source_of(node);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    known_.add_result(node.outputs[i], std::move((*results)[i]), source);
  }
  return true;
}

bool Folder::fold(const Node& node) {
  if (!plan_.is_constant[at_] || node.outputs.empty()) return false;
  for (ValueId id : node.outputs) {
    if (id == kNone || graph_.value(id).kind != ValueKind::tensor) return false;
  }
  bool operands_known = true;
  for (const NamedArgument& arg : node.args) {
    for_each_value(arg.value, [&](ValueId id) {
      operands_known = operands_known && known_.find(id) != nullptr;
    });
  }
  if (!operands_known || !fits(node)) return false;
  if (!fold_view(node) && !(r().ok() && fold_kernel(node))) return false;
  for (ValueId id : node.outputs) bind(id, known_.find(id)->sizes);
  return true;
}

// Sizes of a node that stays, which follow from arguments that are numbers now.
void Folder::bind_inferred(const Node& node) {
  bool is_open = false;
  for (ValueId id : node.outputs) {
    if (id == kNone) continue;
    for (SymInt size : graph_.value(id).type.sizes) {
      is_open = is_open || module_.symbols.as_symbol(size).has_value();
    }
  }
  if (!is_open || node.schema == nullptr) return;
  const auto inferred = ops::infer(module_, graph_, node);
  if (!inferred.ok() || inferred->size() != node.outputs.size()) return;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNone) continue;
    Value& value = graph_.value(node.outputs[i]);
    const std::vector<SymInt>& sizes = (*inferred)[i].type.sizes;
    for (size_t d = 0; d < std::min(sizes.size(), value.type.sizes.size()); ++d) {
      if (sizes[d].is_constant()) bindings_.bind(value.type.sizes[d], sizes[d].constant());
    }
    bindings_.substitute(value);
  }
}

// A node that stays: what it uses of what is known goes into the module.
Status Folder::keep(Node& node) {
  index_by_numbers(r(), known_, node);
  bind_inferred(node);
  for (NamedArgument& arg : node.args) {
    for_each_value(arg.value, [&](ValueId& id) {
      if (known_.find(id) != nullptr) id = r().constant(known_.constant(id)).id;
    });
  }
  BP_TRY(r().status());
  return r().keep(std::move(node));
}

Status Folder::read_number(Node& node, const KnownTensor& tensor) {
  const std::optional<Argument> literal = only_element(tensor);
  if (!literal || node.outputs.size() != 1 || node.outputs[0] == kNone) return keep(node);
  const Value& value = graph_.value(node.outputs[0]);
  Argument number = *literal;
  if (const auto* flag = std::get_if<bool>(&number); flag && value.kind == ValueKind::sym_int) {
    number = int64_t{*flag};
  }
  if (const auto* i = std::get_if<int64_t>(&number)) {
    if (value.kind == ValueKind::sym_float) number = static_cast<double>(*i);
    if (value.kind == ValueKind::sym_int && value.has_expr) bindings_.bind(value.expr, *i);
  }
  r().replace(node.outputs[0], std::move(number));
  return r().status();
}

Status Folder::check(Node& node, const KnownTensor& tensor) {
  const std::optional<Argument> literal = only_element(tensor);
  if (!literal) return keep(node);
  const bool is_zero =
      *literal == Argument(false) || *literal == Argument(int64_t{0}) || *literal == Argument(0.0);
  if (!is_zero) return Ok{};
  const NodeArgs args = r().args(node);
  const bool has_text = node.args.size() > 1 && node.args[1].name == "assert_msg";
  return r().fail(
      Code::invalid_argument,
      "does not hold: " + std::string(has_text ? args.text("assert_msg") : "a check of constants"));
}

Status Folder::take_branch(Node& node, bool condition) {
  const std::vector<int32_t> bodies = bodies_of(node);
  std::vector<Argument> operands = operands_of(node);
  for (Argument& operand : operands) {
    if (known(operand) != nullptr) {
      operand = r().constant(known_.constant(std::get<ValueRef>(operand).id));
    }
  }
  const Graph& body = *module_.graphs[static_cast<size_t>(bodies[condition ? 0 : 1])];
  const std::vector<Argument> results = r().inline_body(body, operands);
  BP_TRY(r().status());
  if (results.size() != node.outputs.size()) {
    return r().fail(Code::invalid_argument, "its branch has another number of results");
  }
  for (size_t i = 0; i < results.size(); ++i) {
    if (node.outputs[i] == kNone) continue;
    const auto* ref = std::get_if<ValueRef>(&results[i]);
    if (ref != nullptr && graph_.value(ref->id).kind == ValueKind::tensor) {
      const std::vector<SymInt> sizes = graph_.value(ref->id).type.sizes;
      const std::vector<SymInt> recorded = graph_.value(node.outputs[i]).type.sizes;
      for (size_t d = 0; d < std::min(sizes.size(), recorded.size()); ++d) {
        if (sizes[d].is_constant()) bindings_.bind(recorded[d], sizes[d].constant());
      }
      bindings_.substitute(graph_.value(node.outputs[i]));
    }
    r().replace(node.outputs[i], results[i]);
  }
  took_branch_ = true;
  return r().status();
}

Status Folder::visit(Node& node) {
  for (ValueId id : node.outputs) {
    if (id != kNone) bindings_.substitute(graph_.value(id));
  }
  const bool has_first = !node.args.empty();
  const KnownTensor* first = has_first ? known(node.args[0].value) : nullptr;
  const bool reads = node.op == "aten::item" || node.op == "aten::_local_scalar_dense";
  if (reads && first != nullptr) return read_number(node, *first);
  if (node.op.starts_with("aten::_assert_async") && first != nullptr) return check(node, *first);
  if (node.op == "higher_order::cond" && bodies_of(node).size() == 2 && has_first) {
    std::optional<Argument> condition;
    if (first != nullptr) condition = only_element(*first);
    if (std::holds_alternative<bool>(node.args[0].value)) condition = node.args[0].value;
    const auto* flag = condition ? std::get_if<bool>(&*condition) : nullptr;
    if (flag != nullptr) return take_branch(node, *flag);
  }
  const SymbolicResult number = evaluate_symbolic(r(), node);
  BP_TRY(r().status());
  const bool is_literal = std::none_of(
      node.args.begin(), node.args.end(),
      [](const NamedArgument& arg) { return std::holds_alternative<ValueRef>(arg.value); });
  if (number.literal && (is_literal || std::holds_alternative<int64_t>(*number.literal))) {
    r().replace(node.outputs[0], *number.literal);
    return r().status();
  }
  return fold(node) ? r().status() : keep(node);
}

void Folder::forget_operands(const std::vector<ValueId>& operands) {
  for (ValueId id : operands) {
    if (--uses_[static_cast<size_t>(id)] == 0) known_.forget(id);
  }
}

Result<bool> Folder::run() {
  BP_TRY(r().walk([this](Node& node) -> Status {
    std::vector<ValueId> operands;
    for (const NamedArgument& arg : node.args) {
      for_each_value(arg.value, [&](ValueId id) {
        if (static_cast<size_t>(id) < uses_.size()) operands.push_back(id);
      });
    }
    BP_TRY(visit(node));
    ++at_;
    forget_operands(operands);
    return Ok{};
  }));
  for (Output& output : graph_.outputs) {
    for_each_value(output.value, [&](ValueId& id) {
      if (known_.find(id) != nullptr) id = r().constant(known_.constant(id)).id;
    });
  }
  BP_TRY(r().finish());
  return took_branch_;
}

}  // namespace

Status fold_constants(Module& module, const ops::Table& table, const Evaluator& evaluator) {
  constexpr int kMaxRounds = 8;  // a branch taken may decide the next
  for (int round = 0; round < kMaxRounds; ++round) {
    SymbolBindings bindings(module.symbols);
    bool again = false;
    BP_ASSIGN_OR_RETURN(const std::vector<int32_t> order, bodies_first(module));
    for (int32_t index : order) {
      Graph& graph = *module.graphs[static_cast<size_t>(index)];
      BP_ASSIGN_OR_RETURN(const bool took_branch,
                          Folder(module, graph, table, evaluator, bindings).run());
      again = again || took_branch;
    }
    for (const std::unique_ptr<Graph>& graph : module.graphs) {
      for (Value& value : graph->values) bindings.substitute(value);
    }
    if (!again) break;
  }
  return drop_unused_bodies(module);
}

}  // namespace backplane::passes
