#include "cuda/compiler/plan_builder.hpp"

#include <algorithm>
#include <map>

#include "cuda/compiler/kernel_text.hpp"

namespace backplane::cuda::compiler {
namespace {

class Builder {
 public:
  Builder(Program& program, const PlanOptions& options)
      : program_(program), graph_(program.graph()), g_(program.tensors()), options_(options) {}

  Result<Planned> run() {
    BP_TRY(find_outputs());
    Schedule schedule(g_, outputs_);
    schedule_ = &schedule;
    plan().summary.push_back({0, 0, {}, text(options_.method)});
    add_inputs();
    BP_TRY(add_outputs());
    const std::vector<TensorId> stored = schedule.stored();
    for (const TensorId id : stored) {
      if (schedule.is_derived(id)) launch(id);
    }
    plan().summary[0].num_setup_steps = static_cast<uint32_t>(plan().steps.size());
    for (const TensorId id : stored) {
      const Tensor::Kind kind = g_.at(id).kind;
      if (kind == Tensor::Kind::called) call(id);
      if (kind == Tensor::Kind::computed && !schedule.is_derived(id)) launch(id);
    }
    for (const auto& [from, to] : copies_) copy(to, from);
    set_lifetimes();
    plan().tokens = g_.sizes().tokens();
    plan().sizes = g_.sizes().sizes();
    return std::move(planned_);
  }

 private:
  Plan& plan() { return planned_.plan; }

  Text text(std::string_view added) {
    const auto [found, is_new] = texts_.emplace(
        std::string(added),
        Text{static_cast<uint32_t>(plan().text.size()), static_cast<uint32_t>(added.size())});
    if (is_new) plan().text.insert(plan().text.end(), added.begin(), added.end());
    return found->second;
  }
  SizeList list(const std::vector<SizeId>& sizes) {
    const SizeList out{static_cast<uint32_t>(plan().size_lists.size()),
                       static_cast<uint32_t>(sizes.size())};
    plan().size_lists.insert(plan().size_lists.end(), sizes.begin(), sizes.end());
    return out;
  }
  SizeId bytes_of(TensorId id) {
    const Tensor t = g_.at(id);
    return g_.sizes().multiply(g_.elements(t.shape), g_.sizes().constant(size_of(t.dtype)));
  }

  // ---- buffers ----

  Status find_outputs() {
    for (const bp_output_t& output : graph_.outputs()) {
      const TensorId id = program_.of_value(output.value);
      if (id < 0 && graph_.value(output.value).kind != BP_VALUE_SYM_INT)
        return Error{Code::unsupported, "an output is no tensor that kernels can hold"};
      outputs_.push_back(id);
    }
    return Ok{};
  }

  uint32_t add_buffer(BufferKind kind, TensorId id, std::string_view name) {
    const Tensor t = g_.at(id);
    const SizeList dims = list(t.shape);
    const SizeList strides = list(t.strides);
    plan().buffers.push_back(
        {kind, t.dtype, bytes_of(id), size_of(t.dtype), dims, strides, {}, 0, 0, text(name)});
    return static_cast<uint32_t>(plan().buffers.size() - 1);
  }
  uint32_t add_number(SizeId value, std::string_view name) {
    plan().buffers.push_back(
        {BufferKind::number, sdk::kInt64, value, 8, {}, {}, {}, 0, 0, text(name)});
    return static_cast<uint32_t>(plan().buffers.size() - 1);
  }

  void add_inputs() {
    for (const int32_t value : graph_.inputs()) {
      const TensorId id = program_.of_value(value);
      const std::string_view name = sdk::view(graph_.value(value).name);
      const uint32_t buffer = id < 0 ? add_number(g_.sizes().constant(0), name)
                                     : add_buffer(BufferKind::input, id, name);
      if (id >= 0) buffers_.emplace(id, buffer);
      plan().inputs.push_back(buffer);
    }
  }

  // An output is made where it is wanted, unless it is an input, a weight, or given twice.
  Status add_outputs() {
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const bp_value_t& value = graph_.value(graph_.outputs()[i].value);
      if (outputs_[i] < 0) {
        BP_ASSIGN_OR_RETURN(const SizeId size, g_.sizes().of(value.scalar));
        plan().outputs.push_back(add_number(size, sdk::view(value.name)));
        continue;
      }
      const TensorId id = outputs_[i];
      const uint32_t buffer = add_buffer(BufferKind::output, id, sdk::view(value.name));
      plan().outputs.push_back(buffer);
      const bool is_made = g_.at(id).kind == Tensor::Kind::called ||
                           (g_.at(id).kind == Tensor::Kind::computed && !schedule_->is_derived(id));
      if (is_made && !buffers_.contains(id)) {
        buffers_.emplace(id, buffer);
      } else {
        copies_.emplace_back(id, buffer);
      }
    }
    return Ok{};
  }

  uint32_t buffer(TensorId id) {
    if (const auto found = buffers_.find(id); found != buffers_.end()) return found->second;
    const Tensor t = g_.at(id);
    uint32_t made = 0;
    if (t.kind == Tensor::Kind::weight) {
      const bp_value_t& value = graph_.value(t.source);
      made = add_buffer(BufferKind::weight, id, sdk::view(value.fqn));
      plan().buffers[made].parts = {static_cast<uint32_t>(plan().parts.size()), 1};
      plan().parts.push_back({text(sdk::view(value.key)), 0, value.data.size});
      planned_.weights.push_back(t.source);
    } else {
      made =
          add_buffer(schedule_->is_derived(id) ? BufferKind::derived : BufferKind::arena, id, {});
    }
    plan().buffers[made].align = 256;
    buffers_.emplace(id, made);
    return made;
  }

  // ---- steps ----

  void add_step(StepKind kind, size_t index, int32_t node) {
    Step step{kind, static_cast<uint32_t>(index), 0, {}};
    if (node >= 0) {
      const bp_node_t& n = graph_.nodes()[static_cast<uint32_t>(node)];
      step.debug_id = n.debug_id;
      step.node = text(sdk::view(n.name));
    }
    plan().steps.push_back(step);
  }

  // One kernel for each text; named after the first operator that needs it.
  uint32_t kernel(const KernelText& made, int32_t node) {
    const auto [found, is_new] =
        kernels_.emplace(made.text, static_cast<uint32_t>(plan().kernels.size()));
    if (!is_new) return found->second;
    std::string name = "copy";
    if (node >= 0) {
      name = sdk::op(graph_.nodes()[static_cast<uint32_t>(node)]);
      name = name.substr(name.rfind(':') + 1);
      name = name.substr(0, name.find('.'));
    }
    name += "_" + std::to_string(found->second);
    std::string source = made.text;
    source.replace(source.find(kNamePlaceholder), kNamePlaceholder.size(), name);
    planned_.kernels.push_back(std::move(source));
    const Range parameters{static_cast<uint32_t>(plan().parameters.size()),
                           static_cast<uint32_t>(made.parameters.size())};
    for (const auto& p : made.parameters) plan().parameters.push_back(p.kind);
    plan().kernels.push_back({0, text(name), parameters, {}});
    return found->second;
  }

  void launch(TensorId id) {
    const ExprId element = schedule_->element(id);
    const int32_t node = g_.at(id).node;
    const KernelText made = write_kernel(g_, id, element);
    const uint32_t index = kernel(made, node);
    std::vector<Argument> arguments;
    for (const auto& p : made.parameters) {
      Argument a{p.kind, kNone, kNone};
      if (p.kind == ParameterKind::pointer) a.buffer = buffer(p.tensor);
      if (p.kind == ParameterKind::f64) a.buffer = static_cast<uint32_t>(p.tensor);
      if (p.kind == ParameterKind::i64) a.size = p.size;
      arguments.push_back(a);
    }
    const Range range{static_cast<uint32_t>(plan().arguments.size()),
                      static_cast<uint32_t>(arguments.size())};
    plan().arguments.insert(plan().arguments.end(), arguments.begin(), arguments.end());
    const SizeId one = g_.sizes().constant(1);
    plan().launches.push_back(
        {index, 0, {made.grid, one, one}, {made.block, one, one}, kNone, range});
    add_step(StepKind::launch, plan().launches.size() - 1, node);
  }

  Operand operand(TensorId id) {
    if (id < 0) return {kNone, kNone, sdk::kFloat32, {}, {}};
    const StridedView view = schedule_->view(id);
    const Tensor t = g_.at(id);
    const SizeId offset =
        g_.sizes().is(view.offset, 0)
            ? kNone
            : g_.sizes().multiply(view.offset, g_.sizes().constant(size_of(t.dtype)));
    const SizeList dims = list(t.shape);
    const SizeList strides = list(view.strides);
    return {buffer(view.base), offset, t.dtype, dims, strides};
  }
  Compute compute(bp_dtype_t dtype) const {
    if (dtype == sdk::kFloat64) return Compute::f64;
    return dtype == sdk::kFloat32 ? options_.float32 : Compute::f32;
  }

  void call(TensorId id) {
    const Call made = g_.calls()[static_cast<size_t>(g_.at(id).source)];
    const bp_dtype_t dtype = g_.at(id).dtype;
    const Operand a = operand(made.a);
    const Operand b = operand(made.b);
    const Operand bias = operand(made.bias);
    const Operand addend = operand(made.addend);
    const Operand result = operand(id);
    if (made.kind == Call::Kind::gemm) {
      plan().gemms.push_back({a, b, addend, result, bias, compute(dtype), 1.0,
                              made.addend < 0 ? 0.0 : 1.0, made.epilogue, 0});
      return add_step(StepKind::gemm, plan().gemms.size() - 1, g_.at(id).node);
    }
    Convolution c{a,
                  b,
                  result,
                  bias,
                  addend,
                  static_cast<uint32_t>(made.stride.size()),
                  static_cast<uint32_t>(made.groups),
                  made.is_transposed ? 1U : 0U,
                  compute(dtype),
                  made.epilogue,
                  {1, 1, 1},
                  {0, 0, 0},
                  {1, 1, 1}};
    std::copy(made.stride.begin(), made.stride.end(), c.stride);
    std::copy(made.padding.begin(), made.padding.end(), c.padding);
    std::copy(made.dilation.begin(), made.dilation.end(), c.dilation);
    plan().convolutions.push_back(c);
    add_step(StepKind::convolution, plan().convolutions.size() - 1, g_.at(id).node);
  }

  void copy(uint32_t to, TensorId from) {
    plan().copies.push_back({to, buffer(from), kNone, kNone, bytes_of(from)});
    add_step(StepKind::copy, plan().copies.size() - 1, g_.at(from).node);
  }

  // ---- lifetimes ----

  void use(uint32_t index, uint32_t step) {
    if (index == kNone) return;
    Buffer& b = plan().buffers[index];
    if (b.kind != BufferKind::arena) return;
    if (used_.insert(index).second) b.first_step = step;
    b.last_step = step;
  }
  void set_lifetimes() {
    for (uint32_t s = 0; s < plan().steps.size(); ++s) {
      const Step step = plan().steps[s];
      if (step.kind == StepKind::launch) {
        const Range range = plan().launches[step.index].arguments;
        for (uint32_t i = 0; i < range.count; ++i) {
          const Argument& a = plan().arguments[range.first + i];
          if (a.kind == ParameterKind::pointer) use(a.buffer, s);
        }
      } else if (step.kind == StepKind::gemm) {
        const Gemm& g = plan().gemms[step.index];
        for (const Operand* o : {&g.a, &g.b, &g.c, &g.d, &g.bias}) use(o->buffer, s);
      } else if (step.kind == StepKind::convolution) {
        const Convolution& c = plan().convolutions[step.index];
        for (const Operand* o : {&c.x, &c.w, &c.y, &c.bias, &c.z}) use(o->buffer, s);
      } else {
        use(plan().copies[step.index].from, s);
        use(plan().copies[step.index].to, s);
      }
    }
  }

  Program& program_;
  const sdk::Graph& graph_;
  TensorGraph& g_;
  const PlanOptions& options_;
  Schedule* schedule_ = nullptr;
  Planned planned_;
  std::vector<TensorId> outputs_;
  std::map<TensorId, uint32_t> buffers_;
  std::vector<std::pair<TensorId, uint32_t>> copies_;
  std::map<std::string, Text> texts_;
  std::map<std::string, uint32_t> kernels_;
  std::set<uint32_t> used_;
};

}  // namespace

Result<Planned> make_plan(Program& program, const PlanOptions& options) {
  return Builder(program, options).run();
}

}  // namespace backplane::cuda::compiler
