#include "describe.hpp"

#include <bit>
#include <cstring>
#include <type_traits>

#include "format/sha256.hpp"

namespace backplane {
namespace {

std::string digest(Bytes bytes) {
  return to_hex(sha256(bytes)).substr(0, 16);
}

std::string text(const std::string& value) {
  if (value.empty()) return "-";
  return to_hex(std::span(reinterpret_cast<const uint8_t*>(value.data()), value.size()));
}

std::string bits(double value) {
  return to_hex(std::bit_cast<std::array<uint8_t, 8>>(value));
}

template <class List>
std::string items(const List& list) {
  std::string result;
  for (const auto item : list) {
    if (!result.empty()) result += ',';
    if constexpr (std::is_same_v<typename List::value_type, double>) {
      result += bits(item);
    } else {
      result += std::to_string(static_cast<int64_t>(item));
    }
  }
  return result.empty() ? "-" : result;
}

std::string words(std::initializer_list<std::string> list) {
  std::string line;
  for (const std::string& word : list) line += (line.empty() ? "" : " ") + word;
  return line + "\n";
}

std::string number(int64_t value) {
  return std::to_string(value);
}

std::string of(const TensorLayout& layout) {
  return number(int(layout.dtype)) + " sizes " + items(layout.sizes) + " order " +
         items(layout.dim_order);
}

std::string of(const pte::Device& device) {
  return number(int(device.type)) + ":" + number(device.index);
}

std::string of(const pte::Tensor& t, const pte::Program& program) {
  std::string line = "tensor " + of(t.layout) + " dynamism " + number(int(t.dynamism)) + " data " +
                     number(t.data_index);
  if (t.allocation) {
    line += " at " + number(t.allocation->memory_id) + ":" + std::to_string(t.allocation->offset);
  }
  line += " name " + text(t.fqn) + " external " + number(t.external) + " device " + of(t.device);
  if (t.data_index != 0 && !t.external) {
    const Bytes all = (t.allocation ? program.mutable_data : program.constants)[t.data_index];
    line += " bytes " + digest(all.first(static_cast<size_t>(*checked_nbytes(t.layout))));
  }
  return line + "\n";
}

std::string of(const pte::Value& value, const pte::Program& program) {
  const auto visit = [&]<class T>(const T& v) -> std::string {
    if constexpr (std::is_same_v<T, pte::None>) return "none\n";
    if constexpr (std::is_same_v<T, int64_t>) return words({"int", number(v)});
    if constexpr (std::is_same_v<T, bool>) return words({"bool", number(v)});
    if constexpr (std::is_same_v<T, double>) return words({"double", bits(v)});
    if constexpr (std::is_same_v<T, pte::Tensor>) return of(v, program);
    if constexpr (std::is_same_v<T, std::string>) return words({"string", text(v)});
    if constexpr (std::is_same_v<T, pte::IntList>) return words({"int_list", items(v.items)});
    if constexpr (std::is_same_v<T, pte::DoubleList>) return words({"double_list", items(v.items)});
    if constexpr (std::is_same_v<T, pte::BoolList>) return words({"bool_list", items(v.items)});
    if constexpr (std::is_same_v<T, pte::TensorList>) return words({"tensor_list", items(v.items)});
    if constexpr (std::is_same_v<T, pte::OptionalTensorList>) {
      return words({"optional_tensor_list", items(v.items)});
    }
  };
  return std::visit(visit, value);
}

std::string of(const pte::KernelCall& c) {
  return words({"kernel", number(c.op), items(c.args)});
}
std::string of(const pte::DelegateCall& c) {
  return words({"delegate", number(c.delegate), items(c.args)});
}
std::string of(const pte::MoveCall& c) {
  return words({"move", number(c.from), number(c.to)});
}
std::string of(const pte::JumpFalseCall& c) {
  return words({"jump_false", number(c.condition), number(c.destination)});
}
std::string of(const pte::FreeCall& c) {
  return words({"free", number(c.value)});
}

std::string of(const pte::Chain& chain) {
  std::string lines = words({"chain", items(chain.inputs), items(chain.outputs)});
  for (const pte::Instruction& instruction : chain.instructions) {
    lines += std::visit([](const auto& call) { return of(call); }, instruction);
  }
  for (const pte::StackTrace& trace : chain.stack_traces) {
    lines += "trace";
    for (const pte::Frame& frame : trace) {
      lines += " " + frame.file + ":" + number(frame.line) + ":" + frame.name;
    }
    lines += "\n";
  }
  return lines;
}

std::string of(const pte::Plan& plan, const pte::Program& program) {
  std::string lines = words({"method", text(plan.name)});
  lines += words({"encoded", text(plan.encoded_inputs), text(plan.encoded_outputs)});
  lines += words({"inputs", items(plan.inputs), "outputs", items(plan.outputs)});
  for (const pte::Value& value : plan.values) lines += of(value, program);
  for (const pte::Operator& op : plan.operators) {
    lines += words({"operator", text(op.name), text(op.overload)});
  }
  for (const pte::Delegate& delegate : plan.delegates) {
    lines += words({"delegate", text(delegate.id), digest(delegate.payload)});
    for (const pte::CompileSpec& spec : delegate.compile_specs) {
      lines += words({"spec", text(spec.key), digest(std::as_bytes(std::span(spec.value)))});
    }
  }
  for (const pte::Chain& chain : plan.chains) lines += of(chain);
  lines += words({"buffers", items(plan.non_const_buffer_sizes)});
  for (const pte::BufferDevice& buffer : plan.non_const_buffer_device) {
    lines += words({"buffer_device", number(buffer.buffer), of(buffer.device)});
  }
  return lines;
}

}  // namespace

std::string describe(const pte::Program& program) {
  std::string lines;
  for (const pte::Plan& plan : program.plans) lines += of(plan, program);
  for (const NamedData& datum : program.named_data) {
    lines += words({"named", text(datum.key), digest(datum.data)});
  }
  return lines;
}

std::string describe(const ptd::DataFile& file) {
  std::string lines;
  for (const NamedData& datum : file.data) {
    lines += words({"named", text(datum.key), digest(datum.data), "layout",
                    datum.layout ? of(*datum.layout) : "-"});
  }
  return lines;
}

}  // namespace backplane
