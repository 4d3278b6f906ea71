#include "graph/graph.hpp"
#include "inspect.hpp"
#include "reader/pt2.hpp"

namespace backplane::cli {
namespace {

// "float32[1, s0, 3]", or what else the value is.
std::string type_of(const Module& module, const Argument& argument) {
  const auto* ref = std::get_if<ValueRef>(&argument);
  if (!ref) return std::holds_alternative<None>(argument) ? "none" : "fixed number";
  const Value& value = module.root().value(ref->id);
  if (value.kind != ValueKind::tensor) return value.kind == ValueKind::object ? "object" : "number";
  std::string text = std::string(name_of(value.type.dtype)) + "[";
  for (size_t d = 0; d < value.type.sizes.size(); ++d) {
    text += (d > 0 ? ", " : "") + module.symbols.text(value.type.sizes[d]);
  }
  return text + "]";
}

bool is_tensor(const Module& module, const Argument& argument) {
  const auto* ref = std::get_if<ValueRef>(&argument);
  return ref && module.root().value(ref->id).kind == ValueKind::tensor;
}

class Slots {
 public:
  Slots(const Module& module, std::string prefix) : module_(module), prefix_(std::move(prefix)) {}

  void add(const std::string& name, const Argument& argument) {
    std::string key;
    if (is_tensor(module_, argument)) key = prefix_ + std::to_string(count_++);
    list_.push_back({std::move(key), name, type_of(module_, argument)});
  }
  [[nodiscard]] const std::vector<SlotText>& list() const { return list_; }

 private:
  const Module& module_;
  std::string prefix_;
  size_t count_ = 0;
  std::vector<SlotText> list_;
};

void show_signature(const Module& module, const Console& console, JsonWriter& json) {
  Slots inputs(module, "in.");
  for (const Input& input : module.root().inputs) {
    inputs.add(input.name, input.value == kNone ? input.literal : Argument(ValueRef{input.value}));
  }
  Slots outputs(module, "out.");
  std::vector<SlotText> written;
  for (const Output& output : module.root().outputs) {
    if (output.kind == Output::Kind::user) {
      outputs.add("", output.value);
    } else {
      written.push_back({"", output.target, type_of(module, output.value)});
    }
  }
  console.print("inputs:");
  show_slots("inputs", inputs.list(), console, json);
  console.print("outputs:");
  show_slots("outputs", outputs.list(), console, json);
  if (!written.empty()) console.print("written:");
  show_slots("written", written, console, json);
}

void show_symbols(const Module& module, const Console& console, JsonWriter& json) {
  json.key("symbols");
  json.begin_array();
  for (size_t i = 0; i < module.symbols.num_symbols(); ++i) {
    const SymbolInfo& info = module.symbols.info(i);
    json.begin_object();
    json.member("name", info.name);
    json.member("min", info.range.min);
    std::string line = "symbol " + info.name + ": " + std::to_string(info.range.min) + "…";
    if (info.range.max != kUnbounded) {
      json.member("max", info.range.max);
      line += std::to_string(info.range.max);
    }
    json.end_object();
    console.print(line);
  }
  json.end_array();
}

void show_weights(const Module& module, const Console& console, JsonWriter& json) {
  uint64_t bytes = 0;
  for (const Constant& constant : module.constants) bytes += constant.nbytes();
  console.print("weights: " + std::to_string(module.constants.size()) + " tensors, " +
                std::to_string(bytes) + " bytes");
  json.member("weights", module.constants.size());
  json.member("weight_bytes", bytes);
}

}  // namespace

Status inspect_pt2(const std::string& path, const std::string& model, bool graph,
                   const Console& console, JsonWriter& json) {
  BP_ASSIGN_OR_RETURN(const Module module, read_pt2(path, {.model = model}));
  if (graph) console.print(print(module));
  show_signature(module, console, json);
  show_symbols(module, console, json);
  show_weights(module, console, json);
  std::map<std::string, size_t> operators;
  size_t nodes = 0;
  for (const auto& part : module.graphs) {
    nodes += part->nodes.size();
    for (const Node& node : part->nodes) ++operators[node.op];
  }
  console.print("nodes: " + std::to_string(nodes));
  json.member("nodes", nodes);
  show_counts("operators", operators, console, json);
  if (graph) json.member("graph", print(module));
  return Ok{};
}

}  // namespace backplane::cli
