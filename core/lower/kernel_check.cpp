#include "lower/kernel_check.hpp"

#include <algorithm>
#include <array>
#include <deque>

#include "common/abi_dtype.hpp"
#include "lower/emit.hpp"

namespace backplane::lower {
namespace {

constexpr std::array<std::string_view, 9> kRuntimeOperators = {"aten::_assert_async.msg",
                                                               "aten::_assert_scalar",
                                                               "aten::_assert_tensor_metadata",
                                                               "aten::_local_scalar_dense",
                                                               "aten::item",
                                                               "aten::sym_constrain_range",
                                                               "aten::sym_constrain_range_for_size",
                                                               "aten::sym_numel",
                                                               "aten::sym_size.int"};

constexpr std::array<std::string_view, 4> kControlFlow = {
    "higher_order::cond", "higher_order::map_impl", "higher_order::scan",
    "higher_order::while_loop"};

// A node's arguments as a kernel's `supports` sees them: types without data.
class Boxes {
 public:
  explicit Boxes(Module& module, const Graph& graph) : module_(module), graph_(graph) {}

  void add(const Argument& argument) {
    bp_boxed_t box{};
    if (const auto* ref = std::get_if<ValueRef>(&argument)) box = value(ref->id);
    if (const auto* i = std::get_if<int64_t>(&argument)) box = number(BP_BOX_INT, *i);
    if (const auto* b = std::get_if<bool>(&argument)) box = number(BP_BOX_BOOL, *b ? 1 : 0);
    if (const auto* d = std::get_if<DType>(&argument))
      box = number(BP_BOX_INT, static_cast<int64_t>(*d));
    if (const auto* m = std::get_if<MemoryFormat>(&argument))
      box = number(BP_BOX_INT, static_cast<int64_t>(*m));
    if (const auto* l = std::get_if<Layout>(&argument))
      box = number(BP_BOX_INT, static_cast<int64_t>(*l));
    if (const auto* f = std::get_if<double>(&argument)) {
      box.kind = BP_BOX_DOUBLE;
      box.v.f = *f;
    }
    if (const auto* s = std::get_if<std::string>(&argument)) {
      box.kind = BP_BOX_STRING;
      box.count = static_cast<uint32_t>(s->size());
      box.v.text = s->data();
    }
    if (const auto* doubles = std::get_if<std::vector<double>>(&argument)) {
      box.kind = BP_BOX_DOUBLES;
      box.count = static_cast<uint32_t>(doubles->size());
      box.v.doubles = doubles->data();
    }
    if (const auto* bools = std::get_if<std::vector<bool>>(&argument)) {
      const auto& kept = bools_.emplace_back(bools->begin(), bools->end());
      box.kind = BP_BOX_BOOLS;
      box.count = static_cast<uint32_t>(kept.size());
      box.v.bools = kept.data();
    }
    if (const auto* ints = std::get_if<IntList>(&argument)) box = int_list(*ints);
    if (const auto* list = std::get_if<ValueList>(&argument)) box = tensors(list->ids);
    boxes_.push_back(box);
  }

  void add_outputs(const Node& node, bool list) {
    if (list) {
      boxes_.push_back(tensors(node.outputs));
      return;
    }
    for (const ValueId id : node.outputs) boxes_.push_back(id == kNone ? absent() : value(id));
  }

  [[nodiscard]] const std::vector<bp_boxed_t>& get() const { return boxes_; }

 private:
  struct Shape {
    bp_tensor_t tensor{};
    std::vector<int64_t> sizes;
    std::vector<int64_t> strides;
  };

  static bp_boxed_t number(uint32_t kind, int64_t i) {
    bp_boxed_t box{};
    box.kind = kind;
    box.v.i = i;
    return box;
  }

  bp_tensor_t* tensor(DType dtype, std::vector<int64_t> sizes) {
    Shape& shape = shapes_.emplace_back();
    shape.sizes = std::move(sizes);
    shape.strides.assign(shape.sizes.size(), 0);
    int64_t stride = 1;
    for (size_t d = shape.sizes.size(); d-- > 0;) {
      shape.strides[d] = stride;
      if (__builtin_mul_overflow(stride, std::max<int64_t>(shape.sizes[d], 1), &stride))
        stride = INT64_MAX;
    }
    shape.tensor.device = {BP_DEV_CPU, 0};
    shape.tensor.ndim = static_cast<int32_t>(shape.sizes.size());
    shape.tensor.dtype = abi_dtype(dtype);
    shape.tensor.shape = shape.sizes.data();
    shape.tensor.strides = shape.strides.data();
    return &shape.tensor;
  }

  bp_tensor_t* tensor_of(ValueId id) {
    const TensorType& type = graph_.value(id).type;
    std::vector<int64_t> sizes;
    for (const SymInt size : type.sizes) {
      const auto likely = module_.symbols.hint(size);
      sizes.push_back(size.is_constant()
                          ? size.constant()
                          : likely.value_or(module_.symbols.upper_bound(size).value_or(2)));
    }
    return tensor(type.dtype, std::move(sizes));
  }

  bp_boxed_t absent() {
    bp_boxed_t box{};
    box.kind = BP_BOX_TENSOR;
    box.v.tensor = tensor(DType::u8, {0});
    return box;
  }

  bp_boxed_t value(ValueId id) {
    const Value& v = graph_.value(id);
    switch (v.kind) {
      case ValueKind::sym_int:
        return number(BP_BOX_INT, v.has_expr ? module_.symbols.hint(v.expr).value_or(1) : 1);
      case ValueKind::sym_bool:
        return number(BP_BOX_BOOL, 1);
      case ValueKind::sym_float: {
        bp_boxed_t box{};
        box.kind = BP_BOX_DOUBLE;
        box.v.f = 1;
        return box;
      }
      default:
        break;
    }
    bp_boxed_t box{};
    box.kind = BP_BOX_TENSOR;
    box.v.tensor = tensor_of(id);
    return box;
  }

  bp_boxed_t tensors(const std::vector<ValueId>& ids) {
    auto& list = lists_.emplace_back();
    for (const ValueId id : ids) list.push_back(id == kNone ? nullptr : tensor_of(id));
    bp_boxed_t box{};
    box.kind = BP_BOX_TENSORS;
    box.count = static_cast<uint32_t>(list.size());
    box.v.tensors = list.data();
    return box;
  }

  bp_boxed_t int_list(const IntList& elements) {
    auto& list = ints_.emplace_back();
    for (const IntElement& e : elements)
      list.push_back(e.is_literal() ? e.literal : value(e.value).v.i);
    bp_boxed_t box{};
    box.kind = BP_BOX_INTS;
    box.count = static_cast<uint32_t>(list.size());
    box.v.ints = list.data();
    return box;
  }

  Module& module_;
  const Graph& graph_;
  std::vector<bp_boxed_t> boxes_;
  std::deque<Shape> shapes_;
  std::deque<std::vector<bp_tensor_t*>> lists_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<uint8_t>> bools_;
};

// The reason that a kernel gives while it is asked.
struct AskContext : bp_kernel_ctx_t {
  AskContext() : bp_kernel_ctx_t{} {
    struct_size = sizeof(bp_kernel_ctx_t);
    fail = [](bp_kernel_ctx_t* self, int32_t code, bp_str_t message) {
      static_cast<AskContext*>(self)->reason.assign(message.ptr, static_cast<size_t>(message.len));
      return code;
    };
  }
  std::string reason;
};

// Empty if the kernel can run the node.
std::string refusal(Module& module, const Graph& graph, const Node& node, const bp_kernel_t& kernel,
                    const ops::Schema& schema) {
  if (kernel.supports == nullptr) return {};
  Boxes boxes(module, graph);
  for (const ops::Parameter& parameter : schema.parameters) {
    if (parameter.is_out) continue;
    const auto given =
        std::find_if(node.args.begin(), node.args.end(),
                     [&](const NamedArgument& a) { return a.name == parameter.name; });
    if (given != node.args.end()) {
      boxes.add(given->value);
    } else {
      boxes.add(parameter.default_value ? *parameter.default_value : Argument(None{}));
    }
  }
  boxes.add_outputs(node, node.schema->returns.size() == 1 && node.schema->returns[0].list);
  AskContext context;
  const auto& values = boxes.get();
  if (kernel.supports(&kernel, &context, values.data(), static_cast<uint32_t>(values.size())) ==
      BP_OK)
    return {};
  return context.reason.empty() ? "not with these arguments" : context.reason;
}

std::string dtypes_of(const Graph& graph, const Node& node) {
  std::string text;
  for (const NamedArgument& arg : node.args) {
    for_each_value(arg.value, [&](ValueId id) {
      const Value& value = graph.value(id);
      if (value.kind != ValueKind::tensor) return;
      if (!text.empty()) text += ", ";
      text += name_of(value.type.dtype);
    });
  }
  return text;
}

}  // namespace

bool is_runtime_operator(std::string_view name) {
  return name.starts_with("executorch_prim::") || name.starts_with("et_copy::") ||
         std::find(kRuntimeOperators.begin(), kRuntimeOperators.end(), name) !=
             kRuntimeOperators.end();
}

std::vector<std::string> missing_kernels(Module& module, const std::vector<Settled>& settled,
                                         const KernelIndex& kernels, const ops::Table& ops) {
  std::vector<std::string> missing;
  for (size_t g = 0; g < module.graphs.size(); ++g) {
    const Graph& graph = *module.graphs[g];
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      if (settled[g].partition_of[n] >= 0) continue;
      if (std::find(kControlFlow.begin(), kControlFlow.end(), node.op) != kControlFlow.end())
        continue;
      const std::string name = runtime_operator(ops, node);
      if (is_runtime_operator(name)) continue;
      const KernelEntry* kernel = kernels.find(name);
      std::string why;
      if (kernel == nullptr) {
        why = name.empty() ? "operator is not known" : "no kernel " + name;
      } else {
        const ops::Schema* schema = ops.find(name);
        if (schema == nullptr && node.schema != nullptr) schema = ops.find_out(*node.schema);
        if (schema != nullptr && node.schema != nullptr)
          why = refusal(module, graph, node, *kernel->kernel, *schema);
      }
      if (why.empty()) continue;
      const std::string dtypes = dtypes_of(graph, node);
      missing.push_back(describe(node) + (dtypes.empty() ? "" : " of " + dtypes) + ": " + why);
    }
  }
  return missing;
}

}  // namespace backplane::lower
