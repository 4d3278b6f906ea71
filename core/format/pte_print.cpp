#include "format/pte_print.hpp"

#include <backplane/tensor.hpp>

namespace backplane::pte {
namespace {

class Printer {
 public:
  explicit Printer(const Plan& plan) : plan_(plan), names_(plan.values.size()) {
    for (size_t v = 0; v < names_.size(); ++v) {
      const auto* tensor = std::get_if<Tensor>(&plan.values[v]);
      names_[v] = tensor && !tensor->fqn.empty() ? tensor->fqn : "%" + std::to_string(v);
    }
    for (size_t i = 0; i < plan.outputs.size(); ++i) name("out.", i, plan.outputs[i]);
    for (size_t i = 0; i < plan.inputs.size(); ++i) name("in.", i, plan.inputs[i]);
  }

  std::string operator()(const KernelCall& call) const {
    const Operator& op = plan_.operators[static_cast<size_t>(call.op)];
    std::string text = op.name + (op.overload.empty() ? "" : "." + op.overload) + "(";
    // The last argument is the result: an `out` again, or the list of them.
    const size_t count = call.args.empty() ? 0 : call.args.size() - 1;
    for (size_t i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + value(call.args[i]);
    return text + ")" + (call.args.empty() ? "" : " -> " + result(call.args.back()));
  }

  std::string operator()(const DelegateCall& call) const {
    const Delegate& delegate = plan_.delegates[static_cast<size_t>(call.delegate)];
    std::string text = "delegate " + std::to_string(call.delegate) + " (" + delegate.id + ") with ";
    for (size_t i = 0; i < call.args.size(); ++i)
      text += (i > 0 ? ", " : "") + result(call.args[i]);
    return text;
  }

  std::string operator()(const MoveCall& call) const {
    return name_of(call.to) + " becomes " + value(call.from);
  }
  std::string operator()(const JumpFalseCall& call) const {
    return "jump to " + std::to_string(call.destination) + " unless " + value(call.condition);
  }
  std::string operator()(const FreeCall& call) const { return "free " + name_of(call.value); }

 private:
  void name(const char* prefix, size_t i, ValueIndex value) {
    const auto v = static_cast<size_t>(value);
    if (std::holds_alternative<Tensor>(plan_.values[v]) && names_[v].front() == '%')
      names_[v] = prefix + std::to_string(i);
  }

  [[nodiscard]] const std::string& name_of(ValueIndex value) const {
    return names_[static_cast<size_t>(value)];
  }

  template <class Items>
  [[nodiscard]] std::string list(const Items& items) const {
    std::string text = "[";
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text += ", ";
      if constexpr (std::is_same_v<Items, std::vector<ValueIndex>>) {
        text += items[i] < 0 ? "none" : value(items[i]);
      } else {
        text += std::to_string(items[i]);
      }
    }
    return text + "]";
  }

  [[nodiscard]] std::string value(ValueIndex index) const {
    struct Visitor {
      const Printer& printer;
      ValueIndex index;
      std::string operator()(None /*none*/) const { return "none"; }
      std::string operator()(int64_t v) const { return std::to_string(v); }
      std::string operator()(double v) const { return std::to_string(v); }
      std::string operator()(bool v) const { return v ? "true" : "false"; }
      std::string operator()(const std::string& v) const { return "'" + v + "'"; }
      std::string operator()(const Tensor& /*tensor*/) const { return printer.name_of(index); }
      std::string operator()(const IntList& v) const { return printer.list(v.items); }
      std::string operator()(const DoubleList& v) const { return printer.list(v.items); }
      std::string operator()(const BoolList& v) const { return printer.list(v.items); }
      std::string operator()(const TensorList& v) const { return printer.list(v.items); }
      std::string operator()(const OptionalTensorList& v) const { return printer.list(v.items); }
    };
    return std::visit(Visitor{*this, index}, plan_.values[static_cast<size_t>(index)]);
  }

  // With the type, if it is a tensor.
  [[nodiscard]] std::string result(ValueIndex index) const {
    const auto* tensor = std::get_if<Tensor>(&plan_.values[static_cast<size_t>(index)]);
    if (tensor == nullptr) return value(index);
    const auto& sizes = tensor->layout.sizes;
    return name_of(index) + ": " + std::string(backplane::name_of(tensor->layout.dtype)) +
           format_sizes(std::vector<int64_t>(sizes.begin(), sizes.end()));
  }

  const Plan& plan_;
  std::vector<std::string> names_;  // by value
};

}  // namespace

std::vector<std::string> print_instructions(const Plan& plan) {
  const Printer printer(plan);
  std::vector<std::string> lines;
  for (const Chain& chain : plan.chains) {
    for (size_t i = 0; i < chain.instructions.size(); ++i) {
      std::string line = std::to_string(i);
      line.insert(0, 6 - std::min<size_t>(line.size(), 6), ' ');
      line += "  " + std::visit(printer, chain.instructions[i]);
      if (i < chain.stack_traces.size() && !chain.stack_traces[i].empty()) {
        const Frame& frame = chain.stack_traces[i].back();
        line += "   @ " + frame.file + ":" + std::to_string(frame.line);
      }
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

}  // namespace backplane::pte
