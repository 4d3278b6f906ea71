#include "runtime/method_plan.hpp"

#include <algorithm>
#include <limits>

namespace backplane::runtime {
namespace {

Error invalid(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

// Names by which messages call a method's values.
std::vector<std::string> labels(const MethodPlan& plan) {
  std::vector<std::string> names(plan.file->values.size());
  const auto name = [&](const char* what, const auto& values, const auto& slots) {
    for (size_t i = values.size(); i-- > 0;) {
      std::string& label = names[static_cast<size_t>(values[i])];
      label = what + std::to_string(i);
      if (!slots[i].name.empty()) label += " ('" + slots[i].name + "')";
    }
  };
  name("output ", plan.file->outputs, plan.signature.outputs);
  name("input ", plan.file->inputs, plan.signature.inputs);
  for (size_t v = 0; v < names.size(); ++v) {
    if (!names[v].empty()) continue;
    const auto* tensor = std::get_if<pte::Tensor>(&plan.file->values[v]);
    const bool named = tensor != nullptr && !tensor->fqn.empty();
    names[v] = named ? "'" + tensor->fqn + "'" : "value " + std::to_string(v);
  }
  return names;
}

class TensorPlanner {
 public:
  TensorPlanner(MethodPlan& plan, PlanContext& context) : plan_(plan), context_(context) {}

  Status run() {
    const std::vector<std::string> names = labels(plan_);
    plan_.tensor_of.assign(plan_.file->values.size(), -1);
    for (size_t v = 0; v < plan_.file->values.size(); ++v) {
      const auto* tensor = std::get_if<pte::Tensor>(&plan_.file->values[v]);
      if (tensor == nullptr) continue;
      plan_.tensor_of[v] = static_cast<int32_t>(plan_.tensors.size());
      TensorPlan& planned = plan_.tensors.emplace_back();
      planned.file = tensor;
      planned.value = static_cast<pte::ValueIndex>(v);
      planned.label = names[v];
      set_bounds(planned);
      BP_TRY(set_home(planned));
    }
    join_states();
    for (const pte::ValueIndex v : plan_.file->inputs) {
      const TensorPlan* tensor = plan_.tensor(v);
      if (tensor != nullptr && tensor->home == Home::constant) {
        return invalid(tensor->label + " is a constant");
      }
    }
    return Ok{};
  }

 private:
  // Planned memory that is a state's, and where in it other values of the plan may look.
  struct Region {
    uint32_t buffer;
    uint64_t begin;
    uint64_t end;
    uint32_t state;
  };

  static void set_bounds(TensorPlan& planned) {
    const bool unbounded = planned.file->dynamism == pte::ShapeDynamism::unbounded;
    for (const int32_t size : planned.file->layout.sizes) {
      planned.bounds.push_back(unbounded ? std::numeric_limits<int64_t>::max() : size);
    }
    const auto bytes = checked_nbytes(planned.file->layout);
    planned.bound_bytes =
        unbounded || !bytes ? std::numeric_limits<uint64_t>::max() : static_cast<uint64_t>(*bytes);
  }

  Status set_home(TensorPlan& planned) {
    const pte::Tensor& tensor = *planned.file;
    const bool has_data = tensor.external || tensor.data_index > 0;
    if (tensor.allocation && (has_data || !tensor.fqn.empty())) return set_state(planned);
    if (has_data) return set_constant(planned);
    const auto& inputs = plan_.file->inputs;
    if (tensor.allocation) {
      planned.home = Home::arena;
      planned.index = tensor.allocation->memory_id;
      planned.offset = tensor.allocation->offset;
    } else if (std::find(inputs.begin(), inputs.end(), planned.value) != inputs.end()) {
      planned.home = Home::caller;
    }
    return Ok{};
  }

  // The bytes of an external tensor; empty, and noted, if there are none.
  Result<Bytes> datum(TensorPlan& planned) {
    const pte::Tensor& tensor = *planned.file;
    const NamedData* found = context_.data.find(tensor.fqn);
    if (found == nullptr) {
      context_.missing.push_back("datum " + context_.data.missing(tensor.fqn));
      return Bytes();
    }
    if (found->data.size() < planned.bound_bytes ||
        (found->layout && *found->layout != tensor.layout)) {
      return Error{Code::incompatible, "datum '" + tensor.fqn + "' of " + context_.data.path() +
                                           " has another type or other sizes than the program"};
    }
    BP_ASSIGN_OR_RETURN(const bp_blob_t blob, context_.data.get(tensor.fqn));
    if (!tensor.allocation) {
      planned.id_lo = blob.id_lo;
      planned.id_hi = blob.id_hi;
    }
    return found->data.first(static_cast<size_t>(planned.bound_bytes));
  }

  Status set_constant(TensorPlan& planned) {
    planned.home = Home::constant;
    const pte::Tensor& tensor = *planned.file;
    if (planned.bound_bytes == std::numeric_limits<uint64_t>::max()) {
      return invalid(planned.label + " is a constant without bounds");
    }
    Bytes bytes;
    if (tensor.external) {
      BP_ASSIGN_OR_RETURN(bytes, datum(planned));
    } else {
      bytes = context_.program.constants[tensor.data_index];
    }
    planned.constant = bytes.data();
    // Writers of other programs may pack constants at any address.
    if (reinterpret_cast<uintptr_t>(bytes.data()) % std::min<size_t>(size_of(planned.dtype()), 8)) {
      Block copy;
      if (!copy.allocate(bytes.size())) {
        return Error{Code::out_of_memory, planned.label + " does not fit into host memory"};
      }
      std::copy(bytes.begin(), bytes.end(), copy.data());
      planned.constant = copy.data();
      context_.copies.push_back(std::move(copy));
    }
    return Ok{};
  }

  Status set_state(TensorPlan& planned) {
    const pte::Tensor& tensor = *planned.file;
    if (planned.bound_bytes == std::numeric_limits<uint64_t>::max()) {
      return invalid(planned.label + " is a buffer without bounds");
    }
    planned.home = Home::state;
    StatePlan state;
    state.key =
        tensor.fqn.empty() ? plan_.file->name + "#" + std::to_string(planned.value) : tensor.fqn;
    state.size_bytes = planned.bound_bytes;
    if (tensor.external) {
      BP_ASSIGN_OR_RETURN(state.initial, datum(planned));
    } else if (tensor.data_index > 0) {
      state.initial = context_.program.mutable_data[tensor.data_index].first(
          static_cast<size_t>(state.size_bytes));
    }
    auto& states = context_.states;
    const auto same = std::find_if(states.begin(), states.end(),
                                   [&](const StatePlan& s) { return s.key == state.key; });
    planned.index = static_cast<uint32_t>(same - states.begin());
    if (same == states.end()) {
      states.push_back(std::move(state));
    } else if (same->size_bytes != state.size_bytes) {
      return invalid("buffer '" + state.key + "' has " + std::to_string(state.size_bytes) +
                     " bytes here and " + std::to_string(same->size_bytes) + " in another method");
    } else if (same->initial.empty()) {
      same->initial = state.initial;
    }
    const pte::Allocation& at = *tensor.allocation;
    regions_.push_back({at.memory_id, at.offset, at.offset + planned.bound_bytes, planned.index});
    return Ok{};
  }

  // A state lives as long as the session, so what is planned inside its memory is a view of it.
  void join_states() {
    if (regions_.empty()) return;
    for (TensorPlan& planned : plan_.tensors) {
      if (planned.home != Home::arena) continue;
      for (const Region& region : regions_) {
        const bool inside =
            planned.index == region.buffer && planned.offset >= region.begin &&
            planned.bound_bytes <= region.end - region.begin &&
            planned.offset - region.begin <= region.end - region.begin - planned.bound_bytes;
        if (!inside || planned.bound_bytes == 0) continue;
        planned.home = Home::state;
        planned.index = region.state;
        planned.offset -= region.begin;
        break;
      }
    }
  }

  MethodPlan& plan_;
  PlanContext& context_;
  std::vector<Region> regions_;
};

}  // namespace

Status plan_tensors(MethodPlan& plan, PlanContext& context) {
  return TensorPlanner(plan, context).run();
}

Result<MethodPlan> plan_method(const pte::Plan& file, const Signature& signature,
                               PlanContext& context) {
  MethodPlan plan;
  plan.file = &file;
  if (file.chains.size() > 1) {
    return Error{Code::unsupported, "has " + std::to_string(file.chains.size()) +
                                        " chains of instructions, one is supported"};
  }
  if (!file.chains.empty()) {
    plan.instructions = file.chains[0].instructions;
    plan.traces = file.chains[0].stack_traces;
  }
  const auto found = std::find_if(signature.methods.begin(), signature.methods.end(),
                                  [&](const MethodSignature& m) { return m.name == file.name; });
  if (found != signature.methods.end()) plan.signature = *found;
  BP_TRY(check_signature(plan));
  BP_TRY(plan_tensors(plan, context));
  BP_TRY(plan_steps(plan));
  plan_slots(plan, found != signature.methods.end());
  return plan;
}

std::string full_name(const pte::Operator& op) {
  return op.overload.empty() ? op.name : op.name + "." + op.overload;
}

std::string MethodPlan::describe(size_t step) const {
  std::string text = "instruction " + std::to_string(step);
  const pte::Instruction& instruction = instructions[step];
  if (const auto* call = std::get_if<pte::KernelCall>(&instruction)) {
    text += ", " + full_name(file->operators[static_cast<size_t>(call->op)]);
  } else if (const auto* delegate = std::get_if<pte::DelegateCall>(&instruction)) {
    text += ", delegate " + file->delegates[static_cast<size_t>(delegate->delegate)].id;
  }
  if (step >= traces.size() || traces[step].empty()) return text;
  const pte::Frame& frame = traces[step].back();
  if (!frame.name.empty()) text += " '" + frame.name + "'";
  std::string place = frame.context;
  if (!frame.file.empty()) {
    place += (place.empty() ? "" : ", ") + frame.file;
    if (frame.line > 0) place += ":" + std::to_string(frame.line);
  }
  return place.empty() ? text : text + " (" + place + ")";
}

}  // namespace backplane::runtime
