// Making new nodes: binding arguments to schemas, and results by the shape rules.
#include <algorithm>

#include "ops/meta.hpp"
#include "passes/bind.hpp"
#include "passes/names.hpp"
#include "passes/rewriter.hpp"

namespace backplane::passes {

ValueRef Rewriter::emit(std::string_view op, std::vector<Argument> args,
                        std::vector<NamedArgument> by_name) {
  const std::vector<ValueRef> results = emit_all(op, std::move(args), std::move(by_name));
  if (ok() && results.size() != 1) {
    (void)fail(Code::internal,
               std::string(op) + " has " + std::to_string(results.size()) + " results, not one");
  }
  return results.empty() ? ValueRef{kNone} : results[0];
}

std::vector<ValueRef> Rewriter::emit_all(std::string_view op, std::vector<Argument> args,
                                         std::vector<NamedArgument> by_name) {
  std::vector<NamedArgument> all;
  for (Argument& argument : args) all.push_back({"", std::move(argument)});
  std::move(by_name.begin(), by_name.end(), std::back_inserter(all));
  return append(op, std::move(all), nullptr);
}

std::vector<ValueRef> Rewriter::emit_as(std::string_view op, std::vector<NamedArgument> by_name,
                                        std::vector<TensorType> otherwise) {
  return append(op, std::move(by_name), &otherwise);
}

std::vector<ValueRef> Rewriter::append(std::string_view op, std::vector<NamedArgument> args,
                                       const std::vector<TensorType>* otherwise) {
  if (!ok()) return {};
  Node node;
  node.op = op;
  node.schema = table_.find(op);
  node.origin = origin_;
  node.args = std::move(args);
  if (node.schema == nullptr) {
    (void)fail(Code::internal, "operator '" + node.op + "' is not in the table");
    return {};
  }
  if (Status bound = bind_arguments(node); !bound.ok()) {
    (void)fail(bound.error().code, node.op + ": " + bound.error().message);
    return {};
  }
  auto inferred = ops::infer(module_, graph_, node);
  if (!inferred.ok() && otherwise != nullptr && inferred.error().code == Code::unsupported) {
    inferred = std::vector<Value>();
    for (const TensorType& type : *otherwise) inferred->emplace_back().type = type;
  }
  if (!inferred.ok()) {
    (void)fail(inferred.error().code, node.op + ": " + inferred.error().message);
    return {};
  }
  std::vector<ValueRef> results;
  for (Value& value : *inferred) {
    node.outputs.push_back(new_value(base_name(op), std::move(value)));
    results.push_back({node.outputs.back()});
  }
  (void)keep(std::move(node));
  return results;
}

ValueRef Rewriter::emit_symbolic(std::string_view op, std::vector<Argument> args,
                                 std::optional<SymInt> expr, ValueKind kind) {
  if (!ok()) return {kNone};
  Node node;
  node.op = op;
  node.schema = table_.find(op);
  node.origin = origin_;
  for (size_t i = 0; i < args.size(); ++i) {
    const bool named = node.schema != nullptr && i < node.schema->parameters.size();
    node.args.push_back(
        {named ? std::string_view(node.schema->parameters[i].name) : "", std::move(args[i])});
  }
  Value value;
  value.kind = kind;
  value.expr = expr.value_or(0);
  value.has_expr = expr.has_value();
  node.outputs.push_back(new_value(base_name(op), std::move(value)));
  const ValueRef result{node.outputs.back()};
  (void)keep(std::move(node));
  return result;
}

ValueRef Rewriter::as_value(const Argument& argument) {
  if (const auto* ref = std::get_if<ValueRef>(&argument)) return *ref;
  if (const auto* literal = std::get_if<int64_t>(&argument)) {
    return emit_symbolic("sym::int", {*literal}, *literal);
  }
  (void)fail(Code::unsupported, "a literal stands where only a value can");
  return {kNone};
}

const TensorType& Rewriter::type(ValueRef value) const {
  const bool exists = value.id >= 0 && static_cast<size_t>(value.id) < graph_.values.size();
  return exists ? graph_.value(value.id).type : none_;
}

const Argument& NodeArgs::raw(std::string_view name) const {
  for (const NamedArgument& arg : node_.args) {
    if (arg.name == name) return arg.value;
  }
  (void)rewriter_.fail(Code::invalid_argument, "argument '" + std::string(name) + "' is missing");
  return none_;
}

namespace {

std::string wanted(std::string_view name, std::string_view what) {
  return "argument '" + std::string(name) + "' should be " + std::string(what);
}

}  // namespace

bool NodeArgs::is_none(std::string_view name) const {
  return std::holds_alternative<None>(raw(name));
}

bool NodeArgs::is_tensor(std::string_view name) const {
  const auto* ref = std::get_if<ValueRef>(&raw(name));
  return ref != nullptr && rewriter_.graph().value(ref->id).kind == ValueKind::tensor;
}

ValueRef NodeArgs::tensor(std::string_view name) const {
  if (is_tensor(name)) return std::get<ValueRef>(raw(name));
  (void)rewriter_.fail(Code::invalid_argument, wanted(name, "a tensor"));
  return {kNone};
}

std::vector<ValueRef> NodeArgs::tensors(std::string_view name) const {
  std::vector<ValueRef> out;
  if (const auto* list = std::get_if<ValueList>(&raw(name))) {
    for (ValueId id : list->ids) {
      if (id != kNone) out.push_back({id});
    }
    return out;
  }
  (void)rewriter_.fail(Code::invalid_argument, wanted(name, "a list of tensors"));
  return out;
}

int64_t NodeArgs::integer(std::string_view name) const {
  const Argument& argument = raw(name);
  if (const auto* value = std::get_if<int64_t>(&argument)) return *value;
  const SymInt expr = rewriter_.expression(argument);
  if (rewriter_.ok() && !expr.is_constant()) {
    (void)rewriter_.fail(Code::unsupported, wanted(name, "a number that is known when lowering"));
  }
  return expr.is_constant() ? expr.constant() : 1;
}

SymInt NodeArgs::size(std::string_view name) const {
  return rewriter_.expression(raw(name));
}

double NodeArgs::number(std::string_view name) const {
  const Argument& argument = raw(name);
  if (const auto* real = std::get_if<double>(&argument)) return *real;
  return static_cast<double>(integer(name));
}

bool NodeArgs::flag(std::string_view name) const {
  const Argument& argument = raw(name);
  if (const auto* value = std::get_if<bool>(&argument)) return *value;
  return integer(name) != 0;
}

std::string_view NodeArgs::text(std::string_view name) const {
  if (const auto* value = std::get_if<std::string>(&raw(name))) return *value;
  (void)rewriter_.fail(Code::invalid_argument, wanted(name, "a string"));
  return "";
}

std::vector<int64_t> NodeArgs::integers(std::string_view name) const {
  std::vector<int64_t> out;
  for (SymInt size : sizes(name)) {
    if (!size.is_constant()) {
      (void)rewriter_.fail(Code::unsupported, wanted(name, "numbers that are known when lowering"));
    }
    out.push_back(size.is_constant() ? size.constant() : 1);
  }
  return out;
}

std::vector<SymInt> NodeArgs::sizes(std::string_view name) const {
  return rewriter_.expressions(raw(name));
}

std::optional<DType> NodeArgs::dtype(std::string_view name) const {
  if (const auto* value = std::get_if<DType>(&raw(name))) return *value;
  return std::nullopt;
}

}  // namespace backplane::passes
