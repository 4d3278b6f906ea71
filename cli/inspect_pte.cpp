#include "common/mapped_file.hpp"
#include "format/ptd.hpp"
#include "format/pte.hpp"
#include "format/pte_print.hpp"
#include "inspect.hpp"
#include "lower_command.hpp"
#include "runtime/data_record.hpp"
#include "runtime/signature.hpp"

namespace backplane::cli {
namespace {

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string describe(const TensorLayout& layout) {
  return std::string(name_of(layout.dtype)) +
         format_sizes(std::vector<int64_t>(layout.sizes.begin(), layout.sizes.end()));
}

// "float32[s0 in 1...512, 8]", as far as the rules know it.
std::string describe(const TensorLayout& layout, const std::vector<runtime::DimRule>& dims,
                     const runtime::MethodSignature& method) {
  std::string text = std::string(name_of(layout.dtype)) + "[";
  for (size_t d = 0; d < layout.sizes.size(); ++d) {
    const runtime::DimRule& rule = dims[d];
    if (d > 0) text += ", ";
    if (rule.symbol < 0) {
      text += (rule.is_fixed() ? "" : "...") + std::to_string(layout.sizes[d]);
      continue;
    }
    const runtime::SymbolRule& symbol = method.symbols[static_cast<size_t>(rule.symbol)];
    if (rule.scale != 1) text += std::to_string(rule.scale) + "*";
    text += symbol.name;
    if (rule.offset != 0) text += (rule.offset < 0 ? "" : "+") + std::to_string(rule.offset);
    text += " in " + std::to_string(symbol.min) + "...";
    if (symbol.max != std::numeric_limits<int64_t>::max()) text += std::to_string(symbol.max);
  }
  return text + "]";
}

std::string describe(const pte::Value& value) {
  struct Visitor {
    std::string operator()(const pte::Tensor& tensor) const {
      using enum pte::ShapeDynamism;
      const std::string text = describe(tensor.layout);
      if (tensor.dynamism == fixed) return text;
      return text + (tensor.dynamism == bounded ? " at most" : " at first, without bounds");
    }
    std::string operator()(pte::None) const { return "none"; }
    std::string operator()(int64_t v) const { return "integer " + std::to_string(v); }
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(double v) const { return "number " + std::to_string(v); }
    std::string operator()(const std::string& v) const { return "text '" + v + "'"; }
    std::string operator()(const pte::TensorList&) const { return "tensors"; }
    std::string operator()(const pte::OptionalTensorList&) const { return "tensors"; }
    std::string operator()(const pte::IntList&) const { return "integers"; }
    std::string operator()(const pte::DoubleList&) const { return "numbers"; }
    std::string operator()(const pte::BoolList&) const { return "booleans"; }
  };
  return std::visit(Visitor{}, value);
}

std::vector<SlotText> slots_of(const pte::Plan& plan, const std::vector<pte::ValueIndex>& indices,
                               const std::vector<runtime::SlotSignature>* known,
                               const runtime::MethodSignature* method, const std::string& prefix) {
  std::vector<SlotText> slots;
  size_t count = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const pte::Value& value = plan.values[static_cast<size_t>(indices[i])];
    const runtime::SlotSignature* own = known && i < known->size() ? &(*known)[i] : nullptr;
    SlotText slot{"", own ? own->name : "", describe(value)};
    if (const auto* tensor = std::get_if<pte::Tensor>(&value)) {
      slot.key = prefix + std::to_string(count++);
      if (own && !own->dims.empty() && own->dims.size() == tensor->layout.sizes.size())
        slot.type = describe(tensor->layout, own->dims, *method);
    }
    slots.push_back(std::move(slot));
  }
  return slots;
}

std::map<std::string, size_t> count_calls(const pte::Plan& plan) {
  struct Visitor {
    const pte::Plan& plan;
    std::string operator()(const pte::KernelCall& call) const {
      const pte::Operator& op = plan.operators[static_cast<size_t>(call.op)];
      return op.name + (op.overload.empty() ? "" : "." + op.overload);
    }
    std::string operator()(const pte::DelegateCall& call) const {
      return "delegate " + plan.delegates[static_cast<size_t>(call.delegate)].id;
    }
    std::string operator()(const pte::MoveCall&) const { return "move"; }
    std::string operator()(const pte::JumpFalseCall&) const { return "jump if false"; }
    std::string operator()(const pte::FreeCall&) const { return "free"; }
  };
  std::map<std::string, size_t> counts;
  for (const pte::Chain& chain : plan.chains) {
    for (const pte::Instruction& instruction : chain.instructions) {
      ++counts[std::visit(Visitor{plan}, instruction)];
    }
  }
  return counts;
}

void show_instructions(const pte::Plan& plan, const Console& console, JsonWriter& json) {
  json.key("graph");
  json.begin_array();
  for (const std::string& line : pte::print_instructions(plan)) {
    console.print(line);
    json.value(line);
  }
  json.end_array();
}

void show_plan(const pte::Plan& plan, const runtime::MethodSignature* signature, bool graph,
               const Console& console, JsonWriter& json) {
  json.begin_object();
  json.member("name", plan.name);
  console.print("method " + plan.name + ", inputs:");
  show_slots(
      "inputs",
      slots_of(plan, plan.inputs, signature ? &signature->inputs : nullptr, signature, "in."),
      console, json);
  console.print("outputs:");
  show_slots(
      "outputs",
      slots_of(plan, plan.outputs, signature ? &signature->outputs : nullptr, signature, "out."),
      console, json);
  uint64_t planned = 0;
  for (const uint64_t bytes : plan.non_const_buffer_sizes) planned += bytes;
  console.print("memory: " + format_bytes(planned));
  json.member("planned_bytes", planned);
  json.key("delegates");
  json.begin_array();
  for (const pte::Delegate& delegate : plan.delegates) {
    console.print("delegate " + delegate.id + ": " + format_bytes(delegate.payload.size()));
    json.begin_object();
    json.member("id", delegate.id);
    json.member("payload_bytes", delegate.payload.size());
    json.end_object();
  }
  json.end_array();
  console.print("instructions:");
  show_counts("instructions", count_calls(plan), console, json);
  if (graph) show_instructions(plan, console, json);
  json.end_object();
}

Status show_record(const pte::Program& program, const Console& console, JsonWriter& json) {
  const NamedData* datum = find(program.named_data, runtime::kDataRecordKey);
  if (!datum) return Ok{};
  BP_ASSIGN_OR_RETURN(const runtime::DataRecord record, runtime::read_data_record(datum->data));
  uint64_t bytes = 0;
  for (const runtime::DatumRecord& entry : record.data) bytes += entry.size_bytes;
  console.print("weights: " + std::to_string(record.data.size()) + " in " + record.file + ", " +
                format_bytes(bytes) + ", set " + record.set_id);
  json.member("weights_file", record.file);
  json.member("weights", record.data.size());
  json.member("weight_bytes", bytes);
  json.member("set", record.set_id);
  return Ok{};
}

void show_data(const std::vector<NamedData>& data, const Console& console, JsonWriter& json) {
  json.key("data");
  json.begin_array();
  for (const NamedData& datum : data) {
    const std::string type = datum.layout ? describe(*datum.layout) : "";
    console.print("  " + datum.key + "  " + type + (type.empty() ? "" : "  ") +
                  format_bytes(datum.data.size()));
    json.begin_object();
    json.member("key", datum.key);
    if (datum.layout) json.member("type", type);
    json.member("bytes", datum.data.size());
    json.end_object();
  }
  json.end_array();
}

}  // namespace

Status inspect_pte(const std::string& path, bool graph, const Console& console, JsonWriter& json) {
  BP_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  BP_ASSIGN_OR_RETURN(const pte::Program program, pte::read(file.bytes(), path));
  runtime::Signature signature;
  if (const NamedData* datum = find(program.named_data, runtime::kSignatureKey)) {
    auto read = runtime::read_signature(datum->data);
    if (!read.ok()) return std::move(read).error().in(path);
    signature = *std::move(read);
  }
  console.print(path + ": " + format_bytes(file.size()));
  json.member("bytes", file.size());
  json.key("methods");
  json.begin_array();
  for (const pte::Plan& plan : program.plans) {
    const runtime::MethodSignature* own = nullptr;
    for (const auto& method : signature.methods) own = method.name == plan.name ? &method : own;
    show_plan(plan, own, graph, console, json);
  }
  json.end_array();
  if (Status status = show_record(program, console, json); !status.ok()) {
    return std::move(status).error().in(path);
  }
  if (!program.named_data.empty()) console.print("data in this file:");
  show_data(program.named_data, console, json);
  return Ok{};
}

Status inspect_ptd(const std::string& path, const Console& console, JsonWriter& json) {
  BP_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  BP_ASSIGN_OR_RETURN(const ptd::DataFile data, ptd::read(file.bytes(), path));
  console.print(path + ": " + format_bytes(file.size()));
  json.member("bytes", file.size());
  if (const NamedData* set = find(data.data, runtime::kSetKey)) {
    console.print("set " + std::string(text_of(set->data)));
    json.member("set", text_of(set->data));
  }
  show_data(data.data, console, json);
  return Ok{};
}

}  // namespace backplane::cli
