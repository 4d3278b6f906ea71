#include <type_traits>

#include "format/pte_plan.hpp"

namespace backplane::pte {
namespace {

using flatbuffers::Offset;

constexpr size_t kMaxMetadata = size_t{1} << 30;

// A vector of tables, by a function that makes the table of one item.
template <class Table, class Item, class Function>
auto each(const std::vector<Item>& items, Packer& packer, Function make) {
  std::vector<Offset<Table>> offsets;
  offsets.reserve(items.size());
  for (const Item& item : items) {
    if (packer.full()) break;
    offsets.push_back(make(item));
  }
  return packer.list(offsets);
}

Offset<fb::Tensor> pack(const Tensor& tensor, Packer& packer) {
  auto& builder = packer.builder();
  Offset<fb::ExtraTensorInfo> extra;
  if (!tensor.fqn.empty() || tensor.external || tensor.device != Device{}) {
    extra = fb::CreateExtraTensorInfo(
        builder, 0, packer.text(tensor.fqn),
        tensor.external ? fb::TensorDataLocation::EXTERNAL : fb::TensorDataLocation::SEGMENT,
        static_cast<fb::DeviceType>(tensor.device.type), tensor.device.index);
  }
  Offset<fb::AllocationDetails> allocation;
  if (tensor.allocation) {
    const auto [memory_id, offset] = *tensor.allocation;
    allocation = fb::CreateAllocationDetails(builder, memory_id, static_cast<uint32_t>(offset),
                                             static_cast<uint32_t>(offset >> 32));
  }
  const auto sizes = packer.list(tensor.layout.sizes);
  const auto dim_order = packer.list(tensor.layout.dim_order);
  return fb::CreateTensor(builder, static_cast<fb::ScalarType>(tensor.layout.dtype), 0, sizes,
                          dim_order, tensor.requires_grad, tensor.data_index, allocation, 0,
                          static_cast<fb::TensorShapeDynamism>(tensor.dynamism), extra);
}

Offset<fb::EValue> pack(const Value& value, Packer& packer) {
  auto& builder = packer.builder();
  const auto made = [&](fb::KernelTypes kind, auto table) {
    return fb::CreateEValue(builder, kind, table.Union());
  };
  const auto visit = [&]<class T>(const T& v) {
    using enum fb::KernelTypes;
    if constexpr (std::is_same_v<T, pte::None>) {
      return made(Null, fb::CreateNull(builder));
    } else if constexpr (std::is_same_v<T, int64_t>) {
      return made(Int, fb::CreateInt(builder, v));
    } else if constexpr (std::is_same_v<T, bool>) {
      return made(Bool, fb::CreateBool(builder, v));
    } else if constexpr (std::is_same_v<T, double>) {
      // -0.0 equals the default and would be left out.
      builder.ForceDefaults(true);
      const auto number = fb::CreateDouble(builder, v);
      builder.ForceDefaults(false);
      return made(Double, number);
    } else if constexpr (std::is_same_v<T, pte::Tensor>) {
      return made(Tensor, pack(v, packer));
    } else if constexpr (std::is_same_v<T, std::string>) {
      return made(String, fb::CreateString(builder, packer.text(v)));
    } else if constexpr (std::is_same_v<T, pte::IntList>) {
      const std::vector<int64_t> items(v.items.begin(), v.items.end());
      return made(IntList, fb::CreateIntList(builder, packer.list(items)));
    } else if constexpr (std::is_same_v<T, pte::DoubleList>) {
      return made(DoubleList, fb::CreateDoubleList(builder, packer.list(v.items)));
    } else if constexpr (std::is_same_v<T, pte::BoolList>) {
      const std::vector<uint8_t> items(v.items.begin(), v.items.end());
      return made(BoolList, fb::CreateBoolList(builder, packer.list(items)));
    } else if constexpr (std::is_same_v<T, pte::TensorList>) {
      return made(TensorList, fb::CreateTensorList(builder, packer.list(v.items)));
    } else {
      static_assert(std::is_same_v<T, pte::OptionalTensorList>);
      return made(OptionalTensorList, fb::CreateOptionalTensorList(builder, packer.list(v.items)));
    }
  };
  return std::visit(visit, value);
}

Offset<fb::Instruction> pack(const Instruction& instruction, Packer& packer) {
  auto& builder = packer.builder();
  const auto made = [&](fb::InstructionArguments kind, auto table) {
    return fb::CreateInstruction(builder, kind, table.Union());
  };
  const auto visit = [&]<class T>(const T& call) {
    using enum fb::InstructionArguments;
    if constexpr (std::is_same_v<T, pte::KernelCall>) {
      return made(KernelCall, fb::CreateKernelCall(builder, call.op, packer.list(call.args)));
    } else if constexpr (std::is_same_v<T, pte::DelegateCall>) {
      return made(DelegateCall,
                  fb::CreateDelegateCall(builder, call.delegate, packer.list(call.args)));
    } else if constexpr (std::is_same_v<T, pte::MoveCall>) {
      return made(MoveCall, fb::CreateMoveCall(builder, call.from, call.to));
    } else if constexpr (std::is_same_v<T, pte::JumpFalseCall>) {
      return made(JumpFalseCall,
                  fb::CreateJumpFalseCall(builder, call.condition, call.destination));
    } else {
      static_assert(std::is_same_v<T, pte::FreeCall>);
      return made(FreeCall, fb::CreateFreeCall(builder, call.value));
    }
  };
  return std::visit(visit, instruction);
}

Offset<fb::FrameList> pack(const StackTrace& trace, Packer& packer) {
  return fb::CreateFrameList(
      packer.builder(), each<fb::Frame>(trace, packer, [&](const Frame& frame) {
        const auto file = packer.text(frame.file);
        const auto name = packer.text(frame.name);
        const auto context = packer.text(frame.context);
        return fb::CreateFrame(packer.builder(), file, frame.line, name, context);
      }));
}

Offset<fb::Chain> pack(const Chain& chain, Packer& packer) {
  const auto any = [&](const auto& item) { return pack(item, packer); };
  const auto inputs = packer.list(chain.inputs);
  const auto outputs = packer.list(chain.outputs);
  const auto instructions = each<fb::Instruction>(chain.instructions, packer, any);
  Offset<flatbuffers::Vector<Offset<fb::FrameList>>> traces;
  if (!chain.stack_traces.empty()) traces = each<fb::FrameList>(chain.stack_traces, packer, any);
  return fb::CreateChain(packer.builder(), inputs, outputs, instructions, traces);
}

Offset<fb::BackendDelegate> pack(const Delegate& delegate, PayloadPlace place, Packer& packer) {
  auto& builder = packer.builder();
  const auto id = packer.text(delegate.id);
  const auto specs =
      each<fb::CompileSpec>(delegate.compile_specs, packer, [&](const CompileSpec& spec) {
        const auto key = packer.text(spec.key);
        return fb::CreateCompileSpec(builder, key, packer.list(spec.value));
      });
  const auto where = fb::CreateBackendDelegateDataReference(builder, place.location, place.index);
  return fb::CreateBackendDelegate(builder, id, where, specs);
}

}  // namespace

Offset<flatbuffers::String> Packer::text(std::string_view from) {
  return fits(from.size()) ? builder_.CreateString(from.data(), from.size()) : 0;
}

bool Packer::fits(size_t bytes) {
  full_ = full_ || bytes > kMaxMetadata || builder_.GetSize() > kMaxMetadata - bytes;
  return !full_;
}

Offset<fb::ExecutionPlan> pack_plan(const Plan& plan, const std::vector<PayloadPlace>& payloads,
                                    Packer& packer) {
  auto& builder = packer.builder();
  const auto any = [&](const auto& item) { return pack(item, packer); };
  const auto name = packer.text(plan.name);
  const auto encoded_inputs = packer.text(plan.encoded_inputs);
  const auto encoded_outputs = packer.text(plan.encoded_outputs);
  const auto meta = fb::CreateContainerMetadata(builder, encoded_inputs, encoded_outputs);
  const auto values = each<fb::EValue>(plan.values, packer, any);
  const auto inputs = packer.list(plan.inputs);
  const auto outputs = packer.list(plan.outputs);
  const auto chains = each<fb::Chain>(plan.chains, packer, any);
  const auto operators = each<fb::Operator>(plan.operators, packer, [&](const Operator& op) {
    const auto op_name = packer.text(op.name);
    return fb::CreateOperator(builder, op_name, packer.text(op.overload));
  });
  size_t next = 0;
  const auto delegates = each<fb::BackendDelegate>(
      plan.delegates, packer,
      [&](const Delegate& delegate) { return pack(delegate, payloads[next++], packer); });
  const std::vector<int64_t> sizes(plan.non_const_buffer_sizes.begin(),
                                   plan.non_const_buffer_sizes.end());
  const auto buffer_sizes = packer.list(sizes);
  Offset<flatbuffers::Vector<Offset<fb::NonConstBufferDevice>>> devices;
  if (!plan.non_const_buffer_device.empty()) {
    devices = each<fb::NonConstBufferDevice>(
        plan.non_const_buffer_device, packer, [&](const BufferDevice& buffer) {
          return fb::CreateNonConstBufferDevice(builder, buffer.buffer,
                                                static_cast<fb::DeviceType>(buffer.device.type),
                                                buffer.device.index);
        });
  }
  return fb::CreateExecutionPlan(builder, name, meta, values, inputs, outputs, chains, operators,
                                 delegates, buffer_sizes, devices);
}

}  // namespace backplane::pte
