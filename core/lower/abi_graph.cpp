#include "lower/abi_graph.hpp"

#include <algorithm>
#include <deque>
#include <numeric>
#include <string>
#include <unordered_map>

#include "common/abi_dtype.hpp"
#include "lower/abi_numbers.hpp"

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

template <class T>
bp_array_t array_of(const std::vector<T>& items) {
  return {items.data(), static_cast<uint32_t>(items.size()), sizeof(T)};
}

}  // namespace

struct AbiGraph::Impl {
  Module& module;
  const DataSet& data;
  const StateNames& state;

  // One graph's structs; bodies are built when a node names them.
  struct Built {
    int32_t module_graph = 0;
    bp_graph_t graph{};
    std::vector<bp_value_t> values;
    std::vector<bp_node_t> nodes;
    std::vector<bp_output_t> outputs;
    std::vector<int32_t> inputs;
    std::vector<int32_t> index_of;  // module's value id → index here
    std::vector<ValueId> value_ids;
    std::vector<NodeId> node_ids;
  };
  std::deque<Built> built;  // in the order of bp_graph_t::graphs
  std::vector<const bp_graph_t*> graphs;
  std::vector<bp_symbol_t> symbols;
  std::unordered_map<int32_t, int32_t> symbol_of;  // module's expression → index
  std::span<const std::vector<uint32_t>> node_flags;
  Pool<bp_dim_t> dims;
  Pool<bp_sym_token_t> tokens;
  Pool<int64_t> ints;
  Pool<int32_t> indices;
  Pool<double> floats;
  Pool<uint8_t> bytes;
  Pool<bp_arg_t> args;
  Pool<bp_str_t> texts;
  std::deque<std::string> strings;

  Impl(Module& m, const DataSet& d, const StateNames& s) : module(m), data(d), state(s) {}

  bp_str_t keep(std::string text) {
    strings.push_back(std::move(text));
    return view(strings.back());
  }

  // Builds `g` and the bodies that it names; returns its place in `built`.
  size_t build(int32_t g, const Selection& selection) {
    const Graph& source = *module.graphs[static_cast<size_t>(g)];
    const size_t place = built.size();
    Built& b = built.emplace_back();
    b.module_graph = g;
    b.value_ids = selection.values;
    b.node_ids = selection.nodes;
    b.index_of.assign(source.values.size(), -1);
    for (size_t i = 0; i < selection.values.size(); ++i) {
      b.index_of[static_cast<size_t>(selection.values[i])] = static_cast<int32_t>(i);
    }
    std::vector<int32_t> node_index(source.nodes.size(), -1);
    for (size_t i = 0; i < selection.nodes.size(); ++i) {
      node_index[static_cast<size_t>(selection.nodes[i])] = static_cast<int32_t>(i);
    }
    for (const ValueId id : selection.values)
      b.values.push_back(value(source.value(id), node_index));
    for (const ValueId id : selection.inputs) {
      b.inputs.push_back(b.index_of[static_cast<size_t>(id)]);
      b.values[static_cast<size_t>(b.inputs.back())].role = BP_ROLE_INPUT;
    }
    for (const ValueId id : selection.outputs) {
      const int32_t index = b.index_of[static_cast<size_t>(id)];
      b.outputs.push_back({index, BP_OUTPUT_RESULT, -1, 0});
      bp_value_t& v = b.values[static_cast<size_t>(index)];
      if (v.role == BP_ROLE_INTERMEDIATE) v.role = BP_ROLE_OUTPUT;
    }
    for (const NodeId n : selection.nodes) {
      const bp_node_t made = node(b, source.nodes[static_cast<size_t>(n)]);
      b.nodes.push_back(made);
      b.nodes.back().debug_id = (static_cast<uint64_t>(g) << 32U) + static_cast<uint64_t>(n) + 1;
      if (!node_flags.empty())
        b.nodes.back().flags = node_flags[static_cast<size_t>(g)][static_cast<size_t>(n)];
    }
    return place;
  }

  // Once everything is built: sources of symbols, and the addresses that could still move.
  void finish() {
    for (size_t i = 0; i < built.size(); ++i) give_symbols(static_cast<int32_t>(i));
    for (Built& b : built) graphs.push_back(&b.graph);
    for (Built& b : built) {
      b.graph.struct_size = sizeof(bp_graph_t);
      b.graph.name = view(module.graphs[static_cast<size_t>(b.module_graph)]->name);
      b.graph.values = array_of(b.values);
      b.graph.nodes = array_of(b.nodes);
      b.graph.symbols = array_of(symbols);
      b.graph.outputs = array_of(b.outputs);
      b.graph.inputs = b.inputs.data();
      b.graph.num_inputs = static_cast<uint32_t>(b.inputs.size());
      b.graph.graphs = graphs.data();
      b.graph.num_graphs = static_cast<uint32_t>(graphs.size());
    }
  }

  bp_value_t value(const Value& source, const std::vector<int32_t>& node_index) {
    bp_value_t v{};
    v.name = view(source.name);
    v.role = role_of(source.role);
    v.producer = source.producer == kNone ? -1 : node_index[static_cast<size_t>(source.producer)];
    v.scalar = {0, -1, -1};
    switch (source.kind) {
      case ValueKind::sym_int:
        v.kind = BP_VALUE_SYM_INT;
        v.dtype = abi_dtype(DType::i64);
        v.scalar = source.has_expr ? dimension(source.expr) : bp_dim_t{INT64_MAX, -1, -1};
        return v;
      case ValueKind::sym_float:
        v.kind = BP_VALUE_SYM_FLOAT;
        v.dtype = abi_dtype(DType::f64);
        return v;
      case ValueKind::sym_bool:
        v.kind = BP_VALUE_SYM_BOOL;
        v.dtype = abi_dtype(DType::boolean);
        return v;
      default:
        break;
    }
    v.dtype = abi_dtype(source.type.dtype);
    v.rank = static_cast<uint32_t>(source.type.sizes.size());
    v.dims = dims.keep(dimensions(source.type.sizes));
    std::vector<SymInt> strides = source.type.strides;
    if (source.constant != kNone || strides.size() != source.type.sizes.size())
      strides = dense(source.type.sizes);
    v.dim_order = bytes.keep(order_of(strides));
    v.strides = dims.keep(dimensions(strides));
    if (source.constant != kNone && !is_state(module, source, state)) {
      const Constant& constant = module.constants[static_cast<size_t>(source.constant)];
      v.fqn = view(constant.fqn);
      v.key = keep(data.key_of(constant, module.buffers));
      v.data = blob(constant);
    }
    return v;
  }

  std::vector<SymInt> dense(const std::vector<SymInt>& sizes) {
    std::vector<SymInt> strides(sizes.size(), SymInt(1));
    for (size_t d = sizes.size(); d-- > 1;)
      strides[d - 1] = module.symbols.mul(strides[d], sizes[d]);
    return strides;
  }

  std::vector<uint8_t> order_of(const std::vector<SymInt>& strides) const {
    std::vector<uint8_t> order(strides.size());
    std::iota(order.begin(), order.end(), uint8_t{0});
    const auto size = [&](uint8_t d) { return module.symbols.hint(strides[d]).value_or(1); };
    std::stable_sort(order.begin(), order.end(),
                     [&](uint8_t a, uint8_t b) { return size(a) > size(b); });
    return order;
  }

  bp_blob_t blob(const Constant& constant) {
    const auto dense_data = dense_bytes(constant, module.buffers);
    bp_blob_t out{dense_data.data(), dense_data.size(), 1, 0, 0};
    while (out.align < 64 && reinterpret_cast<uintptr_t>(out.ptr) % (out.align * 2) == 0)
      out.align *= 2;
    const ContentId& id = content_id(constant, module.buffers);
    for (size_t i = 0; i < 8; ++i) {
      out.id_lo |= uint64_t{id[i]} << (8 * i);
      out.id_hi |= uint64_t{id[8 + i]} << (8 * i);
    }
    return out;
  }

  bp_dim_t dimension(SymInt size) {
    if (size.is_constant()) return {size.constant(), -1, -1};
    return {module.symbols.upper_bound(size).value_or(INT64_MAX), symbol(size), -1};
  }

  std::vector<bp_dim_t> dimensions(const std::vector<SymInt>& sizes) {
    std::vector<bp_dim_t> out;
    for (const SymInt size : sizes) out.push_back(dimension(size));
    return out;
  }

  // The entry of an expression; those of its symbols come before it.
  int32_t symbol(SymInt expression) {
    if (const auto found = symbol_of.find(expression.index()); found != symbol_of.end())
      return found->second;
    bp_symbol_t s{};
    const Range range = module.symbols.range(expression);
    s.min = range.min;
    s.max = range.max;
    s.multiple_of = 1;
    s.typical = module.symbols.hint(expression).value_or(-1);
    s.source = BP_SOURCE_NONE;
    if (const auto bare = module.symbols.as_symbol(expression)) {
      s.name = view(module.symbols.info(*bare).name);
      s.expr = {nullptr, 0, sizeof(bp_sym_token_t)};
    } else {
      s.name = keep(module.symbols.text(expression));
      std::vector<bp_sym_token_t> list;
      postfix(expression, list);
      const auto count = static_cast<uint32_t>(list.size());
      s.expr = {tokens.keep(std::move(list)), count, sizeof(bp_sym_token_t)};
    }
    const auto index = static_cast<int32_t>(symbols.size());
    symbols.push_back(s);
    symbol_of.emplace(expression.index(), index);
    return index;
  }

  void postfix(SymInt expression, std::vector<bp_sym_token_t>& out) {
    if (expression.is_constant()) {
      out.push_back({BP_SYM_CONSTANT, 0, expression.constant()});
      return;
    }
    const SymNode node = module.symbols.node(expression);
    if (node.op == SymOp::constant) {
      out.push_back({BP_SYM_CONSTANT, 0, node.payload});
    } else if (node.op == SymOp::symbol) {
      out.push_back({BP_SYM_SYMBOL, 0, symbol(expression)});
    } else {
      for (const SymInt operand : node.operands) postfix(operand, out);
      out.push_back({token_of(node.op), static_cast<uint32_t>(node.operands.size()), 0});
    }
  }

  // Notes for each symbol which input's dimension, or which node's result, gives it.
  void give_symbols(int32_t place) {
    const Built& b = built[static_cast<size_t>(place)];
    const Graph& source = *module.graphs[static_cast<size_t>(b.module_graph)];
    const auto give = [&](SymInt size, const bp_symbol_t& from) {
      const auto found = size.is_constant() ? symbol_of.end() : symbol_of.find(size.index());
      if (found == symbol_of.end()) return;
      bp_symbol_t& s = symbols[static_cast<size_t>(found->second)];
      if (s.source != BP_SOURCE_NONE) return;
      s.source = from.source;
      s.source_graph = place;
      s.source_index = from.source_index;
      s.source_dim = from.source_dim;
      s.source_output = from.source_output;
    };
    const auto give_all = [&](const Value& value, bp_symbol_t from) {
      from.source_dim = -1;
      if (value.kind == ValueKind::sym_int && value.has_expr) give(value.expr, from);
      for (size_t d = 0; d < value.type.sizes.size(); ++d) {
        from.source_dim = static_cast<int32_t>(d);
        give(value.type.sizes[d], from);
      }
    };
    bp_symbol_t from{};
    from.source = BP_SOURCE_INPUT;
    for (size_t i = 0; i < b.inputs.size(); ++i) {
      from.source_index = static_cast<int32_t>(i);
      give_all(source.value(b.value_ids[static_cast<size_t>(b.inputs[i])]), from);
    }
    from.source = BP_SOURCE_NODE;
    for (size_t n = 0; n < b.node_ids.size(); ++n) {
      const Node& node = source.nodes[static_cast<size_t>(b.node_ids[n])];
      from.source_index = static_cast<int32_t>(n);
      for (size_t o = 0; o < node.outputs.size(); ++o) {
        from.source_output = static_cast<int32_t>(o);
        if (node.outputs[o] != kNone) give_all(source.value(node.outputs[o]), from);
      }
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
    n.args = {nullptr, static_cast<uint32_t>(list.size()), sizeof(bp_arg_t)};
    n.args.data = args.keep(std::move(list));
    std::vector<int32_t> outs;
    for (const ValueId out : source.outputs)
      outs.push_back(out == kNone ? -1 : b.index_of[static_cast<size_t>(out)]);
    n.num_outs = static_cast<uint32_t>(outs.size());
    n.outs = indices.keep(std::move(outs));
    return n;
  }

  template <class T>
  static void list(bp_arg_t& out, uint32_t kind, const T*& slot, Pool<T>& pool,
                   std::vector<T> items) {
    out.kind = kind;
    out.count = static_cast<uint32_t>(items.size());
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
    if (const auto* format = std::get_if<MemoryFormat>(&a))
      number(BP_ARG_MEMORY_FORMAT, static_cast<int64_t>(*format));
    if (const auto* layout = std::get_if<Layout>(&a))
      number(BP_ARG_LAYOUT, static_cast<int64_t>(*layout));
    if (const auto* graph = std::get_if<GraphRef>(&a)) number(BP_ARG_GRAPH, body(graph->index));
    if (const auto* f = std::get_if<double>(&a)) {
      out.kind = BP_ARG_FLOAT;
      out.v.f = *f;
    }
    if (const auto* dtype = std::get_if<DType>(&a)) {
      out.kind = BP_ARG_DTYPE;
      out.v.dtype = abi_dtype(*dtype);
    }
    if (const auto* text = std::get_if<std::string>(&a)) {
      out.kind = BP_ARG_STRING;
      out.v.s = view(*text);
    }
    if (const auto* device = std::get_if<DeviceArg>(&a)) {
      out.kind = BP_ARG_DEVICE;
      out.v.device = device_of(*device);
    }
    if (const auto* complex = std::get_if<std::complex<double>>(&a)) {
      out.kind = BP_ARG_COMPLEX;
      out.v.re_im[0] = complex->real();
      out.v.re_im[1] = complex->imag();
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
    } else if (const auto* names = std::get_if<std::vector<std::string>>(&a)) {
      std::vector<bp_str_t> views(names->size());
      std::transform(names->begin(), names->end(), views.begin(), view);
      list(out, BP_ARG_STRINGS, out.v.strings, texts, std::move(views));
    } else if (const auto* rows = std::get_if<std::vector<std::vector<int64_t>>>(&a)) {
      nested(*rows, BP_ARG_INTS, ints, &bp_arg_t::v, out);
    } else if (const auto* lines = std::get_if<std::vector<std::vector<double>>>(&a)) {
      nested(*lines, BP_ARG_FLOATS, floats, &bp_arg_t::v, out);
    }
  }

  template <class T, class Union>
  void nested(const std::vector<std::vector<T>>& rows, uint32_t kind, Pool<T>& pool,
              Union bp_arg_t::*v, bp_arg_t& out) {
    std::vector<bp_arg_t> list_of_lists;
    for (const std::vector<T>& row : rows) {
      bp_arg_t inner{};
      inner.kind = kind;
      inner.count = static_cast<uint32_t>(row.size());
      const T* kept = pool.keep(row);
      if constexpr (std::is_same_v<T, double>) {
        (inner.*v).floats = kept;
      } else {
        (inner.*v).ints = kept;
      }
      list_of_lists.push_back(inner);
    }
    out.kind = BP_ARG_LIST;
    out.count = static_cast<uint32_t>(list_of_lists.size());
    out.v.list = {nullptr, out.count, sizeof(bp_arg_t)};
    out.v.list.data = args.keep(std::move(list_of_lists));
  }

  void int_list(Built& b, const IntList& elements, bp_arg_t& out) {
    if (std::all_of(elements.begin(), elements.end(),
                    [](const IntElement& e) { return e.is_literal(); })) {
      std::vector<int64_t> numbers;
      for (const IntElement& e : elements) numbers.push_back(e.literal);
      list(out, BP_ARG_INTS, out.v.ints, ints, std::move(numbers));
      return;
    }
    const Graph& source = *module.graphs[static_cast<size_t>(b.module_graph)];
    std::vector<bp_dim_t> mixed;
    for (const IntElement& e : elements) {
      if (e.is_literal()) {
        mixed.push_back({e.literal, -1, -1});
        continue;
      }
      const Value& value = source.value(e.value);
      bp_dim_t dim = value.has_expr ? dimension(value.expr) : bp_dim_t{INT64_MAX, -1, -1};
      dim.value = b.index_of[static_cast<size_t>(e.value)];
      mixed.push_back(dim);
    }
    list(out, BP_ARG_DIMS, out.v.dims, dims, std::move(mixed));
  }

  int64_t body(int32_t module_index) {
    for (size_t i = 1; i < built.size(); ++i) {
      if (built[i].module_graph == module_index) return static_cast<int64_t>(i);
    }
    return static_cast<int64_t>(
        build(module_index,
              everything(module, state, *module.graphs[static_cast<size_t>(module_index)])));
  }
};

AbiGraph::AbiGraph(Module& module, const DataSet& data, const StateNames& state,
                   std::span<const std::vector<uint32_t>> node_flags)
    : impl_(std::make_unique<Impl>(module, data, state)) {
  impl_->node_flags = node_flags;
  impl_->build(0, everything(module, state, module.root()));
  impl_->finish();
}

AbiGraph::AbiGraph(Module& module, const DataSet& data, const StateNames& state,
                   const GraphPart& part)
    : impl_(std::make_unique<Impl>(module, data, state)) {
  impl_->build(part.graph, of_part(*module.graphs[static_cast<size_t>(part.graph)], part));
  impl_->finish();
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
int32_t AbiGraph::module_graph(int32_t index) const {
  if (index < 0 || static_cast<size_t>(index) >= impl_->built.size()) return -1;
  return impl_->built[static_cast<size_t>(index)].module_graph;
}

}  // namespace backplane::lower
