#include <algorithm>
#include <type_traits>

#include "format/container.hpp"
#include "format/pte.hpp"
#include "format/segments.hpp"

namespace backplane::pte {
namespace {

Error invalid(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

std::string numbered(std::string_view what, size_t index) {
  return std::string(what) + " " + std::to_string(index);
}

// Adds what a failure happened in.
Status in(Status status, std::string_view what, size_t index) {
  if (status.ok()) return status;
  return std::move(status).error().in(numbered(what, index));
}

Status check_index(std::string_view what, int64_t index, size_t count) {
  if (index >= 0 && static_cast<uint64_t>(index) < count) return Ok{};
  return invalid(std::string(what) + " " + std::to_string(index) + " does not exist, there are " +
                 std::to_string(count));
}

class PlanChecker {
 public:
  PlanChecker(const Program& program, const Plan& plan) : program_(program), plan_(plan) {}

  [[nodiscard]] Status run() const {
    for (size_t i = 0; i < plan_.values.size(); ++i) {
      BP_TRY(in(check_value(i), "value", i));
    }
    BP_TRY(check_values("input", plan_.inputs));
    BP_TRY(check_values("output", plan_.outputs));
    for (size_t i = 0; i < plan_.operators.size(); ++i) {
      if (plan_.operators[i].name.empty()) return invalid(numbered("operator", i) + " has no name");
    }
    for (size_t i = 0; i < plan_.delegates.size(); ++i) {
      if (plan_.delegates[i].id.empty()) return invalid(numbered("delegate", i) + " has no id");
    }
    for (size_t i = 0; i < plan_.chains.size(); ++i) {
      BP_TRY(in(check_chain(plan_.chains[i]), "chain", i));
    }
    return check_buffers();
  }

 private:
  [[nodiscard]] Status check_values(std::string_view what,
                                    std::span<const ValueIndex> indices) const {
    for (size_t i = 0; i < indices.size(); ++i) {
      BP_TRY(in(check_index("value", indices[i], plan_.values.size()), what, i));
    }
    return Ok{};
  }

  // Each item the index of a value that is a T.
  template <class T>
  [[nodiscard]] Status check_items(std::span<const ValueIndex> items, const char* kind) const {
    BP_TRY(check_values("item", items));
    for (size_t i = 0; i < items.size(); ++i) {
      if (!std::holds_alternative<T>(plan_.values[static_cast<size_t>(items[i])])) {
        return invalid(numbered("item", i) + " is value " + std::to_string(items[i]) +
                       ", which is not " + kind);
      }
    }
    return Ok{};
  }

  [[nodiscard]] Status check_optional_items(std::span<const ValueIndex> items) const {
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i] == -1) continue;
      BP_TRY(in(check_index("value", items[i], plan_.values.size()), "item", i));
      const Value& value = plan_.values[static_cast<size_t>(items[i])];
      if (!std::holds_alternative<Tensor>(value) && !std::holds_alternative<None>(value)) {
        return invalid(numbered("item", i) + " is value " + std::to_string(items[i]) +
                       ", which is neither a tensor nor none");
      }
    }
    return Ok{};
  }

  [[nodiscard]] Status check_value(size_t index) const {
    const auto visit = [&]<class T>(const T& value) -> Status {
      if constexpr (std::is_same_v<T, Tensor>) {
        return check_tensor(value, index);
      } else if constexpr (std::is_same_v<T, IntList>) {
        return check_items<int64_t>(value.items, "an integer");
      } else if constexpr (std::is_same_v<T, TensorList>) {
        return check_items<Tensor>(value.items, "a tensor");
      } else if constexpr (std::is_same_v<T, OptionalTensorList>) {
        return check_optional_items(value.items);
      } else {
        return Ok{};
      }
    };
    return std::visit(visit, plan_.values[index]);
  }

  [[nodiscard]] Status check_tensor(const Tensor& tensor, size_t index) const {
    BP_TRY(check(tensor.layout));
    const std::optional<int64_t> nbytes = checked_nbytes(tensor.layout);
    if (!nbytes && !may_be_huge(tensor, index))
      return invalid("its sizes multiply to over 2^63 bytes");
    const auto size = static_cast<uint64_t>(nbytes.value_or(0));
    if (tensor.allocation) {
      // Of unbounded tensors the sizes are no promise.
      const bool unbounded = tensor.dynamism == ShapeDynamism::unbounded;
      BP_TRY(check_allocation(*tensor.allocation, unbounded ? 0 : size));
    }
    if (tensor.external) {
      return tensor.fqn.empty() ? Status(invalid("is external and has no name")) : Status(Ok{});
    }
    if (tensor.data_index == 0) return Ok{};
    return tensor.allocation ? check_data("initial state", program_.mutable_data, tensor, size)
                             : check_data("constant", program_.constants, tensor, size);
  }

  // Bounds of what the caller gives, and no bounds, may be any number.
  [[nodiscard]] bool may_be_huge(const Tensor& tensor, size_t index) const {
    if (tensor.data_index != 0 || tensor.dynamism == ShapeDynamism::fixed) return false;
    const auto& inputs = plan_.inputs;
    return tensor.dynamism == ShapeDynamism::unbounded ||
           std::find(inputs.begin(), inputs.end(), static_cast<ValueIndex>(index)) != inputs.end();
  }

  [[nodiscard]] Status check_allocation(const Allocation& at, uint64_t size) const {
    const auto& buffers = plan_.non_const_buffer_sizes;
    if (at.memory_id == 0) return invalid("memory_id is 0, ids count from 1");
    BP_TRY(check_index("planned buffer", at.memory_id, buffers.size()));
    const uint64_t capacity = buffers[at.memory_id];
    if (at.offset <= capacity && size <= capacity - at.offset) return Ok{};
    return invalid(std::to_string(size) + " bytes at " + std::to_string(at.offset) +
                   " of planned buffer " + std::to_string(at.memory_id) + ", which has " +
                   std::to_string(capacity));
  }

  [[nodiscard]] static Status check_data(const char* what, const std::vector<Bytes>& list,
                                         const Tensor& tensor, uint64_t size) {
    BP_TRY(check_index(what, tensor.data_index, list.size()));
    const size_t has = list[tensor.data_index].size();
    if (has >= size) return Ok{};
    return invalid(numbered(what, tensor.data_index) + " has " + std::to_string(has) +
                   " bytes, the tensor " + std::to_string(size));
  }

  [[nodiscard]] Status check_chain(const Chain& chain) const {
    const size_t count = chain.instructions.size();
    for (size_t i = 0; i < count; ++i) {
      const auto visit = [&](const auto& call) { return check_call(call, count); };
      BP_TRY(in(std::visit(visit, chain.instructions[i]), "instruction", i));
    }
    if (chain.stack_traces.empty() || chain.stack_traces.size() == count) return Ok{};
    return invalid(std::to_string(chain.stack_traces.size()) + " stack traces for " +
                   std::to_string(count) + " instructions");
  }

  [[nodiscard]] Status check_call(const KernelCall& call, size_t) const {
    BP_TRY(check_index("operator", call.op, plan_.operators.size()));
    return check_values("argument", call.args);
  }
  [[nodiscard]] Status check_call(const DelegateCall& call, size_t) const {
    BP_TRY(check_index("delegate", call.delegate, plan_.delegates.size()));
    return check_values("argument", call.args);
  }
  [[nodiscard]] Status check_call(const MoveCall& call, size_t) const {
    BP_TRY(check_index("value", call.from, plan_.values.size()));
    return check_index("value", call.to, plan_.values.size());
  }
  [[nodiscard]] Status check_call(const JumpFalseCall& call, size_t count) const {
    BP_TRY(check_index("value", call.condition, plan_.values.size()));
    return check_index("destination", call.destination, count + 1);
  }
  [[nodiscard]] Status check_call(const FreeCall& call, size_t) const {
    return check_index("value", call.value, plan_.values.size());
  }

  [[nodiscard]] Status check_buffers() const {
    std::vector<bool> seen(plan_.non_const_buffer_sizes.size());
    for (const BufferDevice& buffer : plan_.non_const_buffer_device) {
      BP_TRY(check_index("buffer device: planned buffer", buffer.buffer, seen.size()));
      if (buffer.buffer == 0) return invalid("buffer device: planned buffer 0 is reserved");
      if (seen[static_cast<size_t>(buffer.buffer)]) {
        return invalid(numbered("planned buffer", static_cast<size_t>(buffer.buffer)) +
                       " has two devices");
      }
      seen[static_cast<size_t>(buffer.buffer)] = true;
    }
    for (const uint64_t size : plan_.non_const_buffer_sizes) {
      if (size > INT64_MAX) return invalid("a planned buffer of over 2^63 bytes");
    }
    return Ok{};
  }

  const Program& program_;
  const Plan& plan_;
};

Status check_placeholder(const char* what, const std::vector<Bytes>& list) {
  if (list.empty() || list.front().empty()) return Ok{};
  return invalid(std::string(what) + " 0 is a placeholder and must have no bytes");
}

}  // namespace

Status check(const Program& program) {
  if (program.version != 0) {
    return Error{Code::incompatible,
                 "version is " + std::to_string(program.version) + ", only 0 is known here"};
  }
  std::vector<std::string_view> names;
  for (const Plan& plan : program.plans) {
    names.push_back(plan.name);
    if (Status status = PlanChecker(program, plan).run(); !status.ok()) {
      return std::move(status).error().in("method " + quoted(plan.name));
    }
  }
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) return invalid("method " + quoted(*twice) + " is there twice");
  if (!names.empty() && names.front().empty()) return invalid("a method has no name");
  BP_TRY(check_placeholder("constant", program.constants));
  BP_TRY(check_placeholder("initial state", program.mutable_data));
  return check(std::span<const NamedData>(program.named_data));
}

const Plan* find_plan(const Program& program, std::string_view name) {
  const auto found = std::find_if(program.plans.begin(), program.plans.end(),
                                  [&](const Plan& plan) { return plan.name == name; });
  return found == program.plans.end() ? nullptr : &*found;
}

}  // namespace backplane::pte
