#include "lower/plan_builder.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>

namespace backplane::lower {
namespace {

// "model.py:120 in forward" as file, line and the rest.
pte::Frame frame_of(const Node& node) {
  pte::Frame frame;
  frame.name = node.name;
  frame.context = node.origin.module_path;
  std::string_view source = node.origin.source;
  source = source.substr(0, source.find(" in "));
  const size_t colon = source.rfind(':');
  if (colon == std::string_view::npos) {
    frame.file = source;
  } else {
    frame.file = source.substr(0, colon);
    std::from_chars(source.data() + colon + 1, source.data() + source.size(), frame.line);
  }
  return frame;
}

constexpr uint32_t kArenaBuffer = 1;
constexpr uint32_t kStateBuffer = 2;

uint64_t aligned(uint64_t bytes) {
  return (bytes + 63) / 64 * 64;
}

uint64_t planned_bytes(const pte::Tensor& tensor) {
  return static_cast<uint64_t>(checked_nbytes(tensor.layout).value_or(0));
}

}  // namespace

pte::Tensor tensor_of(SymbolTable& symbols, const TensorType& type) {
  pte::Tensor tensor;
  tensor.layout.dtype = type.dtype;
  tensor.layout.dim_order.resize(type.sizes.size());
  std::iota(tensor.layout.dim_order.begin(), tensor.layout.dim_order.end(), uint8_t{0});
  for (const SymInt size : type.sizes) {
    if (size.is_constant()) {
      tensor.layout.sizes.push_back(static_cast<int32_t>(size.constant()));
      continue;
    }
    const auto bound = symbols.upper_bound(size);
    if (bound && *bound <= std::numeric_limits<int32_t>::max()) {
      tensor.layout.sizes.push_back(static_cast<int32_t>(std::max<int64_t>(*bound, 0)));
      if (tensor.dynamism == pte::ShapeDynamism::fixed)
        tensor.dynamism = pte::ShapeDynamism::bounded;
    } else {
      const int64_t first = std::clamp<int64_t>(symbols.hint(size).value_or(0), 0, 1 << 20);
      tensor.layout.sizes.push_back(static_cast<int32_t>(first));
      tensor.dynamism = pte::ShapeDynamism::unbounded;
    }
  }
  // Bounds that are each fine can be too much together.
  if (!checked_nbytes(tensor.layout)) tensor.dynamism = pte::ShapeDynamism::unbounded;
  return tensor;
}

PlanBuilder::PlanBuilder(std::string name) {
  plan_.name = std::move(name);
  plan_.chains.emplace_back();
}

ValueIndex PlanBuilder::add(pte::Value value) {
  plan_.values.push_back(std::move(value));
  const auto index = static_cast<ValueIndex>(plan_.values.size()) - 1;
  lives_.push_back({index});
  return index;
}

ValueIndex PlanBuilder::none() {
  if (none_ < 0) none_ = add(pte::None{});
  return none_;
}

ValueIndex PlanBuilder::integer(int64_t value) {
  const auto [at, added] = integers_.try_emplace(value, 0);
  if (added) at->second = add(value);
  return at->second;
}

ValueIndex PlanBuilder::floating(double value) {
  const auto [at, added] = floats_.try_emplace(std::bit_cast<uint64_t>(value), 0);
  if (added) at->second = add(value);
  return at->second;
}

ValueIndex PlanBuilder::boolean(bool value) {
  ValueIndex& index = booleans_[value ? 1 : 0];
  if (index < 0) index = add(value);
  return index;
}

ValueIndex PlanBuilder::string(std::string_view value) {
  const auto [at, added] = strings_.try_emplace(std::string(value), 0);
  if (added) at->second = add(std::string(value));
  return at->second;
}

ValueIndex PlanBuilder::int_list(std::vector<ValueIndex> items) {
  const auto [at, added] = int_lists_.try_emplace(items, 0);
  if (added) at->second = add(pte::IntList{std::move(items)});
  return at->second;
}

ValueIndex PlanBuilder::tensor_list(std::vector<ValueIndex> items) {
  const auto [at, added] = tensor_lists_.try_emplace(items, 0);
  if (added) at->second = add(pte::TensorList{std::move(items)});
  return at->second;
}

ValueIndex PlanBuilder::add_planned(pte::Tensor tensor) {
  const bool unbounded = tensor.dynamism == pte::ShapeDynamism::unbounded;
  const ValueIndex index = add(std::move(tensor));
  lives_.back().planned = !unbounded;
  return index;
}

ValueIndex PlanBuilder::add_alias(pte::Tensor tensor, ValueIndex base) {
  const ValueIndex index = add(std::move(tensor));
  lives_.back().root = root_of(base);
  return index;
}

ValueIndex PlanBuilder::add_state(pte::Tensor tensor) {
  const ValueIndex index = add(std::move(tensor));
  lives_.back().state = true;
  return index;
}

ValueIndex PlanBuilder::root_of(ValueIndex index) const {
  return lives_[static_cast<size_t>(index)].root;
}

void PlanBuilder::touch(ValueIndex index, int32_t at) {
  const pte::Value& value = plan_.values[static_cast<size_t>(index)];
  if (const auto* list = std::get_if<pte::TensorList>(&value)) {
    for (const ValueIndex item : list->items) touch(item, at);
  } else if (const auto* holes = std::get_if<pte::OptionalTensorList>(&value)) {
    for (const ValueIndex item : holes->items) {
      if (item >= 0) touch(item, at);
    }
  } else {
    Life& life = lives_[static_cast<size_t>(root_of(index))];
    if (life.first < 0) life.first = at;
    life.last = std::max(life.last, at);
  }
}

int32_t PlanBuilder::emit(pte::Instruction instruction, const std::vector<ValueIndex>& touched) {
  const int32_t at = next();
  for (const ValueIndex index : touched) touch(index, at);
  plan_.chains[0].instructions.push_back(std::move(instruction));
  pte::StackTrace trace;
  if (origin_ != nullptr) trace.push_back(frame_of(*origin_));
  plan_.chains[0].stack_traces.push_back(std::move(trace));
  return at;
}

int32_t PlanBuilder::kernel(std::string_view op, std::vector<ValueIndex> args) {
  const auto [at, added] =
      operators_.try_emplace(std::string(op), static_cast<int32_t>(plan_.operators.size()));
  if (added) {
    const size_t dot = op.rfind('.');
    const bool overload = dot != std::string_view::npos;
    plan_.operators.push_back(
        {std::string(op.substr(0, dot)), std::string(overload ? op.substr(dot + 1) : "")});
  }
  return emit(pte::KernelCall{at->second, args}, args);
}

int32_t PlanBuilder::delegate(pte::Delegate delegate, std::vector<ValueIndex> args) {
  plan_.delegates.push_back(std::move(delegate));
  return emit(pte::DelegateCall{static_cast<int32_t>(plan_.delegates.size()) - 1, args}, args);
}

int32_t PlanBuilder::move(ValueIndex from, ValueIndex to) {
  return emit(pte::MoveCall{from, to}, {from, to});
}

int32_t PlanBuilder::jump_if_false(ValueIndex condition) {
  return emit(pte::JumpFalseCall{condition, 0}, {condition});
}

void PlanBuilder::land(int32_t jump) {
  jump_to(jump, next());
}

void PlanBuilder::jump_to(int32_t jump, int32_t destination) {
  std::get<pte::JumpFalseCall>(plan_.chains[0].instructions[static_cast<size_t>(jump)])
      .destination = destination;
}

void PlanBuilder::end_loop(int32_t first) {
  loops_.push_back({first, next() - 1});
}

void PlanBuilder::share(ValueIndex output, ValueIndex input, int32_t at) {
  shares_.push_back({root_of(output), root_of(input), at});
}

bool PlanBuilder::is_input(ValueIndex index) const {
  return std::find(plan_.inputs.begin(), plan_.inputs.end(), index) != plan_.inputs.end();
}

void PlanBuilder::add_output(ValueIndex index) {
  plan_.outputs.push_back(index);
  keep(index);
}

// Outputs that take over the memory of an input that dies there. Returns for each value whose
// memory it has.
std::vector<ValueIndex> PlanBuilder::shared_roots() {
  std::vector<ValueIndex> owner(lives_.size());
  std::iota(owner.begin(), owner.end(), 0);
  const auto find = [&](ValueIndex v) {
    while (owner[static_cast<size_t>(v)] != v) v = owner[static_cast<size_t>(v)];
    return v;
  };
  for (const Share& share : shares_) {
    Life& out = lives_[static_cast<size_t>(share.output)];
    const ValueIndex root = find(share.input);
    Life& in = lives_[static_cast<size_t>(root)];
    const bool in_loop = std::any_of(loops_.begin(), loops_.end(), [&](const Loop& loop) {
      return loop.first <= share.at && share.at <= loop.last && in.first < loop.first;
    });
    if (!out.planned || !in.planned || in_loop || in.last != share.at || out.first != share.at)
      continue;
    in.last = out.last;
    owner[static_cast<size_t>(share.output)] = root;
  }
  for (size_t v = 0; v < owner.size(); ++v) owner[v] = find(static_cast<ValueIndex>(v));
  return owner;
}

pte::Plan PlanBuilder::finish(MemoryPlan& memory) {
  for (Life& life : lives_) {
    for (const Loop& loop : loops_) {  // inner loops come first: they end first
      if (life.first < loop.first && life.last >= loop.first)
        life.last = std::max(life.last, loop.last);
    }
  }
  const std::vector<ValueIndex> owner = shared_roots();
  std::vector<Lifetime> lifetimes;
  std::vector<ValueIndex> planned;
  uint64_t naive = 0;
  for (size_t v = 0; v < lives_.size(); ++v) {
    if (!lives_[v].planned || lives_[v].first < 0) continue;
    const uint64_t bytes = planned_bytes(std::get<pte::Tensor>(plan_.values[v]));
    naive += aligned(bytes);
    if (owner[v] != static_cast<ValueIndex>(v)) continue;
    lifetimes.push_back({bytes, lives_[v].first, lives_[v].last});
    planned.push_back(static_cast<ValueIndex>(v));
  }
  memory = plan_memory(lifetimes);
  memory.naive_bytes = naive;
  std::vector<uint64_t> offset_of(lives_.size(), 0);
  for (size_t i = 0; i < planned.size(); ++i)
    offset_of[static_cast<size_t>(planned[i])] = memory.offsets[i];
  uint64_t state_bytes = 0;
  for (size_t v = 0; v < lives_.size(); ++v) {
    auto* tensor = std::get_if<pte::Tensor>(&plan_.values[v]);
    if (tensor == nullptr) continue;
    if (lives_[v].state) {
      tensor->allocation = pte::Allocation{kStateBuffer, state_bytes};
      state_bytes += aligned(planned_bytes(*tensor));
    } else if (lives_[v].planned) {
      // A value that no instruction names gets offset 0: nothing reads it.
      tensor->allocation = pte::Allocation{kArenaBuffer, offset_of[static_cast<size_t>(owner[v])]};
      memory.arena_bytes =
          std::max(memory.arena_bytes, tensor->allocation->offset + planned_bytes(*tensor));
    }
  }
  plan_.non_const_buffer_sizes = {0, memory.arena_bytes};
  if (state_bytes > 0) plan_.non_const_buffer_sizes.push_back(state_bytes);
  return std::move(plan_);
}

}  // namespace backplane::lower
