#include "lower/abi_graph.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <string>
#include <unordered_map>

namespace backplane::lower {
namespace {

bp_str_t view(std::string_view text) {
  return {text.data(), text.size()};
}

// Keeps arrays alive at addresses that stay.
template <class T>
class Pool {
 public:
  const T* keep(std::vector<T> items) {
    if (items.empty()) return nullptr;
    kept_.push_back(std::move(items));
    return kept_.back().data();
  }

 private:
  std::deque<std::vector<T>> kept_;
};

uint32_t token_of(SymOp op) {
  switch (op) {
    using enum SymOp;
    case symbol:
      return BP_TOK_SYMBOL;
    case constant:
      return BP_TOK_CONST;
    case add:
      return BP_TOK_ADD;
    case mul:
      return BP_TOK_MUL;
    case floor_div:
      return BP_TOK_FLOOR_DIV;
    case mod:
      return BP_TOK_MOD;
    case ceil_div:
      return BP_TOK_CEIL_DIV;
    case max:
      return BP_TOK_MAX;
    case min:
      return BP_TOK_MIN;
    case pow:
      return BP_TOK_POW;
    case shift_left:
      return BP_TOK_SHL;
    case shift_right:
      return BP_TOK_SHR;
    case bit_and:
      return BP_TOK_BIT_AND;
    case bit_or:
      return BP_TOK_BIT_OR;
    case eq:
      return BP_TOK_EQ;
    case ne:
      return BP_TOK_NE;
    case lt:
      return BP_TOK_LT;
    case le:
      return BP_TOK_LE;
    case logical_and:
      return BP_TOK_AND;
    case logical_or:
      return BP_TOK_OR;
    case logical_not:
      return BP_TOK_NOT;
    case where:
      return BP_TOK_WHERE;
  }
  return BP_TOK_CONST;
}

uint32_t role_of(const Value& value, bool written) {
  switch (value.role) {
    case Role::input:
      return BP_ROLE_INPUT;
    case Role::parameter:
      return BP_ROLE_PARAMETER;
    case Role::buffer:
      return written ? BP_ROLE_MUTABLE_BUFFER : BP_ROLE_BUFFER;
    case Role::constant:
      return BP_ROLE_CONSTANT;
    case Role::intermediate:
      return BP_ROLE_INTERMEDIATE;
  }
  return BP_ROLE_INTERMEDIATE;
}

// Which nodes and values of a graph are shown.
struct Selection {
  std::vector<NodeId> nodes;
  std::vector<ValueId> values;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
};

Selection everything(const Graph& graph) {
  Selection all;
  for (size_t n = 0; n < graph.nodes.size(); ++n) all.nodes.push_back(static_cast<NodeId>(n));
  for (size_t v = 0; v < graph.values.size(); ++v) all.values.push_back(static_cast<ValueId>(v));
  for (const Input& input : graph.inputs) {
    if (input.value != kNone) all.inputs.push_back(input.value);
  }
  for (const Output& output : graph.outputs) {
    for_each_value(output.value, [&](ValueId id) { all.outputs.push_back(id); });
  }
  return all;
}

Selection of_part(const Graph& graph, const GraphPart& part) {
  Selection some{part.nodes, {}, part.inputs, part.outputs};
  std::vector<bool> seen(graph.values.size(), false);
  const auto show = [&](ValueId id) {
    if (seen[static_cast<size_t>(id)]) return;
    seen[static_cast<size_t>(id)] = true;
    some.values.push_back(id);
  };
  std::for_each(part.inputs.begin(), part.inputs.end(), show);
  for (const NodeId n : part.nodes) {
    const Node& node = graph.nodes[static_cast<size_t>(n)];
    for (const NamedArgument& arg : node.args) for_each_value(arg.value, show);
    for (const ValueId out : node.outputs) {
      if (out != kNone) show(out);
    }
  }
  return some;
}

}  // namespace

struct AbiGraph::Impl {
  Module& module;
  bool with_ids;  // content ids of constants: hashing is for what gets compiled

  // One graph's structs; bodies are built when a node names them.
  struct Built {
    bp_graph_t graph{};
    std::vector<bp_value_t> values;
    std::vector<bp_node_t> nodes;
    std::vector<bp_symbol_t> symbols;
    std::vector<int32_t> inputs;
    std::vector<int32_t> outputs;
    std::vector<int32_t> index_of;  // module's value id → index here
    std::unordered_map<int32_t, int32_t> symbol_of;
    std::vector<ValueId> value_ids;
    std::vector<NodeId> node_ids;
  };
  std::deque<Built> built;
  std::vector<const bp_graph_t*> bodies;
  std::vector<int32_t> body_graphs;  // module's index of each
  Pool<bp_dim_t> dims;
  Pool<int64_t> ints;
  Pool<int32_t> indices;
  Pool<double> floats;
  Pool<uint8_t> bytes;
  Pool<bp_arg_t> args;
  Pool<bp_str_t> texts;
  Pool<bp_ints_t> nested_ints;
  Pool<bp_floats_t> nested_floats;
  std::deque<std::string> strings;

  Impl(Module& m, bool ids) : module(m), with_ids(ids) {}

  bp_str_t keep(std::string text) {
    strings.push_back(std::move(text));
    return view(strings.back());
  }

  void build(int32_t g, const Selection& selection, std::span<const uint32_t> node_flags) {
    const Graph& source = *module.graphs[static_cast<size_t>(g)];
    Built& b = built.emplace_back();
    b.value_ids = selection.values;
    b.node_ids = selection.nodes;
    b.index_of.assign(source.values.size(), -1);
    for (size_t i = 0; i < selection.values.size(); ++i) {
      b.index_of[static_cast<size_t>(selection.values[i])] = static_cast<int32_t>(i);
    }
    for (const ValueId id : selection.inputs)
      b.inputs.push_back(b.index_of[static_cast<size_t>(id)]);
    for (const ValueId id : selection.outputs)
      b.outputs.push_back(b.index_of[static_cast<size_t>(id)]);
    std::vector<int32_t> node_index(source.nodes.size(), -1);
    for (size_t i = 0; i < selection.nodes.size(); ++i) {
      node_index[static_cast<size_t>(selection.nodes[i])] = static_cast<int32_t>(i);
    }
    for (const ValueId id : selection.values)
      b.values.push_back(value(b, source.value(id), node_index));
    for (const int32_t input : b.inputs) {
      if (source.value(selection.values[static_cast<size_t>(input)]).constant == kNone) {
        b.values[static_cast<size_t>(input)].role = BP_ROLE_INPUT;
      }
    }
    for (const NodeId n : selection.nodes) {
      b.nodes.push_back(node(b, source.nodes[static_cast<size_t>(n)]));
      b.nodes.back().debug_id = static_cast<uint32_t>(n);
      if (!node_flags.empty()) b.nodes.back().flags = node_flags[static_cast<size_t>(n)];
    }
    bind_symbols(b, source);
    finish(b, source);
  }

  void finish(Built& b, const Graph& source) const {
    b.graph.struct_size = sizeof(bp_graph_t);
    b.graph.value_stride = sizeof(bp_value_t);
    b.graph.node_stride = sizeof(bp_node_t);
    b.graph.arg_stride = sizeof(bp_arg_t);
    b.graph.symbol_stride = sizeof(bp_symbol_t);
    b.graph.num_values = static_cast<uint32_t>(b.values.size());
    b.graph.num_nodes = static_cast<uint32_t>(b.nodes.size());
    b.graph.num_symbols = static_cast<uint32_t>(b.symbols.size());
    b.graph.num_inputs = static_cast<uint32_t>(b.inputs.size());
    b.graph.num_outputs = static_cast<uint32_t>(b.outputs.size());
    b.graph.values = b.values.data();
    b.graph.nodes = b.nodes.data();
    b.graph.symbols = b.symbols.data();
    b.graph.inputs = b.inputs.data();
    b.graph.outputs = b.outputs.data();
    b.graph.name = view(source.name);
  }

  bool written(const Value& value) const {
    if (value.role != Role::buffer || value.constant == kNone) return false;
    const std::string& fqn = module.constants[static_cast<size_t>(value.constant)].fqn;
    const auto& outputs = module.root().outputs;
    return std::any_of(outputs.begin(), outputs.end(), [&](const Output& o) {
      return o.kind == Output::Kind::buffer_mutation && o.target == fqn;
    });
  }

  bp_value_t value(Built& b, const Value& source, const std::vector<int32_t>& node_index) {
    bp_value_t v{};
    v.name = view(source.name);
    v.kind = static_cast<uint32_t>(source.kind);
    v.role = role_of(source, written(source));
    v.producer = source.producer == kNone ? -1 : node_index[static_cast<size_t>(source.producer)];
    v.symbol = -1;
    if (source.kind == ValueKind::sym_int) {
      v.dtype = abi_dtype(DType::i64);
      if (source.has_expr) v.symbol = symbol(b, source.expr);
      return v;
    }
    if (source.kind != ValueKind::tensor) {
      v.dtype = abi_dtype(source.kind == ValueKind::sym_bool ? DType::boolean : DType::f64);
      return v;
    }
    v.dtype = abi_dtype(source.type.dtype);
    v.rank = static_cast<uint32_t>(source.type.sizes.size());
    v.dims = dims.keep(dimensions(b, source.type.sizes));
    if (source.constant != kNone) {
      Constant& constant = module.constants[static_cast<size_t>(source.constant)];
      v.fqn = view(constant.fqn);
      v.data = blob(constant);
    } else if (!is_contiguous(module.symbols, source.type)) {
      v.strides = dims.keep(dimensions(b, source.type.strides));
    }
    return v;
  }

  bp_blob_t blob(const Constant& constant) {
    const auto data = dense_bytes(constant, module.buffers);
    bp_blob_t out{data.data(), data.size(), 1, 0, 0};
    while (out.align < 64 && reinterpret_cast<uintptr_t>(out.ptr) % (out.align * 2) == 0)
      out.align *= 2;
    if (!with_ids) return out;
    const ContentId& id = content_id(constant, module.buffers);
    for (size_t i = 0; i < 8; ++i) {
      out.id_lo |= uint64_t{id[i]} << (8 * i);
      out.id_hi |= uint64_t{id[8 + i]} << (8 * i);
    }
    return out;
  }

  std::vector<bp_dim_t> dimensions(Built& b, const std::vector<SymInt>& sizes) {
    std::vector<bp_dim_t> out;
    for (const SymInt size : sizes) {
      if (size.is_constant()) {
        out.push_back({size.constant(), -1, 0});
      } else {
        out.push_back({module.symbols.upper_bound(size).value_or(INT64_MAX), symbol(b, size), 0});
      }
    }
    return out;
  }

  // The entry of an expression; those of its symbols come before it.
  int32_t symbol(Built& b, SymInt expression) {
    if (const auto found = b.symbol_of.find(expression.index()); found != b.symbol_of.end())
      return found->second;
    bp_symbol_t s{};
    const Range range = module.symbols.range(expression);
    s.min = range.min;
    s.max = range.max;
    s.multiple_of = 1;
    s.typical = module.symbols.hint(expression).value_or(-1);
    s.given_by = s.given_dim = -1;
    if (const auto bare = module.symbols.as_symbol(expression)) {
      s.name = view(module.symbols.info(*bare).name);
    } else {
      s.name = keep(module.symbols.text(expression));
      std::vector<int64_t> tokens;
      postfix(b, expression, tokens);
      s.num_tokens = tokens.size() / 2;
      s.tokens = ints.keep(std::move(tokens));
    }
    const auto index = static_cast<int32_t>(b.symbols.size());
    b.symbols.push_back(s);
    b.symbol_of.emplace(expression.index(), index);
    return index;
  }

  void postfix(Built& b, SymInt expression, std::vector<int64_t>& tokens) {
    if (expression.is_constant()) {
      tokens.insert(tokens.end(), {BP_TOK_CONST, expression.constant()});
      return;
    }
    const SymNode node = module.symbols.node(expression);
    if (node.op == SymOp::constant) {
      tokens.insert(tokens.end(), {BP_TOK_CONST, node.payload});
      return;
    }
    if (node.op == SymOp::symbol) {
      tokens.insert(tokens.end(), {BP_TOK_SYMBOL, symbol(b, expression)});
      return;
    }
    const bool fold = node.op == SymOp::add || node.op == SymOp::mul || node.op == SymOp::max ||
                      node.op == SymOp::min;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      postfix(b, node.operands[i], tokens);
      if (fold && i > 0) tokens.insert(tokens.end(), {token_of(node.op), 0});
    }
    if (!fold) tokens.insert(tokens.end(), {token_of(node.op), 0});
  }

  // Says which input's dimension, or which scalar result, gives each symbol.
  void bind_symbols(Built& b, const Graph& source) const {
    const auto give = [&](SymInt size, int32_t value, int32_t dim) {
      const auto found = size.is_constant() ? b.symbol_of.end() : b.symbol_of.find(size.index());
      if (found == b.symbol_of.end() || b.symbols[static_cast<size_t>(found->second)].given_by >= 0)
        return;
      b.symbols[static_cast<size_t>(found->second)].given_by = value;
      b.symbols[static_cast<size_t>(found->second)].given_dim = dim;
    };
    for (const int32_t input : b.inputs) {
      const Value& value = source.value(b.value_ids[static_cast<size_t>(input)]);
      if (value.kind == ValueKind::sym_int && value.has_expr) give(value.expr, input, -1);
      for (size_t d = 0; d < value.type.sizes.size(); ++d)
        give(value.type.sizes[d], input, static_cast<int32_t>(d));
    }
    for (size_t i = 0; i < b.value_ids.size(); ++i) {
      const Value& value = source.value(b.value_ids[i]);
      if (value.kind == ValueKind::sym_int && value.has_expr)
        give(value.expr, static_cast<int32_t>(i), -1);
    }
  }

  bp_node_t node(Built& b, const Node& source) {
    bp_node_t n{};
    n.op = view(source.op);
    n.name = view(source.name);
    n.module_path = view(source.origin.module_path);
    n.source = view(source.origin.source);
    std::vector<bp_arg_t> list;
    for (const NamedArgument& arg : source.args) list.push_back(argument(b, arg));
    n.num_args = static_cast<uint32_t>(list.size());
    n.args = args.keep(std::move(list));
    std::vector<int32_t> outs;
    for (const ValueId out : source.outputs)
      outs.push_back(out == kNone ? -1 : b.index_of[static_cast<size_t>(out)]);
    n.num_outs = static_cast<uint32_t>(outs.size());
    n.outs = indices.keep(std::move(outs));
    return n;
  }

  template <class T, class Kept>
  static void list(bp_arg_t& out, uint32_t kind, const Kept*& slot, Pool<T>& pool,
                   std::vector<T> items) {
    out.kind = kind;
    out.n = static_cast<uint32_t>(items.size());
    slot = pool.keep(std::move(items));
  }

  bp_arg_t argument(Built& b, const NamedArgument& arg) {
    bp_arg_t out{};
    out.name = view(arg.name);
    const Argument& a = arg.value;
    const auto number = [&](uint32_t kind, int64_t i) {
      out.kind = kind;
      out.v.i = i;
    };
    if (const auto* ref = std::get_if<ValueRef>(&a))
      number(BP_ARG_VALUE, b.index_of[static_cast<size_t>(ref->id)]);
    if (const auto* i = std::get_if<int64_t>(&a)) number(BP_ARG_INT, *i);
    if (const auto* flag = std::get_if<bool>(&a)) number(BP_ARG_BOOL, *flag ? 1 : 0);
    if (const auto* dtype = std::get_if<DType>(&a))
      number(BP_ARG_DTYPE, static_cast<int64_t>(*dtype));
    if (const auto* format = std::get_if<MemoryFormat>(&a))
      number(BP_ARG_MEMORY_FORMAT, static_cast<int64_t>(*format));
    if (const auto* layout = std::get_if<Layout>(&a))
      number(BP_ARG_LAYOUT, static_cast<int64_t>(*layout));
    if (const auto* graph = std::get_if<GraphRef>(&a)) number(BP_ARG_GRAPH, body(graph->index));
    if (const auto* f = std::get_if<double>(&a)) {
      out.kind = BP_ARG_FLOAT;
      out.v.f = *f;
    }
    if (const auto* text = std::get_if<std::string>(&a)) {
      out.kind = BP_ARG_STRING;
      out.v.s = view(*text);
    }
    if (const auto* device = std::get_if<DeviceArg>(&a)) {
      out.kind = BP_ARG_DEVICE;
      out.v.s = keep(device->index < 0 ? device->type
                                       : device->type + ":" + std::to_string(device->index));
    }
    lists(b, a, out);
    return out;
  }

  void lists(Built& b, const Argument& a, bp_arg_t& out) {
    if (const auto* values = std::get_if<ValueList>(&a)) {
      std::vector<int32_t> ids;
      for (const ValueId id : values->ids)
        ids.push_back(id == kNone ? -1 : b.index_of[static_cast<size_t>(id)]);
      list(out, BP_ARG_VALUES, out.v.values, indices, std::move(ids));
    } else if (const auto* elements = std::get_if<IntList>(&a)) {
      int_list(b, *elements, out);
    } else if (const auto* doubles = std::get_if<std::vector<double>>(&a)) {
      list(out, BP_ARG_FLOATS, out.v.floats, floats, *doubles);
    } else if (const auto* bools = std::get_if<std::vector<bool>>(&a)) {
      list(out, BP_ARG_BOOLS, out.v.bools, bytes, {bools->begin(), bools->end()});
    } else if (const auto* complex = std::get_if<std::complex<double>>(&a)) {
      list(out, BP_ARG_COMPLEX, out.v.floats, floats, {complex->real(), complex->imag()});
    } else if (const auto* names = std::get_if<std::vector<std::string>>(&a)) {
      std::vector<bp_str_t> views(names->size());
      std::transform(names->begin(), names->end(), views.begin(), view);
      list(out, BP_ARG_STRINGS, out.v.strings, texts, std::move(views));
    } else if (const auto* rows = std::get_if<std::vector<std::vector<int64_t>>>(&a)) {
      std::vector<bp_ints_t> views;
      for (const auto& row : *rows) views.push_back({row.data(), row.size()});
      list(out, BP_ARG_NESTED_INTS, out.v.nested_ints, nested_ints, std::move(views));
    } else if (const auto* lines = std::get_if<std::vector<std::vector<double>>>(&a)) {
      std::vector<bp_floats_t> views;
      for (const auto& row : *lines) views.push_back({row.data(), row.size()});
      list(out, BP_ARG_NESTED_FLOATS, out.v.nested_floats, nested_floats, std::move(views));
    }
  }

  void int_list(Built& b, const IntList& elements, bp_arg_t& out) {
    if (std::all_of(elements.begin(), elements.end(),
                    [](const IntElement& e) { return e.is_literal(); })) {
      std::vector<int64_t> numbers;
      for (const IntElement& e : elements) numbers.push_back(e.literal);
      list(out, BP_ARG_INTS, out.v.ints, ints, std::move(numbers));
      return;
    }
    std::vector<bp_dim_t> mixed;
    for (const IntElement& e : elements) {
      mixed.push_back(
          {e.literal, e.is_literal() ? -1 : b.index_of[static_cast<size_t>(e.value)], 0});
    }
    list(out, BP_ARG_DIMS, out.v.dims, dims, std::move(mixed));
  }

  int64_t body(int32_t module_index) {
    const auto known = std::find(body_graphs.begin(), body_graphs.end(), module_index);
    if (known != body_graphs.end()) return known - body_graphs.begin();
    const size_t slot = bodies.size();
    body_graphs.push_back(module_index);
    bodies.push_back(nullptr);
    build(module_index, everything(*module.graphs[static_cast<size_t>(module_index)]), {});
    // `built` grew by this body and, behind it, by the bodies inside it.
    for (Built& b : built) {
      if (b.graph.name.ptr == module.graphs[static_cast<size_t>(module_index)]->name.data())
        bodies[slot] = &b.graph;
    }
    return static_cast<int64_t>(slot);
  }

  void link() {
    for (Built& b : built) {
      b.graph.num_graphs = static_cast<uint32_t>(bodies.size());
      b.graph.graphs = bodies.data();
    }
  }
};

bp_dtype_t abi_dtype(DType dtype) {
  const auto bits = static_cast<uint8_t>(size_of(dtype) * 8);
  uint8_t code = BP_INT;
  switch (dtype) {
    using enum DType;
    case u8:
    case u16:
    case u32:
    case u64:
      code = BP_UINT;
      break;
    case f16:
    case f32:
    case f64:
      code = BP_FLOAT;
      break;
    case c32:
    case c64:
    case c128:
      code = BP_COMPLEX;
      break;
    case boolean:
      code = BP_BOOL;
      break;
    case bf16:
      code = BP_BFLOAT;
      break;
    case f8e5m2:
      code = BP_F8_E5M2;
      break;
    case f8e4m3fn:
      code = BP_F8_E4M3FN;
      break;
    case f8e5m2fnuz:
      code = BP_F8_E5M2FNUZ;
      break;
    case f8e4m3fnuz:
      code = BP_F8_E4M3FNUZ;
      break;
    case f8e8m0fnu:
      code = BP_F8_E8M0FNU;
      break;
    default:
      break;
  }
  return {code, bits, 1};
}

GraphPart make_part(const Module& module, int32_t graph, std::vector<NodeId> nodes) {
  const Graph& source = *module.graphs[static_cast<size_t>(graph)];
  GraphPart part{graph, std::move(nodes), {}, {}};
  std::vector<uint8_t> inside(source.nodes.size(), 0);
  for (const NodeId n : part.nodes) inside[static_cast<size_t>(n)] = 1;
  std::vector<uint8_t> seen(source.values.size(), 0);
  std::vector<uint8_t> wanted(source.values.size(), 0);
  for (size_t n = 0; n < source.nodes.size(); ++n) {
    for (const NamedArgument& arg : source.nodes[n].args) {
      for_each_value(arg.value, [&](ValueId id) {
        const Value& value = source.value(id);
        const bool made_inside =
            value.producer != kNone && inside[static_cast<size_t>(value.producer)] != 0;
        if (inside[n] == 0) {
          if (made_inside) wanted[static_cast<size_t>(id)] = 1;
        } else if (!made_inside && value.constant == kNone &&
                   seen[static_cast<size_t>(id)]++ == 0) {
          part.inputs.push_back(id);
        }
      });
    }
  }
  for (const Output& output : source.outputs) {
    for_each_value(output.value, [&](ValueId id) { wanted[static_cast<size_t>(id)] = 1; });
  }
  for (const NodeId n : part.nodes) {
    for (const ValueId out : source.nodes[static_cast<size_t>(n)].outputs) {
      if (out != kNone && wanted[static_cast<size_t>(out)] != 0) part.outputs.push_back(out);
    }
  }
  return part;
}

AbiGraph::AbiGraph(Module& module, std::span<const uint32_t> node_flags)
    : impl_(std::make_unique<Impl>(module, false)) {
  impl_->build(0, everything(module.root()), node_flags);
  impl_->link();
}

AbiGraph::AbiGraph(Module& module, const GraphPart& part)
    : impl_(std::make_unique<Impl>(module, true)) {
  impl_->build(part.graph, of_part(*module.graphs[static_cast<size_t>(part.graph)], part), {});
  impl_->link();
}

AbiGraph::~AbiGraph() = default;

const bp_graph_t* AbiGraph::get() const {
  return &impl_->built.front().graph;
}
std::span<const ValueId> AbiGraph::value_ids() const {
  return impl_->built.front().value_ids;
}
std::span<const NodeId> AbiGraph::node_ids() const {
  return impl_->built.front().node_ids;
}
int32_t AbiGraph::module_graph(uint32_t claimed) const {
  return claimed == 0                           ? 0
         : claimed <= impl_->body_graphs.size() ? impl_->body_graphs[claimed - 1]
                                                : -1;
}

}  // namespace backplane::lower
