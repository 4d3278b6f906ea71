// Whether a plan's records are sound: see read_payload.
#include <backplane/graph.h>

#include <string>

#include "cuda/payload.hpp"

namespace backplane::cuda {
namespace {

class Check {
 public:
  explicit Check(const PlanView& plan) : plan_(plan) {}

  Status run() {
    if (plan_.summary.size() != 1) return fault("summary", 0, "is not there once");
    const Summary& summary = plan_.summary[0];
    if (!text(summary.compiler) || !text(summary.method) ||
        summary.num_setup_steps > plan_.steps.size())
      return fault("summary", 0, "names what is not there");
    BP_TRY(each("size", plan_.sizes, [&](size_t i) { return size(i); }));
    BP_TRY(each("buffer", plan_.buffers, [&](size_t i) { return buffer(plan_.buffers[i]); }));
    BP_TRY(each("input", plan_.inputs, [&](size_t i) { return end(plan_.inputs[i], true); }));
    BP_TRY(each("output", plan_.outputs, [&](size_t i) { return end(plan_.outputs[i], false); }));
    BP_TRY(each("size list", plan_.size_lists, [&](size_t i) { return id(plan_.size_lists[i]); }));
    BP_TRY(each("image", plan_.images, [&](size_t i) { return image(plan_.images[i]); }));
    BP_TRY(each("module", plan_.modules, [&](size_t i) {
      const Module& m = plan_.modules[i];
      return m.images.count != 0 && range(m.images, plan_.images) && text(m.source);
    }));
    BP_TRY(each("parameter", plan_.parameters,
                [&](size_t i) { return plan_.parameters[i] <= ParameterKind::node; }));
    BP_TRY(each("kernel", plan_.kernels, [&](size_t i) {
      const Kernel& k = plan_.kernels[i];
      return k.module < plan_.modules.size() && text(k.name) && text(k.fault) &&
             range(k.parameters, plan_.parameters);
    }));
    return each("step", plan_.steps, [&](size_t i) {
      step_ = i;
      return step(plan_.steps[i]);
    });
  }

 private:
  static Error fault(const char* what, size_t index, const char* why) {
    return {Code::invalid_argument, std::string(what) + " " + std::to_string(index) + " " + why};
  }
  template <class List, class F>
  static Status each(const char* what, const List& list, F&& is_sound) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (!is_sound(i)) return fault(what, i, "names what is not there");
    }
    return Ok{};
  }
  template <class List>
  [[nodiscard]] static bool range(Range r, const List& list) {
    return r.first <= list.size() && r.count <= list.size() - r.first;
  }
  [[nodiscard]] bool text(Text t) const { return range(t, plan_.text); }
  [[nodiscard]] bool id(SizeId size) const { return size < plan_.sizes.size(); }
  [[nodiscard]] bool id_or_none(SizeId size) const { return size == kNone || id(size); }
  [[nodiscard]] bool list(SizeList l) const { return range(l, plan_.size_lists); }

  [[nodiscard]] bool input(int64_t index) const {
    return index >= 0 && static_cast<uint64_t>(index) < plan_.inputs.size() &&
           plan_.inputs[static_cast<size_t>(index)] < plan_.buffers.size();
  }
  [[nodiscard]] BufferKind kind_of_input(int64_t index) const {
    return plan_.buffers[plan_.inputs[static_cast<size_t>(index)]].kind;
  }

  // How many operands an operator may take: from, to.
  [[nodiscard]] static bool takes(const Token& token) {
    if (token.op == BP_SYM_NOT) return token.count == 1;
    if (token.op == BP_SYM_WHERE) return token.count == 3;
    const bool is_list = token.op == BP_SYM_ADD || token.op == BP_SYM_MUL ||
                         token.op == BP_SYM_MAX || token.op == BP_SYM_MIN;
    if (is_list) return token.count >= 1;
    return token.op > BP_SYM_CONSTANT && token.op < BP_SYM_WHERE && token.count == 2;
  }
  [[nodiscard]] bool leaf(const Token& token, size_t size_index) const {
    switch (token.op) {
      case BP_SYM_CONSTANT:
        return token.count == 0;
      case kTokenSize:
        return token.count == 0 && token.value >= 0 &&
               static_cast<uint64_t>(token.value) < size_index;
      case kTokenInputDim:
        return input(token.value) && kind_of_input(token.value) == BufferKind::input &&
               token.count <
                   plan_.buffers[plan_.inputs[static_cast<size_t>(token.value)]].dims.count;
      case kTokenInputNumber:
        return token.count == 0 && input(token.value) &&
               kind_of_input(token.value) == BufferKind::number;
      default:
        return false;
    }
  }
  [[nodiscard]] bool size(size_t index) const {
    const Size& s = plan_.sizes[index];
    if (!range(s.tokens, plan_.tokens)) return false;
    uint64_t depth = 0;
    for (const Token& token : plan_.tokens.subspan(s.tokens.first, s.tokens.count)) {
      if (leaf(token, index)) {
        ++depth;
        continue;
      }
      if (!takes(token) || token.count > depth) return false;
      depth = depth - token.count + 1;
    }
    return depth == 1;
  }

  [[nodiscard]] bool buffer(const Buffer& b) const {
    if (b.kind > BufferKind::number || !id(b.bytes) || !list(b.dims) || !list(b.strides) ||
        b.dims.count != b.strides.count || !text(b.name) || !range(b.parts, plan_.parts))
      return false;
    if (b.align == 0 || (b.align & (b.align - 1)) != 0 || b.align > 256) return false;
    for (const Part& part : plan_.parts.subspan(b.parts.first, b.parts.count)) {
      if (!text(part.key) || part.size > UINT64_MAX - part.offset) return false;
    }
    if (b.kind == BufferKind::number && b.dims.count != 0) return false;
    if (b.kind != BufferKind::arena) return true;
    return b.first_step <= b.last_step && b.first_step >= plan_.summary[0].num_setup_steps &&
           b.last_step < plan_.steps.size();
  }
  [[nodiscard]] bool end(uint32_t index, bool is_input) const {
    if (index >= plan_.buffers.size()) return false;
    const BufferKind kind = plan_.buffers[index].kind;
    return kind == BufferKind::number ||
           kind == (is_input ? BufferKind::input : BufferKind::output);
  }
  [[nodiscard]] bool image(const Image& i) const {
    const uint64_t size = plan_.bytes.size();
    if (i.kind > ImageKind::ptx || i.is_exact > 1 || i.bytes.first > size ||
        i.bytes.size > size - i.bytes.first || i.bytes.size == 0 || !text(i.target))
      return false;
    return i.kind != ImageKind::ptx ||
           plan_.bytes[i.bytes.first + i.bytes.size - 1] == std::byte{0};
  }

  // A buffer that this step may touch.
  [[nodiscard]] bool used(uint32_t index, bool is_written) const {
    if (index >= plan_.buffers.size()) return false;
    const Buffer& b = plan_.buffers[index];
    const bool is_setup = step_ < plan_.summary[0].num_setup_steps;
    switch (b.kind) {
      case BufferKind::input:
        return !is_setup && !is_written;
      case BufferKind::output:
        return !is_setup;
      case BufferKind::weight:
        return !is_written;
      case BufferKind::derived:
        return is_setup || !is_written;
      case BufferKind::arena:
        return b.first_step <= step_ && step_ <= b.last_step;
      case BufferKind::number:
        return false;
    }
    return false;
  }
  [[nodiscard]] bool operand(const Operand& o, uint32_t rank, bool is_written = false) const {
    return used(o.buffer, is_written) && id_or_none(o.offset) && list(o.dims) && list(o.strides) &&
           o.dims.count == rank && o.strides.count == rank;
  }
  [[nodiscard]] bool operand_or_none(const Operand& o, uint32_t rank) const {
    return o.buffer == kNone || operand(o, rank);
  }

  [[nodiscard]] bool argument(const Argument& a, ParameterKind kind) const {
    if (a.kind != kind) return false;
    switch (kind) {
      case ParameterKind::pointer:
        return used(a.buffer, false) && id_or_none(a.size);
      case ParameterKind::i64:
      case ParameterKind::u32:
        return id(a.size);
      case ParameterKind::f64:
        return input(a.buffer) && kind_of_input(a.buffer) == BufferKind::number;
      default:
        return true;
    }
  }
  [[nodiscard]] bool launch(const Launch& l) const {
    for (int i = 0; i < 3; ++i) {
      if (!id(l.grid[i]) || !id(l.block[i])) return false;
    }
    if (l.kernel >= plan_.kernels.size() || l.flags > kLaunchProgrammatic ||
        !id_or_none(l.shared) || !range(l.arguments, plan_.arguments))
      return false;
    const Range parameters = plan_.kernels[l.kernel].parameters;
    if (parameters.count != l.arguments.count) return false;
    for (uint32_t i = 0; i < parameters.count; ++i) {
      if (!argument(plan_.arguments[l.arguments.first + i], plan_.parameters[parameters.first + i]))
        return false;
    }
    return true;
  }
  [[nodiscard]] bool gemm(const Gemm& g) const {
    return operand(g.a, 3) && operand(g.b, 3) && operand(g.d, 3, true) && operand_or_none(g.c, 3) &&
           operand_or_none(g.bias, 1) && g.compute <= Compute::f16 &&
           g.epilogue <= Epilogue::gelu_tanh;
  }
  [[nodiscard]] bool convolution(const Convolution& c) const {
    if (c.num_spatial < 1 || c.num_spatial > 3 || c.groups == 0 || c.is_transposed > 1 ||
        c.compute > Compute::f16 || c.epilogue > Epilogue::gelu_tanh)
      return false;
    for (uint32_t i = 0; i < c.num_spatial; ++i) {
      if (c.stride[i] < 1 || c.padding[i] < 0 || c.dilation[i] < 1) return false;
    }
    const uint32_t rank = c.num_spatial + 2;
    return operand(c.x, rank) && operand(c.w, rank) && operand(c.y, rank, true) &&
           operand_or_none(c.bias, 1) && operand_or_none(c.z, rank);
  }
  [[nodiscard]] bool step(const Step& s) const {
    if (!text(s.node)) return false;
    const auto has = [&](const auto& array) { return s.index < array.size(); };
    switch (s.kind) {
      case StepKind::launch:
        return has(plan_.launches) && launch(plan_.launches[s.index]);
      case StepKind::gemm:
        return has(plan_.gemms) && gemm(plan_.gemms[s.index]);
      case StepKind::convolution:
        return has(plan_.convolutions) && convolution(plan_.convolutions[s.index]);
      case StepKind::copy: {
        if (!has(plan_.copies)) return false;
        const Copy& c = plan_.copies[s.index];
        return used(c.to, true) && used(c.from, false) && id_or_none(c.to_offset) &&
               id_or_none(c.from_offset) && id(c.bytes);
      }
      case StepKind::fill: {
        if (!has(plan_.fills)) return false;
        const Fill& f = plan_.fills[s.index];
        return used(f.to, true) && id_or_none(f.offset) && id(f.bytes) &&
               (f.width == 1 || f.width == 2 || f.width == 4);
      }
    }
    return false;
  }

  const PlanView& plan_;
  size_t step_ = 0;
};

}  // namespace

Status check_plan(const PlanView& plan) {
  return Check(plan).run();
}

}  // namespace backplane::cuda
