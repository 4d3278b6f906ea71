// Boxes arguments, gives kernels memory for their results, and takes their errors back.
#include "passes/evaluator.hpp"

#include <algorithm>
#include <deque>
#include <memory>

#include "common/abi_dtype.hpp"

namespace backplane::passes {
namespace {

// A result in the making.
struct NewTensor {
  DType dtype;
  Tensor memory;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  bp_tensor_t abi{};
};

// One call of a kernel. The host's functions find it by its first base.
class Call : public bp_kernel_ctx_t {
 public:
  explicit Call(int64_t max_bytes) : bp_kernel_ctx_t{}, max_bytes_(max_bytes) {
    struct_size = sizeof(bp_kernel_ctx_t);
    fail = [](bp_kernel_ctx_t* self, int32_t code, bp_str_t message) {
      static_cast<Call*>(self)->reason_.assign(message.ptr, message.len);
      return code;
    };
    resize = [](bp_kernel_ctx_t* self, bp_tensor_t* out, uint32_t rank, const int64_t* shape) {
      return static_cast<Call*>(self)->give_shape(out, {shape, rank});
    };
    scratch = [](bp_kernel_ctx_t* self, uint64_t size) -> void* {
      return static_cast<Call*>(self)->give_scratch(size);
    };
    random = [](bp_kernel_ctx_t*) -> uint64_t { return 0; };
    parallel_for = [](bp_kernel_ctx_t*, int64_t n, int64_t, void (*body)(void*, int64_t, int64_t),
                      void* arg) {
      if (n > 0) body(arg, 0, n);
    };
  }

  Status box(const Argument& argument, const Evaluator::Operands& operands);
  void box_result(DType dtype, size_t rank);
  void box_results(std::vector<std::pair<DType, size_t>> types);
  Result<std::vector<Tensor>> run(const bp_kernel_t& kernel);

 private:
  struct Boxer;

  int32_t give_shape(bp_tensor_t* out, std::span<const int64_t> shape);
  void* give_scratch(uint64_t size);
  bp_tensor_t* new_result(DType dtype, size_t rank);
  Result<bp_tensor_t*> operand(ValueId id, const Evaluator::Operands& operands);

  int64_t max_bytes_;
  std::vector<bp_boxed_t> boxes_;
  std::deque<std::pair<TensorView, bp_tensor_t>> tensors_;
  std::deque<std::vector<bp_tensor_t*>> lists_;
  std::deque<std::vector<int64_t>> ints_;
  std::deque<std::vector<double>> doubles_;
  std::deque<std::vector<uint8_t>> bools_;
  std::deque<NewTensor> results_;
  std::vector<Tensor> scratch_;
  std::string reason_;
};

int32_t Call::give_shape(bp_tensor_t* out, std::span<const int64_t> shape) {
  const auto found = std::find_if(results_.begin(), results_.end(),
                                  [&](const NewTensor& r) { return &r.abi == out; });
  if (found == results_.end()) return BP_INVALID_ARGUMENT;
  found->shape.assign(shape.begin(), shape.end());
  const Result<int64_t> bytes = checked_nbytes(found->dtype, shape);
  if (!bytes.ok() || *bytes > max_bytes_) {
    reason_ = "a result of sizes " + format_sizes(shape) + " is too large to be folded";
    return BP_OUT_OF_MEMORY;
  }
  Result<Tensor> memory = Tensor::zeros(found->dtype, found->shape);
  if (!memory.ok()) return BP_OUT_OF_MEMORY;
  found->memory = std::move(memory).value();
  found->strides = contiguous_strides(shape);
  out->data = found->memory.bytes().data();
  out->ndim = static_cast<int32_t>(shape.size());
  out->shape = found->shape.data();
  out->strides = found->strides.data();
  return BP_OK;
}

void* Call::give_scratch(uint64_t size) {
  if (size > static_cast<uint64_t>(INT64_MAX)) return nullptr;
  Result<Tensor> memory = Tensor::uninitialized(DType::u8, {static_cast<int64_t>(size)});
  if (!memory.ok()) return nullptr;
  scratch_.push_back(std::move(memory).value());
  return scratch_.back().bytes().data();
}

bp_tensor_t* Call::new_result(DType dtype, size_t rank) {
  NewTensor& result = results_.emplace_back();
  result.dtype = dtype;
  result.shape.assign(rank, 0);
  result.strides.assign(rank, 0);
  result.abi = {nullptr,
                {BP_DEV_CPU, 0},
                static_cast<int32_t>(rank),
                abi_dtype(dtype),
                result.shape.data(),
                result.strides.data(),
                0};
  return &result.abi;
}

void Call::box_result(DType dtype, size_t rank) {
  bp_boxed_t box{};
  box.kind = BP_BOX_TENSOR;
  box.v.tensor = new_result(dtype, rank);
  boxes_.push_back(box);
}

void Call::box_results(std::vector<std::pair<DType, size_t>> types) {
  std::vector<bp_tensor_t*>& list = lists_.emplace_back();
  for (const auto& [dtype, rank] : types) list.push_back(new_result(dtype, rank));
  bp_boxed_t box{};
  box.kind = BP_BOX_TENSORS;
  box.count = static_cast<uint32_t>(list.size());
  box.v.tensors = list.data();
  boxes_.push_back(box);
}

Result<bp_tensor_t*> Call::operand(ValueId id, const Evaluator::Operands& operands) {
  const TensorView* view = operands(id);
  if (view == nullptr) return Error{Code::invalid_argument, "an operand is not a constant"};
  auto& [copy, abi] = tensors_.emplace_back(*view, bp_tensor_t{});
  abi = {copy.data,
         {BP_DEV_CPU, 0},
         static_cast<int32_t>(copy.sizes.size()),
         abi_dtype(copy.dtype),
         copy.sizes.data(),
         copy.strides.data(),
         0};
  return &abi;
}

// How each kind of argument is boxed.
struct Call::Boxer {
  Call& call;
  const Evaluator::Operands& operands;
  bp_boxed_t box{};

  Status number(uint32_t kind, int64_t value) {
    box.kind = kind;
    box.v.i = value;
    return Ok{};
  }
  void list(uint32_t kind, size_t count) {
    box.kind = kind;
    box.count = static_cast<uint32_t>(count);
  }

  Status operator()(const None&) { return Ok{}; }
  Status operator()(const DeviceArg&) { return Ok{}; }
  Status operator()(int64_t value) { return number(BP_BOX_INT, value); }
  Status operator()(bool value) { return number(BP_BOX_BOOL, value ? 1 : 0); }
  Status operator()(DType value) { return number(BP_BOX_INT, static_cast<int64_t>(value)); }
  Status operator()(MemoryFormat value) { return number(BP_BOX_INT, static_cast<int64_t>(value)); }
  Status operator()(Layout value) { return number(BP_BOX_INT, static_cast<int64_t>(value)); }
  Status operator()(double value) {
    box.kind = BP_BOX_DOUBLE;
    box.v.f = value;
    return Ok{};
  }
  Status operator()(const std::complex<double>& value) {
    list(BP_BOX_COMPLEX, 2);
    box.v.doubles = call.doubles_.emplace_back(std::vector{value.real(), value.imag()}).data();
    return Ok{};
  }
  Status operator()(const std::string& value) {
    list(BP_BOX_STRING, value.size());
    box.v.text = value.data();
    return Ok{};
  }
  Status operator()(const ValueRef& value) {
    box.kind = BP_BOX_TENSOR;
    BP_ASSIGN_OR_RETURN(box.v.tensor, call.operand(value.id, operands));
    return Ok{};
  }
  Status operator()(const ValueList& value) {
    std::vector<bp_tensor_t*>& tensors = call.lists_.emplace_back();
    for (ValueId id : value.ids) {
      tensors.push_back(nullptr);
      if (id == kNone) continue;
      BP_ASSIGN_OR_RETURN(tensors.back(), call.operand(id, operands));
    }
    list(BP_BOX_TENSORS, tensors.size());
    box.v.tensors = tensors.data();
    return Ok{};
  }
  Status operator()(const IntList& value) {
    std::vector<int64_t>& values = call.ints_.emplace_back();
    for (const IntElement& e : value) {
      if (!e.is_literal()) return Error{Code::invalid_argument, "a size is not known"};
      values.push_back(e.literal);
    }
    list(BP_BOX_INTS, values.size());
    box.v.ints = values.data();
    return Ok{};
  }
  Status operator()(const std::vector<double>& value) {
    list(BP_BOX_DOUBLES, value.size());
    box.v.doubles = value.data();
    return Ok{};
  }
  Status operator()(const std::vector<bool>& value) {
    list(BP_BOX_BOOLS, value.size());
    box.v.bools = call.bools_.emplace_back(value.begin(), value.end()).data();
    return Ok{};
  }
  template <class T>
  Status operator()(const T&) {
    return Error{Code::unsupported, "an argument is of a kind that kernels don't take"};
  }
};

// `argument` must live until run.
Status Call::box(const Argument& argument, const Evaluator::Operands& operands) {
  Boxer boxer{*this, operands};
  BP_TRY(std::visit(boxer, argument));
  boxes_.push_back(boxer.box);
  return Ok{};
}

Result<std::vector<Tensor>> Call::run(const bp_kernel_t& kernel) {
  const auto count = static_cast<uint32_t>(boxes_.size());
  int32_t code = BP_OK;
  if (kernel.supports != nullptr) code = kernel.supports(&kernel, this, boxes_.data(), count);
  if (code == BP_OK) code = kernel.run(&kernel, this, boxes_.data(), count);
  const std::string name(kernel.schema.ptr, kernel.schema.len);
  if (code != BP_OK) {
    const bool known = code >= BP_INVALID_ARGUMENT && code <= BP_UNAVAILABLE;
    return Error{known ? static_cast<Code>(code) : Code::internal,
                 name + ": " + (reason_.empty() ? "failed without a reason" : reason_)};
  }
  std::vector<Tensor> out;
  for (NewTensor& result : results_) {
    if (result.abi.data == nullptr && result.memory.dtype() != result.dtype) {
      return Error{Code::internal, name + ": gave a result no shape"};
    }
    out.push_back(std::move(result.memory));
  }
  return out;
}

}  // namespace

const ops::Schema* Evaluator::out_form(const ops::Schema& schema) const {
  if (!schema.is_view()) return table_.find_out(schema);
  const ops::Schema* copy = table_.find(schema.copy);
  return copy == nullptr ? nullptr : table_.find_out(*copy);
}

bool Evaluator::can_run(const Graph& graph, const Node& node) const {
  if (node.schema == nullptr || node.schema->random || node.schema->mutates()) return false;
  if (node.outputs.empty()) return false;
  for (ValueId id : node.outputs) {
    if (id == kNone || graph.value(id).kind != ValueKind::tensor) return false;
  }
  const ops::Schema* out = out_form(*node.schema);
  if (out == nullptr) return false;
  const bp_kernel_t* kernel = kernels_(out->name);
  return kernel != nullptr && kernel->run != nullptr && (kernel->flags & BP_KERNEL_RANDOM) == 0;
}

Result<std::vector<Tensor>> Evaluator::run(const Graph& graph, const Node& node,
                                           const Operands& operands) const {
  assert(can_run(graph, node));
  const ops::Schema& out = *out_form(*node.schema);
  Call call(max_bytes_);
  const Argument absent = None{};
  bool takes_list = false;
  for (const ops::Parameter& parameter : out.parameters) {
    if (parameter.is_out) {
      takes_list = parameter.list;
      continue;
    }
    const auto given =
        std::find_if(node.args.begin(), node.args.end(),
                     [&](const NamedArgument& a) { return a.name == parameter.name; });
    const Argument& otherwise = parameter.default_value ? *parameter.default_value : absent;
    BP_TRY(call.box(given != node.args.end() ? given->value : otherwise, operands));
  }
  std::vector<std::pair<DType, size_t>> types;
  for (ValueId id : node.outputs) {
    const TensorType& type = graph.value(id).type;
    types.emplace_back(type.dtype, type.sizes.size());
  }
  if (takes_list) {
    call.box_results(std::move(types));
  } else {
    for (const auto& [dtype, rank] : types) call.box_result(dtype, rank);
  }
  return call.run(*kernels_(out.name));
}

}  // namespace backplane::passes
