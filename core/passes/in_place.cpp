#include "passes/in_place.hpp"

#include <algorithm>
#include <array>

#include "passes/names.hpp"

namespace backplane::passes {
namespace {

const Argument* find(const Node& node, std::string_view name) {
  for (const NamedArgument& arg : node.args) {
    if (arg.name == name) return &arg.value;
  }
  return nullptr;
}

bool is_true(const Node& node, std::string_view name) {
  const Argument* argument = find(node, name);
  return argument != nullptr && *argument == Argument(true);
}

bool is_tensor(const Node& node, std::string_view name) {
  const Argument* argument = find(node, name);
  return argument != nullptr && std::holds_alternative<ValueRef>(*argument);
}

// Statistics are written though the schema doesn't say so.
bool trains_batch_norm(const Node& node) {
  const bool norm = node.op == "aten::batch_norm" || node.op == "aten::native_batch_norm" ||
                    node.op == "aten::cudnn_batch_norm" || node.op == "aten::miopen_batch_norm";
  return norm && is_true(node, "training") && is_tensor(node, "running_mean") &&
         is_tensor(node, "running_var");
}

bool trains_instance_norm(const Node& node) {
  return node.op == "aten::instance_norm" && is_true(node, "use_input_stats") &&
         is_tensor(node, "running_mean");
}

// Values that a written argument names.
std::vector<ValueId> targets(const Argument& argument) {
  std::vector<ValueId> out;
  for_each_value(argument, [&](ValueId id) { out.push_back(id); });
  return out;
}

}  // namespace

bool InPlace::writes(const Node& node) {
  if (node.schema == nullptr) return false;
  return node.schema->mutates() || trains_batch_norm(node) || trains_instance_norm(node);
}

Argument InPlace::read(const Argument& argument) {
  Argument now = argument;
  for_each_value(now, [&](ValueId& id) { id = aliases_.read(id).id; });
  return now;
}

// `contents` with dtype and sizes of `target`.
ValueRef InPlace::fit(ValueId target, const Argument& contents) {
  const TensorType wanted = r_.type({target});  // a copy: values may move
  const auto* ref = std::get_if<ValueRef>(&contents);
  const bool is_number = ref == nullptr || r_.graph().value(ref->id).kind != ValueKind::tensor;
  if (is_number) {
    return r_.emit("aten::full", {r_.integers(wanted.sizes), contents}, {{"dtype", wanted.dtype}});
  }
  ValueRef value = *ref;
  if (r_.dtype(value) != wanted.dtype) {
    value = r_.emit("aten::_to_copy", {value}, {{"dtype", wanted.dtype}});
  }
  bool same = r_.type(value).sizes.size() == wanted.sizes.size();
  for (size_t d = 0; same && d < wanted.sizes.size(); ++d) {
    same = r_.symbols().known_eq(wanted.sizes[d], r_.type(value).sizes[d]).value_or(false) ||
           wanted.sizes[d] == r_.type(value).sizes[d];
  }
  return same ? value : r_.emit("aten::expand", {value, r_.integers(wanted.sizes)});
}

void InPlace::write(ValueId target, ValueRef contents) {
  const ValueRef fitting = fit(target, contents);
  if (r_.ok()) aliases_.write(target, fitting);
}

Status InPlace::copy(const Node& node, const Argument& from) {
  const auto* target = std::get_if<ValueRef>(&node.args[0].value);
  if (target == nullptr) return r_.fail(Code::invalid_argument, "it writes to a number");
  const ValueRef contents = fit(target->id, read(from));
  if (!r_.ok()) return r_.status();
  aliases_.write(target->id, contents);
  for (ValueId out : node.outputs) {
    if (out != kNone) aliases_.same(out, target->id);
  }
  return r_.status();
}

// squeeze_, t_ and the like: the value itself becomes a view of what it was.
Status InPlace::change_shape(const Node& node, const ops::Schema& functional) {
  const auto* target = std::get_if<ValueRef>(&node.args[0].value);
  if (target == nullptr || node.outputs.size() != 1 || node.outputs[0] == kNone) {
    return r_.fail(Code::unsupported, "its operand is not a tensor");
  }
  Node out_of_place = node;
  out_of_place.op = functional.name;
  out_of_place.schema = &functional;
  std::vector<View> views = views_of(r_, out_of_place);
  BP_TRY(r_.status());
  if (views[0].relation == View::Relation::same) {
    aliases_.same(node.outputs[0], target->id);
  } else if (views[0].relation == View::Relation::view) {
    aliases_.view(node.outputs[0], target->id, std::move(views[0].steps), /*is_there=*/false);
    aliases_.same(target->id, node.outputs[0]);
  } else {
    return r_.fail(Code::unsupported, "it changes the shape of its operand in place");
  }
  return Ok{};
}

const ops::Schema* InPlace::functional_of(const ops::Schema& schema) {
  const ops::Table& table = r_.table();
  if (!schema.functional.empty()) return table.find(schema.functional);
  if (!schema.parameters.empty() && schema.parameters.back().is_out) {
    if (by_out_.empty()) {
      for (std::string_view name : table.names()) {
        const ops::Schema* candidate = table.find(name);
        if (candidate != nullptr && !candidate->out.empty() && !candidate->mutates()) {
          by_out_.emplace(candidate->out, candidate);
        }
      }
    }
    const auto known = by_out_.find(schema.name);
    return known == by_out_.end() ? nullptr : known->second;
  }
  std::string name = schema.name;
  const size_t end = std::min(name.find('.'), name.size());
  if (end == 0 || name[end - 1] != '_') return nullptr;
  const ops::Schema* functional = table.find(name.erase(end - 1, 1));
  return functional != nullptr && !functional->mutates() ? functional : nullptr;
}

Status InPlace::call(const Node& node, const ops::Schema& functional) {
  const ops::Schema& schema = *node.schema;
  std::vector<NamedArgument> args;
  std::vector<ValueId> written;  // in the order of parameters
  std::unordered_map<char, std::vector<ValueId>> by_alias;
  for (const NamedArgument& arg : node.args) {
    const ops::Parameter& parameter =
        schema.parameters[static_cast<size_t>(schema.index_of(arg.name))];
    if (parameter.written) {
      for (ValueId id : targets(arg.value)) {
        written.push_back(id);
        by_alias[parameter.alias].push_back(id);
      }
    }
    // Names differ here and there (dropout_'s self is dropout's input); places don't.
    const auto at = static_cast<size_t>(schema.index_of(arg.name));
    const bool same_places = functional.parameters.size() == schema.parameters.size();
    if (functional.index_of(arg.name) >= 0) {
      args.push_back({arg.name, read(arg.value)});
    } else if (same_places) {
      args.push_back({functional.parameters[at].name, read(arg.value)});
    }
  }
  std::vector<TensorType> types;
  for (size_t i = 0; i < schema.returns.size() && i < node.outputs.size(); ++i) {
    const bool is_fresh = schema.returns[i].alias == 0 && node.outputs[i] != kNone;
    if (is_fresh) types.push_back(r_.type({node.outputs[i]}));
  }
  for (ValueId id : written) types.push_back(r_.type({id}));
  const std::vector<ValueRef> results =
      r_.emit_as(functional.name, std::move(args), std::move(types));
  BP_TRY(r_.status());
  // Results that are new memory come first, then new contents of what was written.
  size_t fresh = 0;
  std::vector<ValueId> news;
  size_t output = 0;
  for (const ops::Return& result : schema.returns) {
    if (result.alias != 0) {
      for (ValueId id : by_alias[result.alias]) {
        if (output < node.outputs.size() && node.outputs[output] != kNone) {
          aliases_.same(node.outputs[output], id);
        }
        ++output;
      }
    } else if (output < node.outputs.size()) {
      if (node.outputs[output] != kNone && fresh < results.size()) {
        r_.adopt_type(results[fresh], node.outputs[output]);
        aliases_.same(node.outputs[output], results[fresh].id);
      }
      ++output;
      ++fresh;
    }
  }
  if (results.size() != fresh + written.size()) {
    return r_.fail(Code::unsupported, "its functional form '" + functional.name +
                                          "' has other results than what it writes");
  }
  for (size_t i = 0; i < written.size() && r_.ok(); ++i) write(written[i], results[fresh + i]);
  return r_.status();
}

// Emits the functional form with these arguments: the result, mean and inverse deviation of the
// batch, new running statistics.
std::vector<ValueRef> InPlace::batch_norm(std::vector<Argument> args) {
  constexpr std::string_view kOp = "aten::_native_batch_norm_legit_functional";
  const ops::Schema* schema = r_.table().find(kOp);
  const auto* input = std::get_if<ValueRef>(&args[0]);
  const auto* mean = std::get_if<ValueRef>(&args[3]);
  const auto* variance = std::get_if<ValueRef>(&args[4]);
  if (schema == nullptr || input == nullptr || mean == nullptr || variance == nullptr) {
    (void)r_.fail(Code::invalid_argument, "its input or running statistics are no tensors");
    return {};
  }
  std::vector<NamedArgument> named;
  for (size_t i = 0; i < args.size(); ++i) {
    named.push_back({schema->parameters[i].name, std::move(args[i])});
  }
  const TensorType statistic = r_.type(*mean);
  std::vector<TensorType> types = {r_.type(*input), statistic, statistic, statistic,
                                   r_.type(*variance)};
  types[0].strides.clear();
  return r_.emit_as(kOp, std::move(named), std::move(types));
}

Status InPlace::train_batch_norm(const Node& node) {
  const NodeArgs a = r_.args(node);
  const std::string_view eps = find(node, "eps") != nullptr ? "eps" : "epsilon";
  const std::string_view momentum =
      find(node, "momentum") != nullptr ? "momentum" : "exponential_average_factor";
  const std::vector<ValueRef> results = batch_norm(
      {read(a.raw("input")), read(a.raw("weight")), read(a.raw("bias")),
       read(a.raw("running_mean")), read(a.raw("running_var")), true, a.raw(momentum), a.raw(eps)});
  BP_TRY(r_.status());
  if (results.size() != 5 || node.outputs.size() > 3) {
    return r_.fail(Code::unsupported, "it has results that its functional form does not give");
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNone) aliases_.same(node.outputs[i], results[i].id);
  }
  write(a.tensor("running_mean").id, results[3]);
  if (r_.ok()) write(a.tensor("running_var").id, results[4]);
  return r_.status();
}

// Instances are channels of a batch of one; the running statistics get the mean over instances.
Status InPlace::train_instance_norm(const Node& node) {
  const NodeArgs a = r_.args(node);
  const Argument input = read(a.raw("input"));
  const auto* x = std::get_if<ValueRef>(&input);
  if (x == nullptr || r_.rank(*x) < 2)
    return r_.fail(Code::invalid_argument, "input has no channels");
  SymbolTable& symbols = r_.symbols();
  const std::vector<SymInt> sizes = r_.type(*x).sizes;
  std::vector<SymInt> flat = sizes;
  flat[0] = 1;
  flat[1] = symbols.mul(sizes[0], sizes[1]);
  const auto repeated = [&](std::string_view name) -> Argument {
    const Argument given = read(a.raw(name));
    if (!std::holds_alternative<ValueRef>(given)) return given;
    return r_.emit("aten::repeat", {given, r_.integers(std::array{sizes[0]})});
  };
  const ValueRef viewed = r_.emit("aten::view", {*x, r_.integers(flat)});
  const std::vector<ValueRef> results =
      batch_norm({viewed, repeated("weight"), repeated("bias"), repeated("running_mean"),
                  repeated("running_var"), true, a.raw("momentum"), a.raw("eps")});
  BP_TRY(r_.status());
  const ValueRef y = r_.emit("aten::view", {results[0], r_.integers(sizes)});
  aliases_.same(node.outputs[0], y.id);
  for (const auto& [name, at] : {std::pair{"running_mean", 3}, std::pair{"running_var", 4}}) {
    const Argument per_instance = r_.integers(std::array{sizes[0], sizes[1]});
    const ValueRef rows = r_.emit("aten::view", {results[static_cast<size_t>(at)], per_instance});
    const ValueRef mean = r_.emit("aten::mean.dim", {rows, IntList{{0, kNone}}, false});
    if (r_.ok()) write(a.tensor(name).id, mean);
  }
  return r_.status();
}

Status InPlace::rewrite(const Node& node) {
  if (trains_batch_norm(node)) return train_batch_norm(node);
  if (trains_instance_norm(node)) return train_instance_norm(node);
  if (node.op == "aten::copy_") return copy(node, *find(node, "src"));
  if (node.op == "aten::fill_.Tensor") return copy(node, *find(node, "value"));
  if (node.op == "aten::fill_.Scalar") return copy(node, *find(node, "value"));
  if (node.op == "aten::zero_") return copy(node, int64_t{0});
  const bool keeps_size =
      node.op == "aten::resize_" && !node.outputs.empty() && node.outputs[0] != kNone &&
      is_tensor(node, "self") &&
      r_.type(ValueRef{node.outputs[0]}).sizes == r_.type(r_.args(node).tensor("self")).sizes;
  if (keeps_size || base_name(node.op) == "requires_grad_") {
    for (ValueId out : node.outputs) {
      if (out != kNone) aliases_.same(out, r_.args(node).tensor("self").id);
    }
    return r_.status();
  }
  const bool replaces_memory = base_name(node.op) == "set_" || base_name(node.op) == "resize_" ||
                               base_name(node.op) == "resize_as_";
  const ops::Schema* functional = functional_of(*node.schema);
  if (functional == nullptr || replaces_memory) {
    return r_.fail(Code::unsupported,
                   "it writes its operand, and no operator does the same without; export with "
                   "run_decompositions()");
  }
  const bool is_shape =
      !node.schema->parameters.back().is_out &&
      (functional->is_view() || base_name(functional->name) == "detach" ||
       base_name(functional->name) == "swapaxes" || base_name(functional->name) == "swapdims");
  return is_shape ? change_shape(node, *functional) : call(node, *functional);
}

}  // namespace backplane::passes
