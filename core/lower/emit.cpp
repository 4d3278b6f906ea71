#include "lower/emit.hpp"

#include <backplane/ext/kernels.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lower/emitter.hpp"

namespace backplane::lower {
namespace {

Error unsupported(const Node& node, const std::string& why) {
  return {Code::unsupported, describe(node) + ": " + why};
}

}  // namespace

bool is_contiguous_view(std::string_view op) {
  constexpr std::array<std::string_view, 12> kViews = {
      "aten::_unsafe_view",  "aten::alias",     "aten::detach",      "aten::flatten.using_ints",
      "aten::reshape",       "aten::squeeze",   "aten::squeeze.dim", "aten::squeeze.dims",
      "aten::unflatten.int", "aten::unsqueeze", "aten::view",        "aten::view_copy"};
  return std::find(kViews.begin(), kViews.end(), op) != kViews.end();
}

std::string runtime_operator(const ops::Table& ops, const Node& node) {
  if (node.op.starts_with("sym::")) return "executorch_prim::" + node.op.substr(5) + ".Scalar";
  if (node.schema == nullptr) return {};
  const ops::Schema& schema = *node.schema;
  const bool tensors =
      std::any_of(schema.returns.begin(), schema.returns.end(),
                  [](const ops::Return& r) { return r.kind == ops::Kind::tensor; });
  if (!tensors || schema.mutates()) return schema.name;
  if (!schema.is_view()) return schema.out;
  const ops::Schema* copy = ops.find(schema.copy);
  return copy == nullptr ? schema.out : copy->out;
}

void use_constants(const EmitInput& input) {
  if (input.inline_constants) return;
  for (size_t g = 0; g < input.module.graphs.size(); ++g) {
    const Graph& graph = *input.module.graphs[g];
    const auto note = [&](ValueId id) {
      const Value& value = graph.value(id);
      if (value.constant == kNone) return;
      const Constant& constant = input.module.constants[static_cast<size_t>(value.constant)];
      if (!input.state.contains(constant.fqn)) input.data.use(constant, input.module.buffers);
    };
    for (const int32_t item : input.schedules[g].order) {
      if (item < 0) continue;
      for (const NamedArgument& arg : graph.nodes[static_cast<size_t>(item)].args)
        for_each_value(arg.value, note);
    }
    for (const Output& output : graph.outputs) for_each_value(output.value, note);
  }
}

Result<Emitted> emit(const EmitInput& input) {
  Emitter emitter(input);
  BP_TRY(emitter.run());
  return emitter.finish();
}

Emitter::Emitter(const EmitInput& input) : in_(input), builder_(input.module.root().name) {
  frames_.resize(input.module.graphs.size());
  for (size_t g = 0; g < frames_.size(); ++g)
    frames_[g].indices.assign(input.module.graphs[g]->values.size(), -1);
}

Status Emitter::run() {
  const Graph& root = in_.module.root();
  for (const Input& input : root.inputs) {
    if (input.value == kNone) {
      BP_ASSIGN_OR_RETURN(const ValueIndex index, literal(input.literal));
      builder_.add_input(index);
      continue;
    }
    const Value& value = root.value(input.value);
    const ValueIndex index = value.kind == ValueKind::tensor
                                 ? builder_.add(tensor_of(in_.module.symbols, value.type))
                                 : builder_.add(placeholder(value.kind));
    bind(0, input.value, index);
    builder_.add_input(index);
  }
  plan_state_writes();
  BP_TRY(graph(0));
  return outputs();
}

Emitted Emitter::finish() {
  Emitted out;
  out.plan = builder_.finish(out.memory);
  out.written = std::move(written_);
  return out;
}

pte::Value Emitter::placeholder(ValueKind kind) {
  switch (kind) {
    case ValueKind::sym_float:
      return 0.0;
    case ValueKind::sym_bool:
      return false;
    default:
      return int64_t{0};
  }
}

ValueIndex Emitter::index_of(int32_t g, ValueId id) {
  ValueIndex& index = frames_[static_cast<size_t>(g)].indices[static_cast<size_t>(id)];
  if (index >= 0) return index;
  const Value& value = in_.module.graphs[static_cast<size_t>(g)]->value(id);
  index = value.constant != kNone ? constant(value.constant) : fresh(value);
  return index;
}

ValueIndex Emitter::fresh(const Value& value) {
  if (value.kind != ValueKind::tensor) return builder_.add(placeholder(value.kind));
  return builder_.add_planned(tensor_of(in_.module.symbols, value.type));
}

ValueIndex Emitter::constant(int32_t index) {
  const auto [at, added] = constants_.try_emplace(index, 0);
  if (!added) return at->second;
  const Constant& constant = in_.module.constants[static_cast<size_t>(index)];
  TensorType type{constant.dtype, {constant.sizes.begin(), constant.sizes.end()}, {}};
  pte::Tensor tensor = tensor_of(in_.module.symbols, type);
  const Bytes bytes = dense_bytes(constant, in_.module.buffers);
  const auto append = [&](std::vector<Bytes>& list) {
    if (list.empty()) list.emplace_back();
    const auto same = std::find_if(list.begin() + 1, list.end(), [&](Bytes b) {
      return b.data() == bytes.data() && b.size() == bytes.size();
    });
    const auto at_index = static_cast<uint32_t>(same - list.begin());
    if (same == list.end()) list.push_back(bytes);
    return at_index;
  };
  if (in_.state.contains(constant.fqn)) {
    tensor.fqn = constant.fqn;
    tensor.data_index = append(in_.program.mutable_data);
    return at->second = builder_.add_state(std::move(tensor));
  }
  if (bytes.empty()) return at->second = builder_.add(std::move(tensor));
  if (in_.inline_constants) {
    tensor.data_index = append(in_.program.constants);
  } else {
    tensor.external = true;
    tensor.fqn = in_.data.key_of(constant, in_.module.buffers);
  }
  return at->second = builder_.add(std::move(tensor));
}

Result<ValueIndex> Emitter::literal(const Argument& argument) {
  if (const auto* i = std::get_if<int64_t>(&argument)) return builder_.integer(*i);
  if (const auto* f = std::get_if<double>(&argument)) return builder_.floating(*f);
  if (const auto* b = std::get_if<bool>(&argument)) return builder_.boolean(*b);
  if (const auto* s = std::get_if<std::string>(&argument)) return builder_.string(*s);
  if (const auto* d = std::get_if<DType>(&argument))
    return builder_.integer(static_cast<int64_t>(*d));
  if (const auto* m = std::get_if<MemoryFormat>(&argument))
    return builder_.integer(static_cast<int64_t>(*m));
  if (const auto* l = std::get_if<Layout>(&argument))
    return builder_.integer(static_cast<int64_t>(*l));
  if (const auto* doubles = std::get_if<std::vector<double>>(&argument))
    return builder_.add(pte::DoubleList{*doubles});
  if (const auto* bools = std::get_if<std::vector<bool>>(&argument))
    return builder_.add(pte::BoolList{*bools});
  if (std::holds_alternative<None>(argument) || std::holds_alternative<DeviceArg>(argument))
    return builder_.none();
  return Error{Code::unsupported,
               "an argument of a kind that `.pte` files can't hold (complex, nested or unknown)"};
}

Result<ValueIndex> Emitter::argument(int32_t g, const Argument& argument) {
  if (const auto* ref = std::get_if<ValueRef>(&argument)) return index_of(g, ref->id);
  if (const auto* list = std::get_if<ValueList>(&argument)) {
    std::vector<ValueIndex> items;
    for (const ValueId id : list->ids) items.push_back(id == kNone ? -1 : index_of(g, id));
    if (std::count(items.begin(), items.end(), -1) == 0)
      return builder_.tensor_list(std::move(items));
    return builder_.add(pte::OptionalTensorList{std::move(items)});
  }
  if (const auto* ints = std::get_if<IntList>(&argument)) {
    std::vector<ValueIndex> items;
    for (const IntElement& e : *ints)
      items.push_back(e.is_literal() ? builder_.integer(e.literal) : index_of(g, e.value));
    return builder_.int_list(std::move(items));
  }
  return literal(argument);
}

Status Emitter::graph(int32_t g) {
  const GraphSchedule& schedule = in_.schedules[static_cast<size_t>(g)];
  const Graph& source = *in_.module.graphs[static_cast<size_t>(g)];
  for (const int32_t item : schedule.order) {
    if (item < 0) {
      delegate(g, schedule.delegates[static_cast<size_t>(-1 - item)]);
      continue;
    }
    const Node& n = source.nodes[static_cast<size_t>(item)];
    builder_.set_origin(&n);
    if (n.op.starts_with("higher_order::")) {
      BP_TRY(control_flow(g, n));
    } else {
      BP_TRY(node(g, n));
    }
    builder_.set_origin(nullptr);
  }
  return Ok{};
}

void Emitter::delegate(int32_t g, const DelegateSite& site) {
  std::vector<ValueIndex> args;
  for (const ValueId id : site.inputs) args.push_back(index_of(g, id));
  for (const ValueId id : site.outputs) args.push_back(index_of(g, id));
  builder_.delegate(site.delegate, std::move(args));
}

Status Emitter::node(int32_t g, const Node& node) {
  const std::string op = runtime_operator(in_.ops, node);
  if (op.empty()) return unsupported(node, "no schema is known for this operator");
  if (is_contiguous_view(node.op)) {
    BP_ASSIGN_OR_RETURN(const bool done, view(g, node));
    if (done) return Ok{};
  }
  std::vector<ValueIndex> args;
  const ops::Schema* schema = node.schema == nullptr ? nullptr : in_.ops.find(op);
  if (node.schema != nullptr && schema == nullptr) schema = in_.ops.find_out(*node.schema);
  if (schema == nullptr) {  // symbolic arithmetic: all arguments, then the result
    for (const NamedArgument& arg : node.args) {
      BP_ASSIGN_OR_RETURN(const ValueIndex index, argument(g, arg.value));
      args.push_back(index);
    }
  } else {
    BP_TRY(schema_arguments(g, node, *schema, args));
  }
  std::vector<ValueIndex> outs;
  for (const ValueId id : node.outputs)
    outs.push_back(id == kNone ? absent_output() : index_of(g, id));
  if (schema != nullptr && std::any_of(schema->parameters.begin(), schema->parameters.end(),
                                       [](const ops::Parameter& p) { return p.is_out; })) {
    const bool list = schema->returns.size() <= 1 && node.schema->returns.size() == 1 &&
                      node.schema->returns[0].list;
    if (list) {
      args.push_back(builder_.tensor_list(outs));
    } else {
      args.insert(args.end(), outs.begin(), outs.end());
    }
    args.push_back(outs.size() == 1 && !list ? outs[0] : builder_.tensor_list(outs));
  } else {
    args.insert(args.end(), outs.begin(), outs.end());
  }
  const int32_t at = builder_.kernel(op, args);
  share_memory(g, node, op, at);
  return Ok{};
}

Status Emitter::schema_arguments(int32_t g, const Node& node, const ops::Schema& schema,
                                 std::vector<ValueIndex>& args) {
  for (const ops::Parameter& parameter : schema.parameters) {
    if (parameter.is_out) continue;
    const auto given =
        std::find_if(node.args.begin(), node.args.end(),
                     [&](const NamedArgument& a) { return a.name == parameter.name; });
    const Argument& value = given != node.args.end()  ? given->value
                            : parameter.default_value ? *parameter.default_value
                                                      : kNoArgument;
    const bool empty_list = parameter.list && parameter.kind == ops::Kind::tensor &&
                            std::holds_alternative<IntList>(value) &&
                            std::get<IntList>(value).empty();
    auto index = empty_list ? Result<ValueIndex>(builder_.tensor_list({})) : argument(g, value);
    if (!index)
      return std::move(index).error().in(describe(node) + ", argument '" + parameter.name + "'");
    const auto* list = std::get_if<pte::TensorList>(&builder_.value(*index));
    if (parameter.optional_elements && list != nullptr) {
      args.push_back(builder_.add(pte::OptionalTensorList{list->items}));
    } else {
      args.push_back(*index);
    }
  }
  return Ok{};
}

// A view of contiguous memory needs no kernel. Not where the result outlives what it looks at
// (outputs that look into inputs, constants or state), or where its shape has two unknown sizes
// that the node does not give. Returns whether it was emitted.
Result<bool> Emitter::view(int32_t g, const Node& node) {
  const Graph& source = *in_.module.graphs[static_cast<size_t>(g)];
  const ValueId out = node.outputs[0];
  const auto* base = std::get_if<ValueRef>(&node.args[0].value);
  if (base == nullptr) return false;
  const ValueIndex from = index_of(g, base->id);
  if (frames_[static_cast<size_t>(g)].indices[static_cast<size_t>(out)] >= 0) return false;
  const ValueIndex root = builder_.root_of(from);
  const auto* root_tensor = std::get_if<pte::Tensor>(&builder_.value(root));
  const bool borrowed = !planned(root);
  const bool is_output =
      std::any_of(source.outputs.begin(), source.outputs.end(),
                  [&](const Output& o) { return o.value == Argument(ValueRef{out}); });
  if (root_tensor == nullptr || (borrowed && is_output)) return false;
  const TensorType& type = source.value(out).type;
  std::vector<ValueIndex> sizes;
  int unknown = 0;
  bool zero = false;
  for (const SymInt size : type.sizes) {
    unknown += size.is_constant() ? 0 : 1;
    zero = zero || (size.is_constant() && size.constant() == 0);
    sizes.push_back(builder_.integer(size.is_constant() ? size.constant() : -1));
  }
  ValueIndex shape = -1;
  if (unknown == 0 || (unknown == 1 && !zero)) {
    shape = builder_.int_list(std::move(sizes));
  } else {
    if (node.args.size() < 2 || !std::holds_alternative<IntList>(node.args[1].value) ||
        node.op.find("view") == std::string::npos)
      return false;
    BP_ASSIGN_OR_RETURN(shape, argument(g, node.args[1].value));
  }
  const ValueIndex to = builder_.add_alias(tensor_of(in_.module.symbols, type), from);
  bind(g, out, to);
  builder_.kernel("executorch_prim::et_view.default", {from, shape, to, to});
  return true;
}

bool Emitter::planned(ValueIndex root) const {
  return std::none_of(constants_.begin(), constants_.end(),
                      [&](const auto& c) { return c.second == root; }) &&
         !builder_.is_input(root);
}

ValueIndex Emitter::absent_output() {
  return builder_.add_planned(tensor_of(in_.module.symbols, TensorType{DType::u8, {0}, {}}));
}

void Emitter::share_memory(int32_t g, const Node& node, const std::string& op, int32_t at) {
  if (!in_.kernel_flags || node.outputs.size() != 1 || node.outputs[0] == kNone) return;
  const uint32_t flags = in_.kernel_flags(op);
  if ((flags & (BP_KERNEL_MAY_ALIAS | BP_KERNEL_IN_PLACE)) == 0) return;
  const Graph& source = *in_.module.graphs[static_cast<size_t>(g)];
  const Value& out = source.value(node.outputs[0]);
  if (out.kind != ValueKind::tensor) return;
  for (size_t i = 0; i < node.args.size(); ++i) {
    const auto* in = std::get_if<ValueRef>(&node.args[i].value);
    if (in == nullptr || (i > 0 && (flags & BP_KERNEL_MAY_ALIAS) == 0)) continue;
    const Value& value = source.value(in->id);
    if (value.kind != ValueKind::tensor || value.type.dtype != out.type.dtype ||
        value.type.sizes != out.type.sizes)
      continue;
    builder_.share(index_of(g, node.outputs[0]), index_of(g, in->id), at);
    return;
  }
}

}  // namespace backplane::lower
