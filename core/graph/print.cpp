#include <charconv>

#include "graph/graph.hpp"
#include "ops/schema.hpp"

namespace backplane {
namespace {

constexpr size_t kMaxListed = 16;  // elements of a list that are shown

std::string number(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return error == std::errc() ? std::string(text, end) : "?";
}

// Elements as `text` shows them, in brackets, cut where there are many.
template <class List, class F>
std::string list(const List& elements, F&& text) {
  std::string out = "[";
  size_t shown = 0;
  for (const auto& element : elements) {
    if (shown > 0) out += ", ";
    if (shown++ == kMaxListed) {
      out += "... " + std::to_string(elements.size()) + " in all";
      break;
    }
    out += text(element);
  }
  return out + "]";
}

std::string name(const Graph& graph, ValueId id) {
  if (id == kNone) return "None";
  const bool exists = id >= 0 && static_cast<size_t>(id) < graph.values.size();
  return "%" + (exists ? graph.value(id).name : "?" + std::to_string(id));
}

struct ArgumentText {
  const Module& module;
  const Graph& graph;

  std::string operator()(const None&) const { return "None"; }
  std::string operator()(const ValueRef& ref) const { return name(graph, ref.id); }
  std::string operator()(const ValueList& values) const {
    return list(values.ids, [this](ValueId id) { return name(graph, id); });
  }
  std::string operator()(int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return number(value); }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(const std::complex<double>& value) const {
    return number(value.real()) + "+" + number(value.imag()) + "j";
  }
  std::string operator()(const std::string& value) const { return '"' + value + '"'; }
  std::string operator()(const IntElement& e) const {
    return e.is_literal() ? std::to_string(e.literal) : name(graph, e.value);
  }
  std::string operator()(DType value) const { return std::string(name_of(value)); }
  std::string operator()(MemoryFormat value) const {
    constexpr std::string_view kNames[] = {"contiguous", "preserve", "channels_last",
                                           "channels_last_3d"};
    const auto index = static_cast<size_t>(value);
    return index < std::size(kNames) ? std::string(kNames[index]) : "?";
  }
  std::string operator()(Layout value) const {
    return value == Layout::strided ? "strided" : "other";
  }
  std::string operator()(const DeviceArg& device) const {
    return device.type + (device.index >= 0 ? ":" + std::to_string(device.index) : "");
  }
  std::string operator()(const GraphRef& ref) const {
    const bool exists = ref.index >= 0 && static_cast<size_t>(ref.index) < module.graphs.size();
    return "@" + (exists ? module.graphs[static_cast<size_t>(ref.index)]->name : "?");
  }
  std::string operator()(const UnknownArgument& unknown) const { return "<" + unknown.tag + ">"; }
  template <class T>
  std::string operator()(const std::vector<T>& elements) const {
    return list(elements, [this](const T& element) { return (*this)(element); });
  }
};

class Printer {
 public:
  explicit Printer(const Module& module) : module_(module) {}
  std::string print();

 private:
  void print_graph(const Graph& graph);
  void print_node(const Graph& graph, const Node& node);
  [[nodiscard]] std::string type(const Value& value) const;
  [[nodiscard]] std::string sizes(const std::vector<SymInt>& sizes) const;
  [[nodiscard]] std::string argument(const Graph& graph, const Argument& argument) const {
    return std::visit(ArgumentText{module_, graph}, argument);
  }

  const Module& module_;
  std::string out_;
};

std::string Printer::sizes(const std::vector<SymInt>& sizes) const {
  return list(sizes, [this](SymInt size) { return module_.symbols.text(size); });
}

std::string Printer::type(const Value& value) const {
  switch (value.kind) {
    case ValueKind::tensor: {
      std::string text = std::string(name_of(value.type.dtype)) + sizes(value.type.sizes);
      if (!is_contiguous(module_.symbols, value.type))
        text += " strides " + sizes(value.type.strides);
      return text;
    }
    case ValueKind::sym_int:
      return value.has_expr ? "int = " + module_.symbols.text(value.expr) : "int";
    case ValueKind::sym_float:
      return "float";
    case ValueKind::sym_bool:
      return "bool";
    case ValueKind::object:
      return "object";
  }
  return "?";
}

void Printer::print_node(const Graph& graph, const Node& node) {
  out_ += "  ";
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId id = node.outputs[i];
    if (i > 0) out_ += ", ";
    out_ += name(graph, id);
    const bool exists = id >= 0 && static_cast<size_t>(id) < graph.values.size();
    if (exists) out_ += ": " + type(graph.value(id));
  }
  out_ += (node.outputs.empty() ? "" : " = ") + node.op + "(";
  for (size_t i = 0; i < node.args.size(); ++i) {
    if (i > 0) out_ += ", ";
    if (!node.args[i].name.empty()) out_.append(node.args[i].name).append("=");
    out_ += argument(graph, node.args[i].value);
  }
  out_ += ")";
  const auto& [module_path, source] = node.origin;
  if (!module_path.empty() || !source.empty()) {
    out_.append("  # ").append(module_path);
    if (!module_path.empty() && !source.empty()) out_ += ", ";
    out_.append(source);
  }
  out_ += "\n";
}

void Printer::print_graph(const Graph& graph) {
  out_ += "graph " + graph.name + ":\n";
  for (const Input& input : graph.inputs) {
    out_ += "  input " + input.name;
    if (input.value == kNone) {
      out_ += " = " + argument(graph, input.literal);
    } else {
      out_ += " " + name(graph, input.value) + ": " + type(graph.value(input.value));
    }
    out_ += "\n";
  }
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (value.constant == kNone) continue;
    constexpr std::string_view kRoles[] = {"input", "parameter", "buffer", "constant",
                                           "intermediate"};
    out_.append("  ").append(kRoles[static_cast<size_t>(value.role)]).append(" ");
    out_ += name(graph, static_cast<ValueId>(i)) + ": " + type(value);
    const auto index = static_cast<size_t>(value.constant);
    if (index < module_.constants.size()) out_ += " \"" + module_.constants[index].fqn + "\"";
    out_ += "\n";
  }
  for (const Node& node : graph.nodes) print_node(graph, node);
  for (const Output& output : graph.outputs) {
    constexpr std::string_view kKinds[] = {"return", "write buffer", "write input"};
    out_.append("  ").append(kKinds[static_cast<size_t>(output.kind)]).append(" ");
    if (!output.target.empty()) out_ += "\"" + output.target + "\" ";
    out_ += argument(graph, output.value) + "\n";
  }
}

std::string Printer::print() {
  for (size_t i = 0; i < module_.symbols.num_symbols(); ++i) {
    const SymbolInfo& symbol = module_.symbols.info(i);
    out_ += "symbol " + symbol.name + " in [" + std::to_string(symbol.range.min) + ", ";
    out_ += symbol.range.max == kUnbounded ? "inf)\n" : std::to_string(symbol.range.max) + "]\n";
  }
  for (const auto& graph : module_.graphs) print_graph(*graph);
  return std::move(out_);
}

}  // namespace

std::string print(const Module& module) {
  return Printer(module).print();
}

}  // namespace backplane
