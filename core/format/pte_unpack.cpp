#include "format/container.hpp"
#include "format/pte_plan.hpp"

namespace backplane::pte {
namespace {

std::string numbered(const char* what, size_t index) {
  return what + (" " + std::to_string(index));
}

// Makes a list of `To` of a vector of tables, by a function that returns Result<To>.
template <class To, class Table, class Function>
Result<std::vector<To>> each(const flatbuffers::Vector<flatbuffers::Offset<Table>>* from,
                             const char* what, Function make) {
  std::vector<To> to;
  to.reserve(from == nullptr ? 0 : from->size());
  for (uint32_t i = 0; from != nullptr && i < from->size(); ++i) {
    Result<To> made = make(*from->Get(i));
    if (!made.ok()) return std::move(made).error().in(numbered(what, i));
    to.push_back(std::move(made).value());
  }
  return to;
}

Result<ShapeDynamism> dynamism(fb::TensorShapeDynamism from) {
  switch (from) {
    case fb::TensorShapeDynamism::STATIC:
      return ShapeDynamism::fixed;
    case fb::TensorShapeDynamism::DYNAMIC_BOUND:
      return ShapeDynamism::bounded;
    case fb::TensorShapeDynamism::DYNAMIC_UNBOUND:
      return ShapeDynamism::unbounded;
  }
  return damaged("shape_dynamism is " + std::to_string(int(from)) + ", must be 0, 1 or 2");
}

Result<Device> device(fb::DeviceType type, int8_t index) {
  switch (type) {
    case fb::DeviceType::CPU:
      return Device{DeviceType::cpu, index};
    case fb::DeviceType::CUDA:
      return Device{DeviceType::cuda, index};
  }
  return Error{Code::unsupported,
               "device_type is " + std::to_string(int(type)) + ", known are 0 (cpu) and 1 (cuda)"};
}

Result<Tensor> unpack(const fb::Tensor& from, Unpacker& unpacker) {
  Tensor tensor;
  BP_ASSIGN_OR_RETURN(tensor.layout, unpack_layout(from, unpacker));
  BP_ASSIGN_OR_RETURN(tensor.dynamism, dynamism(from.shape_dynamism()));
  if (from.storage_offset() != 0 || from.layout() != 0) {
    return Error{Code::unsupported, "storage_offset is " + std::to_string(from.storage_offset()) +
                                        " and layout " + std::to_string(from.layout()) +
                                        ", only 0 is supported"};
  }
  tensor.requires_grad = from.requires_grad();
  tensor.data_index = from.data_buffer_idx();
  if (const auto* at = from.allocation_info()) {
    tensor.allocation = Allocation{
        at->memory_id(), uint64_t{at->memory_offset_high()} << 32 | at->memory_offset_low()};
  }
  const auto* extra = from.extra_tensor_info();
  if (extra == nullptr) return tensor;
  if (extra->mutable_data_segments_idx() != 0) {
    return Error{Code::unsupported, "mutable_data_segments_idx is " +
                                        std::to_string(extra->mutable_data_segments_idx()) +
                                        ", only 0 is supported"};
  }
  tensor.fqn = unpacker.text(extra->fully_qualified_name());
  BP_ASSIGN_OR_RETURN(tensor.device, device(extra->device_type(), extra->device_index()));
  switch (extra->location()) {
    case fb::TensorDataLocation::SEGMENT:
      return tensor;
    case fb::TensorDataLocation::EXTERNAL:
      tensor.external = true;
      return tensor;
  }
  return damaged("location is " + std::to_string(int(extra->location())) + ", must be 0 or 1");
}

Result<IntList> unpack(const fb::IntList& from, Unpacker& unpacker) {
  IntList list;
  for (const int64_t item : unpacker.list(from.items())) {
    const auto index = static_cast<ValueIndex>(item);
    if (index != item) {
      return damaged("item " + std::to_string(list.items.size()) + " is " + std::to_string(item) +
                     ", not the index of a value");
    }
    list.items.push_back(index);
  }
  return list;
}

BoolList unpack_bools(const fb::BoolList& from, Unpacker& unpacker) {
  const std::vector<uint8_t> items = unpacker.list(from.items());
  return {std::vector<bool>(items.begin(), items.end())};
}

Result<Value> unpack(const fb::EValue& from, Unpacker& unpacker) {
  if (from.val_type() != fb::KernelTypes::NONE && from.val() == nullptr) {
    return damaged("nothing is stored");
  }
  switch (from.val_type()) {
    using enum fb::KernelTypes;
    case Null:
      return Value(None{});
    case Int:
      return Value(int64_t{from.val_as_Int()->int_val()});
    case Bool:
      return Value(from.val_as_Bool()->bool_val());
    case Double:
      return Value(from.val_as_Double()->double_val());
    case String:
      return Value(unpacker.text(from.val_as_String()->string_val()));
    case DoubleList:
      return Value(pte::DoubleList{unpacker.list(from.val_as_DoubleList()->items())});
    case BoolList:
      return Value(unpack_bools(*from.val_as_BoolList(), unpacker));
    case TensorList:
      return Value(pte::TensorList{unpacker.list(from.val_as_TensorList()->items())});
    case OptionalTensorList:
      return Value(
          pte::OptionalTensorList{unpacker.list(from.val_as_OptionalTensorList()->items())});
    case IntList: {
      BP_ASSIGN_OR_RETURN(pte::IntList list, unpack(*from.val_as_IntList(), unpacker));
      return Value(std::move(list));
    }
    case Tensor: {
      BP_ASSIGN_OR_RETURN(pte::Tensor tensor, unpack(*from.val_as_Tensor(), unpacker));
      return Value(std::move(tensor));
    }
    default:
      return damaged("kind " + std::to_string(int(from.val_type())) + " is not known");
  }
}

Result<Instruction> unpack(const fb::Instruction& from, Unpacker& unpacker) {
  if (from.instr_args_type() != fb::InstructionArguments::NONE && from.instr_args() == nullptr) {
    return damaged("nothing is stored");
  }
  switch (from.instr_args_type()) {
    using enum fb::InstructionArguments;
    case KernelCall: {
      const auto* call = from.instr_args_as_KernelCall();
      return Instruction(pte::KernelCall{call->op_index(), unpacker.list(call->args())});
    }
    case DelegateCall: {
      const auto* call = from.instr_args_as_DelegateCall();
      return Instruction(pte::DelegateCall{call->delegate_index(), unpacker.list(call->args())});
    }
    case MoveCall: {
      const auto* call = from.instr_args_as_MoveCall();
      return Instruction(pte::MoveCall{call->move_from(), call->move_to()});
    }
    case JumpFalseCall: {
      const auto* call = from.instr_args_as_JumpFalseCall();
      return Instruction(
          pte::JumpFalseCall{call->cond_value_index(), call->destination_instruction()});
    }
    case FreeCall:
      return Instruction(pte::FreeCall{from.instr_args_as_FreeCall()->value_index()});
    default:
      return damaged("kind " + std::to_string(int(from.instr_args_type())) + " is not known");
  }
}

Result<StackTrace> unpack(const fb::FrameList& from, Unpacker& unpacker) {
  return each<Frame>(from.items(), "frame", [&](const fb::Frame& frame) -> Result<Frame> {
    return Frame{unpacker.text(frame.filename()), frame.lineno(), unpacker.text(frame.name()),
                 unpacker.text(frame.context())};
  });
}

Result<Chain> unpack(const fb::Chain& from, Unpacker& unpacker) {
  const auto any = [&](const auto& table) { return unpack(table, unpacker); };
  Chain chain;
  chain.inputs = unpacker.list(from.inputs());
  chain.outputs = unpacker.list(from.outputs());
  BP_ASSIGN_OR_RETURN(chain.instructions,
                      each<Instruction>(from.instructions(), "instruction", any));
  BP_ASSIGN_OR_RETURN(chain.stack_traces, each<StackTrace>(from.stacktrace(), "stack trace", any));
  return chain;
}

Result<Delegate> unpack(const fb::BackendDelegate& from, const Payloads& payloads,
                        Unpacker& unpacker) {
  Delegate delegate{.id = unpacker.text(from.id())};
  BP_ASSIGN_OR_RETURN(
      delegate.compile_specs,
      each<CompileSpec>(
          from.compile_specs(), "compile spec",
          [&](const fb::CompileSpec& spec) -> Result<CompileSpec> {
            return CompileSpec{unpacker.text(spec.key()), unpacker.list(spec.value())};
          }));
  const auto* where = from.processed();
  if (where == nullptr) return damaged("no payload");
  const bool inlined = where->location() == fb::DataLocation::INLINE;
  if (!inlined && where->location() != fb::DataLocation::SEGMENT) {
    return damaged("location is " + std::to_string(int(where->location())) + ", must be 0 or 1");
  }
  const std::vector<Bytes>& list = inlined ? payloads.inlined : payloads.segments;
  if (where->index() >= list.size()) {
    return damaged("payload is " + numbered(inlined ? "inline datum" : "segment", where->index()) +
                   " of " + std::to_string(list.size()));
  }
  delegate.payload = list[where->index()];
  return delegate;
}

Result<Plan> unpack_named(const fb::ExecutionPlan& from, const Payloads& payloads,
                          Unpacker& unpacker) {
  const auto any = [&](const auto& table) { return unpack(table, unpacker); };
  Plan plan{.name = unpacker.text(from.name())};
  if (const auto* meta = from.container_meta_type()) {
    plan.encoded_inputs = unpacker.text(meta->encoded_inp_str());
    plan.encoded_outputs = unpacker.text(meta->encoded_out_str());
  }
  BP_ASSIGN_OR_RETURN(plan.values, each<Value>(from.values(), "value", any));
  plan.inputs = unpacker.list(from.inputs());
  plan.outputs = unpacker.list(from.outputs());
  BP_ASSIGN_OR_RETURN(plan.chains, each<Chain>(from.chains(), "chain", any));
  BP_ASSIGN_OR_RETURN(
      plan.operators,
      each<Operator>(from.operators(), "operator", [&](const fb::Operator& op) -> Result<Operator> {
        return Operator{unpacker.text(op.name()), unpacker.text(op.overload())};
      }));
  BP_ASSIGN_OR_RETURN(plan.delegates,
                      each<Delegate>(from.delegates(), "delegate", [&](const auto& delegate) {
                        return unpack(delegate, payloads, unpacker);
                      }));
  plan.non_const_buffer_sizes.clear();
  for (const int64_t size : unpacker.list(from.non_const_buffer_sizes())) {
    if (size < 0) return damaged("a planned buffer of " + std::to_string(size) + " bytes");
    plan.non_const_buffer_sizes.push_back(static_cast<uint64_t>(size));
  }
  BP_ASSIGN_OR_RETURN(
      plan.non_const_buffer_device,
      each<BufferDevice>(from.non_const_buffer_device(), "buffer device",
                         [](const fb::NonConstBufferDevice& buffer) -> Result<BufferDevice> {
                           BP_ASSIGN_OR_RETURN(const Device where,
                                               device(buffer.device_type(), buffer.device_index()));
                           return BufferDevice{buffer.buffer_idx(), where};
                         }));
  return plan;
}

}  // namespace

Result<Plan> unpack_plan(const fb::ExecutionPlan& from, const Payloads& payloads,
                         Unpacker& unpacker) {
  Result<Plan> plan = unpack_named(from, payloads, unpacker);
  if (plan.ok()) return plan;
  return std::move(plan).error().in("method " + quoted(unpacker.text(from.name())));
}

}  // namespace backplane::pte
