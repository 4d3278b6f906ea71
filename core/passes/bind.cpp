#include "passes/bind.hpp"

#include <algorithm>
#include <utility>

#include "ops/schema.hpp"

namespace backplane::passes {
namespace {

using ops::Kind;
using ops::Parameter;

template <class... T>
bool holds(const Argument& argument) {
  return (std::holds_alternative<T>(argument) || ...);
}

// Brings `argument` to the kind of `parameter`; false if it can't be.
bool conform_list(const Parameter& parameter, Argument& argument) {
  auto* ints = std::get_if<IntList>(&argument);
  auto* values = std::get_if<ValueList>(&argument);
  const bool is_empty =
      (ints != nullptr && ints->empty()) || (values != nullptr && values->ids.empty());
  switch (parameter.kind) {
    case Kind::tensor:
      if (is_empty) argument = ValueList{};
      return holds<ValueList>(argument);
    case Kind::integer:
      if (is_empty) argument = IntList{};
      if (const auto* one = std::get_if<int64_t>(&argument)) {
        argument = IntList{{*one, kNone}};
      } else if (const auto* ref = std::get_if<ValueRef>(&argument)) {
        argument = IntList{{0, ref->id}};
      }
      ints = std::get_if<IntList>(&argument);
      if (ints == nullptr) return false;
      if (ints->size() == 1 && parameter.list_size > 1) {
        ints->resize(static_cast<size_t>(parameter.list_size), IntElement((*ints)[0]));
      }
      return true;
    case Kind::floating:
      if (is_empty) argument = std::vector<double>{};
      if (ints != nullptr && !is_empty) {
        std::vector<double> reals;
        for (const IntElement& e : *ints) {
          if (!e.is_literal()) return false;
          reals.push_back(static_cast<double>(e.literal));
        }
        argument = std::move(reals);
      }
      return holds<std::vector<double>>(argument);
    case Kind::boolean:
      if (is_empty) argument = std::vector<bool>{};
      if (const auto* one = std::get_if<bool>(&argument)) {
        argument = std::vector<bool>(static_cast<size_t>(std::max(parameter.list_size, 1)), *one);
      }
      return holds<std::vector<bool>>(argument);
    default:
      return true;
  }
}

bool conform_single(const Parameter& parameter, Argument& argument) {
  switch (parameter.kind) {
    case Kind::tensor:
    case Kind::scalar:
      return holds<ValueRef, int64_t, double, bool, std::complex<double>>(argument);
    case Kind::integer:
      if (const auto* flag = std::get_if<bool>(&argument)) argument = int64_t{*flag};
      return holds<ValueRef, int64_t>(argument);
    case Kind::floating:
      if (const auto* one = std::get_if<int64_t>(&argument)) argument = static_cast<double>(*one);
      return holds<ValueRef, double>(argument);
    case Kind::boolean:
      if (const auto* one = std::get_if<int64_t>(&argument)) argument = *one != 0;
      return holds<ValueRef, bool>(argument);
    case Kind::string:
      return holds<std::string>(argument);
    case Kind::dtype:
      return holds<DType>(argument);
    case Kind::layout:
      return holds<Layout>(argument);
    case Kind::memory_format:
      return holds<MemoryFormat>(argument);
    case Kind::device:
      return holds<DeviceArg>(argument);
    default:
      return true;
  }
}

Status conform(const Parameter& parameter, Argument& argument) {
  if (const auto* unknown = std::get_if<UnknownArgument>(&argument)) {
    return Error{Code::unsupported, "argument '" + parameter.name + "' has the form '" +
                                        unknown->tag + "', which is not supported"};
  }
  if (holds<None>(argument)) {
    // An absent tensor is written as None in schemas that don't say that it may be absent.
    if (parameter.optional || parameter.kind == Kind::tensor || parameter.kind == Kind::generator) {
      return Ok{};
    }
    return Error{Code::invalid_argument, "argument '" + parameter.name + "' can't be None"};
  }
  const bool fits =
      parameter.list ? conform_list(parameter, argument) : conform_single(parameter, argument);
  if (fits) return Ok{};
  return Error{Code::invalid_argument,
               "argument '" + parameter.name + "' is of a kind that the operator does not take"};
}

}  // namespace

Status bind_arguments(Node& node) {
  const ops::Schema& schema = *node.schema;
  std::vector<std::optional<Argument>> given(schema.parameters.size());
  size_t position = 0;
  for (NamedArgument& arg : node.args) {
    int index = arg.name.empty() ? static_cast<int>(position) : schema.index_of(arg.name);
    ++position;
    if (index < 0 || static_cast<size_t>(index) >= given.size()) {
      return Error{Code::invalid_argument, "takes no argument '" + std::string(arg.name) +
                                               "'; it takes " + std::to_string(given.size())};
    }
    if (given[static_cast<size_t>(index)]) {
      return Error{
          Code::invalid_argument,
          "argument '" + schema.parameters[static_cast<size_t>(index)].name + "' is given twice"};
    }
    given[static_cast<size_t>(index)] = std::move(arg.value);
  }
  std::vector<NamedArgument> bound;
  for (size_t i = 0; i < given.size(); ++i) {
    const Parameter& parameter = schema.parameters[i];
    if (!given[i]) {
      if (parameter.default_value) {
        given[i] = *parameter.default_value;
      } else if (parameter.optional) {
        given[i] = None{};
      } else if (parameter.is_out || parameter.kind == Kind::generator) {
        continue;
      } else {
        return Error{Code::invalid_argument, "argument '" + parameter.name + "' is missing"};
      }
    }
    BP_TRY(conform(parameter, *given[i]));
    bound.push_back({parameter.name, std::move(*given[i])});
  }
  node.args = std::move(bound);
  return Ok{};
}

}  // namespace backplane::passes
