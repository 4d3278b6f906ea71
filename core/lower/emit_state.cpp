// State: what a method writes back at its end, what it writes in place, and what it gives out.
#include <backplane/ext/kernels.h>

#include <algorithm>

#include "lower/emitter.hpp"

namespace backplane::lower {
namespace {

const ValueRef* first_tensor(const Node& node) {
  return node.args.empty() ? nullptr : std::get_if<ValueRef>(&node.args[0].value);
}

// A tensor of that shape that lies nowhere yet.
pte::Tensor unplaced(const pte::Tensor& tensor) {
  pte::Tensor copy;
  copy.layout = tensor.layout;
  copy.dynamism = tensor.dynamism;
  return copy;
}

// For each value of a graph, where in the schedule it is read last, through views of it too.
std::vector<int32_t> last_reads(const Graph& graph, const GraphSchedule& schedule) {
  std::vector<int32_t> last(graph.values.size(), -1);
  const auto read = [&](ValueId id, int32_t at) {
    last[static_cast<size_t>(id)] = std::max(last[static_cast<size_t>(id)], at);
  };
  for (int32_t at = static_cast<int32_t>(schedule.order.size()) - 1; at >= 0; --at) {
    const int32_t item = schedule.order[static_cast<size_t>(at)];
    if (item < 0) {
      for (const ValueId id : schedule.delegates[static_cast<size_t>(-1 - item)].inputs)
        read(id, at);
      continue;
    }
    const Node& node = graph.nodes[static_cast<size_t>(item)];
    for (const NamedArgument& arg : node.args)
      for_each_value(arg.value, [&](ValueId id) { read(id, at); });
    const ValueRef* base = first_tensor(node);
    if (base == nullptr || !is_contiguous_view(node.op)) continue;
    for (const ValueId out : node.outputs) read(base->id, last[static_cast<size_t>(out)]);
  }
  return last;
}

}  // namespace

// The value in the root graph that an output writes: a buffer or an input.
ValueId Emitter::written_value(const Output& output) const {
  const Graph& root = in_.module.root();
  if (output.kind == Output::Kind::input_mutation) {
    for (const Input& input : root.inputs) {
      if (input.name == output.target) return input.value;
    }
    return kNone;
  }
  for (size_t v = 0; v < root.values.size(); ++v) {
    const int32_t constant = root.values[v].constant;
    if (constant != kNone &&
        in_.module.constants[static_cast<size_t>(constant)].fqn == output.target) {
      return static_cast<ValueId>(v);
    }
  }
  return kNone;
}

// A chain of in-place operators from a buffer's old value to its new one needs no second buffer:
// each result is given the buffer's own place, if nobody reads what it overwrites.
void Emitter::plan_state_writes() {
  if (!in_.kernel_flags) return;
  const Graph& root = in_.module.root();
  const GraphSchedule& schedule = in_.schedules[0];
  const std::vector<int32_t> last = last_reads(root, schedule);
  std::vector<int32_t> place(root.nodes.size(), -1);
  for (size_t at = 0; at < schedule.order.size(); ++at) {
    if (schedule.order[at] >= 0)
      place[static_cast<size_t>(schedule.order[at])] = static_cast<int32_t>(at);
  }
  std::vector<int32_t> given(root.values.size(), 0);
  for (const Output& output : root.outputs) {
    for_each_value(output.value, [&](ValueId id) { ++given[static_cast<size_t>(id)]; });
  }
  for (const Output& output : root.outputs) {
    const auto* result = std::get_if<ValueRef>(&output.value);
    if (output.kind == Output::Kind::user || result == nullptr) continue;
    const ValueId state = written_value(output);
    if (state == kNone || given[static_cast<size_t>(result->id)] != 1 ||
        given[static_cast<size_t>(state)] != 0)
      continue;
    std::vector<ValueId> chain;
    ValueId current = result->id;
    while (current != state) {
      const NodeId producer = root.value(current).producer;
      const ValueRef* before =
          producer == kNone ? nullptr : first_tensor(root.nodes[static_cast<size_t>(producer)]);
      const bool alone = current == result->id || given[static_cast<size_t>(current)] == 0;
      if (before == nullptr || !alone || place[static_cast<size_t>(producer)] < 0) break;
      const Node& node = root.nodes[static_cast<size_t>(producer)];
      const bool in_place =
          node.outputs.size() == 1 &&
          (in_.kernel_flags(runtime_operator(in_.ops, node)) & BP_KERNEL_IN_PLACE) != 0;
      if (!in_place ||
          last[static_cast<size_t>(before->id)] != place[static_cast<size_t>(producer)])
        break;
      if (root.value(before->id).type.sizes != root.value(current).type.sizes) break;
      chain.push_back(current);
      current = before->id;
    }
    if (current != state) continue;
    const ValueIndex index = index_of(0, state);
    for (const ValueId id : chain) bind(0, id, index);
  }
}

ValueIndex Emitter::clone(ValueIndex from, const TensorType& type) {
  const ValueIndex to = builder_.add_planned(tensor_of(in_.module.symbols, type));
  clone_into(from, to);
  return to;
}

void Emitter::clone_into(ValueIndex from, ValueIndex to) {
  if (std::holds_alternative<pte::Tensor>(builder_.value(to))) {
    builder_.kernel("aten::clone.out", {from, builder_.none(), to, to});
  } else {
    builder_.move(from, to);
  }
}

Status Emitter::outputs() {
  const Graph& root = in_.module.root();
  struct Write {
    ValueIndex from;
    ValueIndex to;
  };
  std::vector<Write> writes;  // of state; inputs are the caller's and never written
  written_.assign(root.inputs.size(), -1);
  for (const Output& output : root.outputs) {
    const auto* result = std::get_if<ValueRef>(&output.value);
    if (output.kind == Output::Kind::user || result == nullptr) continue;
    const ValueId target = written_value(output);
    if (target == kNone) {
      return Error{Code::invalid_argument,
                   "the program writes '" + output.target + "', which it does not have"};
    }
    const Write write{index_of(0, result->id), index_of(0, target)};
    if (output.kind == Output::Kind::input_mutation) {
      const auto input = std::find_if(root.inputs.begin(), root.inputs.end(),
                                      [&](const Input& i) { return i.value == target; });
      written_[static_cast<size_t>(input - root.inputs.begin())] = write.from;
      builder_.keep(write.from);
    } else if (write.from != write.to) {
      writes.push_back(write);
    }
  }
  const auto is_written = [&](ValueIndex index) {
    return std::any_of(writes.begin(), writes.end(),
                       [&](const Write& w) { return w.to == builder_.root_of(index); });
  };
  // Old values that are still wanted are copied before anything is overwritten.
  std::vector<ValueIndex> given;
  for (const Output& output : root.outputs) {
    if (output.kind != Output::Kind::user) continue;
    BP_ASSIGN_OR_RETURN(ValueIndex index, argument(0, output.value));
    const auto* ref = std::get_if<ValueRef>(&output.value);
    if (ref != nullptr && root.value(ref->id).kind == ValueKind::tensor && is_written(index)) {
      index = clone(index, root.value(ref->id).type);
    }
    given.push_back(index);
  }
  for (Write& write : writes) {
    if (!is_written(write.from)) continue;
    const auto& tensor = std::get<pte::Tensor>(builder_.value(write.from));
    const ValueIndex copy = builder_.add_planned(unplaced(tensor));
    clone_into(write.from, copy);
    write.from = copy;
  }
  for (const Write& write : writes) {
    builder_.kernel("aten::copy_", {write.to, write.from, builder_.boolean(false), write.to});
  }
  for (const ValueIndex index : given) builder_.add_output(index);
  return Ok{};
}

}  // namespace backplane::lower
