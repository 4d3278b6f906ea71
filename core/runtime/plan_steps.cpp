// Instructions as steps: which arguments are outputs, who writes what, where delegates' inputs end.
#include <algorithm>

#include "runtime/delegate_io.hpp"
#include "runtime/method_plan.hpp"

namespace backplane::runtime {
namespace {

using pte::ValueIndex;

class StepPlanner {
 public:
  explicit StepPlanner(MethodPlan& plan) : plan_(plan) {}

  Status run() {
    const auto& values = plan_.file->values;
    plan_.is_written.assign(values.size(), 0);
    is_made_.assign(values.size(), 0);
    for (size_t v = 0; v < values.size(); ++v) {
      const TensorPlan* tensor = plan_.tensor(static_cast<ValueIndex>(v));
      is_made_[v] =
          tensor == nullptr || tensor->home == Home::constant || tensor->home == Home::state;
    }
    for (const ValueIndex v : plan_.file->inputs) is_made_[static_cast<size_t>(v)] = 1;
    for (size_t i = 0; i < plan_.instructions.size(); ++i) {
      Step& step = plan_.steps.emplace_back();
      const auto visit = [&](const auto& call) { return plan(call, step); };
      if (Status status = std::visit(visit, plan_.instructions[i]); !status.ok()) {
        return std::move(status).error().in(plan_.describe(i));
      }
      BP_TRY(note_written(step, i));
    }
    return Ok{};
  }

 private:
  [[nodiscard]] const std::vector<ValueIndex>* items(ValueIndex v) const {
    const auto* list = std::get_if<pte::TensorList>(&plan_.file->values[static_cast<size_t>(v)]);
    return list == nullptr ? nullptr : &list->items;
  }

  Status note_written(const Step& step, size_t index) {
    for (const ValueIndex v : step.written) {
      const TensorPlan* tensor = plan_.tensor(v);
      if (tensor != nullptr && tensor->home == Home::constant) {
        return Error{Code::invalid_argument,
                     plan_.describe(index) + ": writes " + tensor->label + ", which is a constant"};
      }
      plan_.is_written[static_cast<size_t>(v)] = 1;
      is_made_[static_cast<size_t>(v)] = 1;
    }
    if (step.in_place_result >= 0) is_made_[static_cast<size_t>(step.in_place_result)] = 1;
    return Ok{};
  }

  Status plan(const pte::KernelCall& call, Step& step) {
    const pte::Operator& op = plan_.file->operators[static_cast<size_t>(call.op)];
    step.args = call.args;
    step.prim = find_prim_op(full_name(op));
    if (step.prim != nullptr) return plan_prim(step);
    step.kind = Step::Kind::kernel;
    if (step.args.empty()) return Error{Code::invalid_argument, "has no arguments"};
    const bool in_place = op.name.ends_with('_') && !op.overload.ends_with("out");
    if (in_place) {
      plan_in_place(step);
    } else {
      plan_outputs(step);
    }
    // Runs as aten::_to_copy.out, which has a memory format where this has a dim order; both say no
    // more than the output's own strides do.
    if (op.name == "dim_order_ops::_to_dim_order_copy" && step.args.size() == 4) step.args[2] = -1;
    return Ok{};
  }

  static Status wrong_count(const Step& step, const std::string& expected) {
    return Error{Code::invalid_argument, "has " + std::to_string(step.args.size()) +
                                             " arguments, " + expected + " are expected"};
  }

  Status plan_prim(Step& step) {
    const PrimOp& prim = *step.prim;
    step.kind = Step::Kind::prim;
    if (step.args.size() < static_cast<size_t>(prim.min_args)) {
      return wrong_count(step, "at least " + std::to_string(prim.min_args));
    }
    step.args.resize(static_cast<size_t>(prim.num_args), -1);
    if (prim.written < 0) return Ok{};
    const ValueIndex out = step.args[static_cast<size_t>(prim.written)];
    step.written.push_back(out);
    if (prim.is_view && plan_.tensor(out) != nullptr) rebind(out);
    return Ok{};
  }

  // The outputs come once more at the end: themselves, or several in a list.
  static void plan_outputs_of(Step& step, const std::vector<ValueIndex>* list) {
    const ValueIndex last = step.args.back();
    const size_t before = step.args.size() - 1;
    const bool again = before > 0 && step.args[before - 1] == last;
    const bool listed = list != nullptr && list->size() <= before && !list->empty() &&
                        std::equal(list->rbegin(), list->rend(), step.args.rbegin() + 1);
    if (again || listed) step.args.pop_back();
    if (list != nullptr) {
      step.written = *list;
    } else {
      step.written = {last};
    }
  }
  void plan_outputs(Step& step) { plan_outputs_of(step, items(step.args.back())); }

  // The result of an in-place operator is its first argument, whatever value the file gives it.
  void plan_in_place(Step& step) {
    const ValueIndex self = step.args.front();
    if (step.args.back() != self && step.args.size() > 1 &&
        plan_.tensor(step.args.back()) != nullptr &&
        is_made_[static_cast<size_t>(step.args.back())] == 0) {
      step.in_place_result = step.args.back();
      rebind(step.in_place_result);
      step.args.back() = self;
    } else if (step.args.back() != self || step.args.size() == 1) {
      step.args.push_back(self);
    }
    step.written = {self};
  }

  Status plan(const pte::DelegateCall& call, Step& step) {
    step.kind = Step::Kind::delegate;
    step.target = call.delegate;
    step.args = call.args;
    const pte::Delegate& delegate = plan_.file->delegates[static_cast<size_t>(call.delegate)];
    const auto spec =
        std::find_if(delegate.compile_specs.begin(), delegate.compile_specs.end(),
                     [](const pte::CompileSpec& s) { return s.key == kDelegateIoKey; });
    if (spec == delegate.compile_specs.end()) {
      // Others don't write it: outputs are then the tensors that nothing has made so far.
      const auto first = std::find_if(step.args.begin(), step.args.end(), [&](ValueIndex v) {
        return is_made_[static_cast<size_t>(v)] == 0;
      });
      step.num_inputs = static_cast<uint32_t>(first - step.args.begin());
    } else {
      const auto io = decode_delegate_io(spec->value);
      if (!io) return Error{Code::invalid_argument, "its compile spec 'bp.io' is malformed"};
      const uint64_t count = uint64_t{io->inputs} + io->outputs;
      if (count != step.args.size()) return wrong_count(step, std::to_string(count));
      step.num_inputs = io->inputs;
    }
    step.written.assign(step.args.begin() + step.num_inputs, step.args.end());
    return check_scalars(step);
  }

  // What is not a tensor crosses as a number; other kinds have no way across.
  Status check_scalars(const Step& step) const {
    for (size_t i = 0; i < step.args.size(); ++i) {
      const pte::Value& value = plan_.file->values[static_cast<size_t>(step.args[i])];
      const bool crosses =
          std::holds_alternative<pte::Tensor>(value) || std::holds_alternative<int64_t>(value) ||
          std::holds_alternative<double>(value) || std::holds_alternative<bool>(value);
      if (!crosses) {
        return Error{Code::unsupported, "argument " + std::to_string(i) +
                                            " of a delegate is neither a tensor nor a number"};
      }
    }
    return Ok{};
  }

  Status plan(const pte::MoveCall& call, Step& step) {
    step.kind = Step::Kind::move;
    step.args = {call.from, call.to};
    step.written = {call.to};
    const TensorPlan* from = plan_.tensor(call.from);
    const TensorPlan* to = plan_.tensor(call.to);
    const bool alike =
        (from == nullptr) == (to == nullptr) &&
        (from == nullptr || (from->dtype() == to->dtype() && from->rank() == to->rank()));
    if (alike) return Ok{};
    return Error{Code::invalid_argument, "moves value " + std::to_string(call.from) + " to value " +
                                             std::to_string(call.to) +
                                             ", which is of another kind"};
  }

  Status plan(const pte::JumpFalseCall& call, Step& step) {
    step.kind = Step::Kind::jump;
    step.args = {call.condition};
    step.target = call.destination;
    return Ok{};
  }

  // Memory is kept for the next call, which will want as much.
  static Status plan(const pte::FreeCall&, Step&) { return Ok{}; }

  void rebind(ValueIndex v) { plan_.rebound.push_back(plan_.tensor_of[static_cast<size_t>(v)]); }

  MethodPlan& plan_;
  std::vector<uint8_t> is_made_;  // by value: something made it before this instruction
};

}  // namespace

Status plan_steps(MethodPlan& plan) {
  return StepPlanner(plan).run();
}

}  // namespace backplane::runtime
