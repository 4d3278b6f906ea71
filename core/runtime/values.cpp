#include "runtime/values.hpp"

#include "common/abi_dtype.hpp"

namespace backplane::runtime {
namespace {

// Room for all lists' elements, so that they don't move while they are filled.
template <class List>
size_t count_items(const std::vector<pte::Value>& values) {
  size_t count = 0;
  for (const pte::Value& value : values) {
    if (const auto* list = std::get_if<List>(&value)) count += list->items.size();
  }
  return count;
}

}  // namespace

Values::Values(const MethodPlan& plan) : plan_(plan) {
  make_tensors();
  make_boxes();
  size_t arguments = 0;
  for (const Step& step : plan.steps) arguments += step.args.size();
  arguments_.reserve(arguments);
  pointers_.reserve(arguments);
  calls_.resize(plan.steps.size());
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const bool called =
        plan.steps[i].kind == Step::Kind::kernel || plan.steps[i].kind == Step::Kind::prim;
    if (called) make_call(plan.steps[i], calls_[i]);
  }
}

void Values::make_tensors() {
  size_t ranks = 0;
  for (const TensorPlan& tensor : plan_.tensors) ranks += tensor.rank();
  shapes_.assign(2 * ranks, 0);
  tensors_ = std::vector<TensorState>(plan_.tensors.size());
  int64_t* next = shapes_.data();
  for (size_t t = 0; t < tensors_.size(); ++t) {
    const TensorPlan& plan = plan_.tensors[t];
    TensorState& tensor = tensors_[t];
    tensor.plan = &plan;
    tensor.view.device = {BP_DEV_CPU, 0};
    tensor.view.ndim = static_cast<int32_t>(plan.rank());
    tensor.view.dtype = abi_dtype(plan.dtype());
    tensor.view.shape = next;
    tensor.view.strides = next + plan.rank();
    next += 2 * plan.rank();
    const bool unbounded =
        plan.file->dynamism == pte::ShapeDynamism::unbounded || plan.bound_bytes == UINT64_MAX;
    for (size_t d = 0; d < plan.rank(); ++d) {
      tensor.view.shape[d] = unbounded ? 0 : plan.file->layout.sizes[d];
    }
    set_strides(plan.file->layout.dim_order, tensor.view);
  }
}

bp_boxed_t Values::box(const pte::Value& value, size_t index) {
  bp_boxed_t box{};
  const auto list = [&](uint32_t kind, const auto& items, auto* first) {
    box.kind = kind;
    box.count = static_cast<uint32_t>(items.size());
    return first;
  };
  if (const auto* number = std::get_if<int64_t>(&value)) return boxed(*number);
  if (const auto* number = std::get_if<double>(&value)) return boxed(*number);
  if (const auto* truth = std::get_if<bool>(&value)) return boxed(*truth);
  if (std::holds_alternative<pte::Tensor>(value)) {
    return boxed(&tensors_[static_cast<size_t>(plan_.tensor_of[index])].view);
  }
  if (const auto* text = std::get_if<std::string>(&value)) {
    box.v.text = list(BP_BOX_STRING, *text, text->data());
  } else if (const auto* doubles = std::get_if<pte::DoubleList>(&value)) {
    box.v.doubles = list(BP_BOX_DOUBLES, doubles->items, doubles->items.data());
  } else if (const auto* bools = std::get_if<pte::BoolList>(&value)) {
    box.v.bools = list(BP_BOX_BOOLS, bools->items, bools_.data() + bools_.size());
    bools_.insert(bools_.end(), bools->items.begin(), bools->items.end());
  } else if (const auto* ints = std::get_if<pte::IntList>(&value)) {
    box.v.ints = list(BP_BOX_INTS, ints->items, ints_.data() + ints_.size());
    bool can_change = false;
    const size_t first = ints_.size();
    for (const pte::ValueIndex item : ints->items) {
      can_change = can_change || plan_.is_written[static_cast<size_t>(item)] != 0;
      ints_.push_back(std::get<int64_t>(plan_.file->values[static_cast<size_t>(item)]));
    }
    if (can_change) {
      list_of_[index] = static_cast<int32_t>(lists_.size());
      lists_.push_back({ints, first});
    }
  } else if (const auto* all = std::get_if<pte::TensorList>(&value)) {
    box.v.tensors = list(BP_BOX_TENSORS, all->items, items_.data() + items_.size());
    for (const pte::ValueIndex item : all->items) items_.push_back(&tensor(item)->view);
  } else if (const auto* some = std::get_if<pte::OptionalTensorList>(&value)) {
    box.v.tensors = list(BP_BOX_TENSORS, some->items, items_.data() + items_.size());
    for (const pte::ValueIndex item : some->items) {
      TensorState* state = item < 0 ? nullptr : tensor(item);
      items_.push_back(state == nullptr ? nullptr : &state->view);
    }
  }
  return box;
}

void Values::make_boxes() {
  const auto& values = plan_.file->values;
  ints_.reserve(count_items<pte::IntList>(values));
  bools_.reserve(count_items<pte::BoolList>(values));
  items_.reserve(count_items<pte::TensorList>(values) +
                 count_items<pte::OptionalTensorList>(values));
  list_of_.assign(values.size(), -1);
  boxes_.reserve(values.size());
  for (size_t v = 0; v < values.size(); ++v) boxes_.push_back(box(values[v], v));
}

void Values::make_call(const Step& step, Call& call) {
  const bool is_kernel = step.kind == Step::Kind::kernel;
  call.arguments.first = is_kernel ? arguments_.size() : pointers_.size();
  call.arguments.count = step.args.size();
  call.fixups.first = fixups_.size();
  call.lists.first = called_lists_.size();
  for (const pte::ValueIndex v : step.args) {
    bp_boxed_t* value = v < 0 ? &none_ : &at(v);
    if (v >= 0 && list_of_[static_cast<size_t>(v)] >= 0) {
      called_lists_.push_back(list_of_[static_cast<size_t>(v)]);
    }
    if (!is_kernel) {
      pointers_.push_back(value);
      continue;
    }
    const bool can_change = v >= 0 && plan_.is_written[static_cast<size_t>(v)] != 0 &&
                            plan_.tensor_of[static_cast<size_t>(v)] < 0;
    if (can_change) fixups_.push_back({arguments_.size(), v});
    arguments_.push_back(*value);
  }
  call.fixups.count = fixups_.size() - call.fixups.first;
  call.lists.count = called_lists_.size() - call.lists.first;
}

Status Values::refresh(size_t step) {
  const Call& call = calls_[step];
  for (size_t i = 0; i < call.lists.count; ++i) {
    const List& list = lists_[static_cast<size_t>(called_lists_[call.lists.first + i])];
    for (size_t k = 0; k < list.file->items.size(); ++k) {
      const bp_boxed_t& item = at(list.file->items[k]);
      if (!is_integer(item)) {
        return Error{Code::invalid_argument, "element " + std::to_string(k) + " of a list is " +
                                                 std::string(kind_name(item.kind)) +
                                                 ", not an integer"};
      }
      ints_[list.first + k] = item.v.i;
    }
  }
  for (size_t i = 0; i < call.fixups.count; ++i) {
    const Fixup& fixup = fixups_[call.fixups.first + i];
    arguments_[fixup.slot] = at(fixup.value);
  }
  return Ok{};
}

std::span<const bp_boxed_t> Values::arguments(size_t step) const {
  const Range& range = calls_[step].arguments;
  return std::span(arguments_).subspan(range.first, range.count);
}

std::span<bp_boxed_t* const> Values::pointers(size_t step) const {
  const Range& range = calls_[step].arguments;
  return std::span(pointers_).subspan(range.first, range.count);
}

}  // namespace backplane::runtime
