#include "ops/meta/call.hpp"

#include <backplane/tensor.hpp>

#include <algorithm>

namespace backplane::ops::meta {

Call::Call(Module& module, const Graph& graph, const Node& node)
    : module_(module), graph_(graph), node_(node) {}

const Argument& Call::raw(std::string_view name) const {
  for (const NamedArgument& arg : node_.args) {
    if (arg.name == name) return arg.value;
  }
  const int index = node_.schema->index_of(name);
  if (index < 0) return absent_;
  const Parameter& parameter = node_.schema->parameters[static_cast<size_t>(index)];
  return parameter.default_value ? *parameter.default_value : absent_;
}

bool Call::has(std::string_view name) const {
  return !std::holds_alternative<None>(raw(name));
}

const TensorType& Call::tensor(std::string_view name) {
  if (const auto* ref = std::get_if<ValueRef>(&raw(name))) {
    const Value& value = graph_.value(ref->id);
    if (value.kind == ValueKind::tensor) return value.type;
  }
  fail(Code::invalid_argument, "argument '" + std::string(name) + "' should be a tensor");
  return none_;
}

std::vector<const TensorType*> Call::tensors(std::string_view name) {
  std::vector<const TensorType*> result;
  const auto* list = std::get_if<ValueList>(&raw(name));
  if (list == nullptr) {
    fail(Code::invalid_argument,
         "argument '" + std::string(name) + "' should be a list of tensors");
    return result;
  }
  for (const ValueId id : list->ids) {
    const bool is_tensor = id == kNone || graph_.value(id).kind == ValueKind::tensor;
    if (!is_tensor)
      fail(Code::invalid_argument, "an element of '" + std::string(name) + "' is no tensor");
    result.push_back(id == kNone || !is_tensor ? nullptr : &graph_.value(id).type);
  }
  return result;
}

std::optional<Operand> Call::operand(std::string_view name) {
  const Argument& argument = raw(name);
  const auto scalar = [](DType dtype) { return Operand{{dtype, {}, {}}, true}; };
  if (const auto* ref = std::get_if<ValueRef>(&argument)) {
    const Value& value = graph_.value(ref->id);
    switch (value.kind) {
      case ValueKind::tensor:
        return Operand{value.type, false};
      case ValueKind::sym_int:
        return scalar(DType::i64);
      case ValueKind::sym_float:
        return scalar(DType::f64);
      case ValueKind::sym_bool:
        return scalar(DType::boolean);
      case ValueKind::object:
        break;
    }
  }
  if (std::holds_alternative<int64_t>(argument)) return scalar(DType::i64);
  if (std::holds_alternative<double>(argument)) return scalar(DType::f64);
  if (std::holds_alternative<bool>(argument)) return scalar(DType::boolean);
  if (std::holds_alternative<std::complex<double>>(argument)) return scalar(DType::c128);
  if (!std::holds_alternative<None>(argument)) {
    fail(Code::invalid_argument,
         "argument '" + std::string(name) + "' should be a tensor or a number");
  }
  return std::nullopt;
}

std::optional<SymInt> Call::expression(const Argument& argument) {
  if (const auto* literal = std::get_if<int64_t>(&argument)) return *literal;
  if (const auto* flag = std::get_if<bool>(&argument)) return int64_t{*flag};
  const auto* ref = std::get_if<ValueRef>(&argument);
  if (ref == nullptr) return std::nullopt;
  const Value& value = graph_.value(ref->id);
  if (value.kind != ValueKind::sym_int) return std::nullopt;
  if (!value.has_expr) fail(Code::unsupported, "nothing is known of the size '" + value.name + "'");
  return value.has_expr ? value.expr : SymInt(1);
}

SymInt Call::integer(std::string_view name) {
  const Argument& argument = raw(name);
  if (const auto value = expression(argument)) return *value;
  if (const auto* list = std::get_if<IntList>(&argument); list != nullptr && list->size() == 1) {
    return integers(name)[0];
  }
  fail(Code::invalid_argument, "argument '" + std::string(name) + "' should be an integer");
  return 0;
}

int64_t Call::literal(std::string_view name) {
  const SymInt value = integer(name);
  if (value.is_constant()) return value.constant();
  fail(Code::unsupported, "argument '" + std::string(name) + "' is symbolic");
  return 0;
}

Sizes Call::integers(std::string_view name) {
  Sizes result;
  const Argument& argument = raw(name);
  if (const auto value = expression(argument)) return {*value};
  const auto* list = std::get_if<IntList>(&argument);
  if (list == nullptr) {
    const auto* empty = std::get_if<ValueList>(&argument);  // a list of no known kind
    if (empty != nullptr && empty->ids.empty()) return result;
    fail(Code::invalid_argument,
         "argument '" + std::string(name) + "' should be a list of integers");
    return result;
  }
  for (const IntElement& element : *list) {
    if (element.is_literal()) {
      result.emplace_back(element.literal);
    } else {
      result.push_back(expression(ValueRef{element.value}).value_or(1));
    }
  }
  return result;
}

Sizes Call::integers(std::string_view name, size_t count, SymInt otherwise) {
  Sizes result = has(name) ? integers(name) : Sizes();
  if (result.size() <= 1) result.assign(count, result.empty() ? otherwise : result[0]);
  if (result.size() != count) {
    fail(Code::invalid_argument, "argument '" + std::string(name) + "' has " +
                                     std::to_string(result.size()) + " elements, not " +
                                     std::to_string(count));
    result.assign(count, otherwise);
  }
  return result;
}

std::vector<int64_t> Call::literals(std::string_view name) {
  std::vector<int64_t> result;
  for (const SymInt value : integers(name)) {
    if (!value.is_constant())
      fail(Code::unsupported, "argument '" + std::string(name) + "' is symbolic");
    result.push_back(value.is_constant() ? value.constant() : 0);
  }
  return result;
}

bool Call::flag(std::string_view name) const {
  const Argument& argument = raw(name);
  if (const auto* value = std::get_if<bool>(&argument)) return *value;
  const auto* number = std::get_if<int64_t>(&argument);
  return number != nullptr && *number != 0;
}

std::optional<DType> Call::dtype(std::string_view name) const {
  if (const auto* value = std::get_if<DType>(&raw(name))) return *value;
  return std::nullopt;
}

size_t Call::wrap(int64_t dim, size_t rank) {
  const auto count = static_cast<int64_t>(std::max<size_t>(rank, 1));
  if (dim < -count || dim >= count) {
    fail(Code::invalid_argument,
         "dimension " + std::to_string(dim) + " of a tensor of rank " + std::to_string(rank));
    return 0;
  }
  return static_cast<size_t>(dim < 0 ? dim + count : dim);
}

void Call::add(DType dtype, Sizes sizes) {
  for (const SymInt size : sizes) {
    if (size.is_constant() && size.constant() < 0) {
      fail(Code::invalid_argument, "a result would have size " + std::to_string(size.constant()));
    }
  }
  Value value;
  value.type = {dtype, std::move(sizes), {}};
  results_.push_back(std::move(value));
}

void Call::add_number(SymInt number) {
  Value value;
  value.kind = ValueKind::sym_int;
  value.expr = number;
  value.has_expr = true;
  results_.push_back(std::move(value));
}

SymInt Call::same(SymInt a, SymInt b, std::string_view what) {
  if (symbols().known_eq(a, b) == false) {
    fail(Code::invalid_argument,
         std::string(what) + " differ: " + symbols().text(a) + " and " + symbols().text(b));
  }
  return a.is_constant() ? a : b.is_constant() ? b : a;
}

void Call::expect_rank(const TensorType& type, size_t min, size_t max, std::string_view what) {
  if (!ok() || (type.sizes.size() >= min && type.sizes.size() <= max)) return;
  fail(Code::invalid_argument,
       std::string(what) + " has rank " + std::to_string(type.sizes.size()) + ", not " +
           std::to_string(min) + (max > min ? " to " + std::to_string(max) : ""));
}

Sizes Call::broadcast(const Sizes& a, const Sizes& b) {
  const Sizes& longer = a.size() >= b.size() ? a : b;
  const Sizes& shorter = a.size() >= b.size() ? b : a;
  Sizes result = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    SymInt& size = result[offset + i];
    if (shorter[i] == SymInt(1)) continue;
    size = size == SymInt(1) ? shorter[i] : same(size, shorter[i], "sizes that should broadcast");
  }
  return result;
}

void Call::fail(Code code, std::string message) {
  if (!error_) error_ = Error{code, std::move(message)};
}

std::string_view Call::overload() const {
  const std::string_view name = node_.op;
  const size_t dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
}

Result<std::vector<Value>> Call::finish() && {
  if (error_) return *std::move(error_);
  return std::move(results_);
}

}  // namespace backplane::ops::meta
