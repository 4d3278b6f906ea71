// The core's own operators on tensors: shapes, views, copies and run-time checks.
#include <backplane/tensor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "runtime/prim_ops.hpp"
#include "runtime/tensor_state.hpp"

namespace backplane::runtime {
namespace {

constexpr size_t kMaxRank = 16;

Error wrong(std::string message) {
  return {Code::invalid_argument, std::move(message)};
}

Result<TensorState*> tensor_at(const PrimCall& call, size_t index) {
  const bp_boxed_t& box = *call.args[index];
  if (box.kind == BP_BOX_TENSOR) return &state_of(box.v.tensor);
  return wrong("argument " + std::to_string(index) + " is " + std::string(kind_name(box.kind)) +
               ", not a tensor");
}

Result<int64_t> integer_at(const PrimCall& call, size_t index) {
  const bp_boxed_t& box = *call.args[index];
  if (is_integer(box)) return box.v.i;
  return wrong("argument " + std::to_string(index) + " is " + std::string(kind_name(box.kind)) +
               ", not an integer");
}

std::string_view text_of(const bp_boxed_t& box) {
  return box.kind == BP_BOX_STRING ? std::string_view(box.v.text, box.count) : std::string_view();
}

// The dimension that argument `index` names, negative ones counted from the end.
Result<size_t> dimension_at(const PrimCall& call, size_t index, const TensorState& tensor) {
  BP_ASSIGN_OR_RETURN(int64_t d, integer_at(call, index));
  const int64_t rank = tensor.view.ndim;
  if (d < -rank || d >= rank) {
    return wrong("dimension " + std::to_string(d) + " of " + tensor.plan->label + ", which has " +
                 std::to_string(rank));
  }
  return static_cast<size_t>(d < 0 ? d + rank : d);
}

Status sym_size(const PrimCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorState* tensor, tensor_at(call, 0));
  BP_ASSIGN_OR_RETURN(const size_t d, dimension_at(call, 1, *tensor));
  *call.args[2] = boxed(tensor->view.shape[d]);
  return Ok{};
}

Status sym_stride(const PrimCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorState* tensor, tensor_at(call, 0));
  BP_ASSIGN_OR_RETURN(const size_t d, dimension_at(call, 1, *tensor));
  *call.args[2] = boxed(tensor->view.strides[d]);
  return Ok{};
}

Status sym_storage_offset(const PrimCall& call) {
  *call.args[1] = boxed(int64_t{0});
  return Ok{};
}

Status sym_numel(const PrimCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorState* tensor, tensor_at(call, 0));
  *call.args[1] = boxed(numel(tensor->sizes()));
  return Ok{};
}

template <class T>
T load(const void* data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

double half_to_double(uint16_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const int exponent = (bits >> 10U) & 31U;
  const double fraction = (bits & 1023U) / 1024.0;
  if (exponent == 0) return sign * std::ldexp(fraction, -14);
  if (exponent == 31) return fraction == 0 ? sign * HUGE_VAL : NAN;
  return sign * std::ldexp(1 + fraction, exponent - 15);
}

// The number that a tensor of one element holds.
Result<bp_boxed_t> item(const TensorState& tensor) {
  if (numel(tensor.sizes()) != 1) {
    return wrong(tensor.plan->label + " has sizes " + format_sizes(tensor.sizes()) +
                 ", not one element");
  }
  const void* data = tensor.view.data;
  switch (tensor.plan->dtype()) {
    case DType::u8:
      return boxed(int64_t{load<uint8_t>(data)});
    case DType::i8:
      return boxed(int64_t{load<int8_t>(data)});
    case DType::i16:
      return boxed(int64_t{load<int16_t>(data)});
    case DType::i32:
      return boxed(int64_t{load<int32_t>(data)});
    case DType::i64:
      return boxed(load<int64_t>(data));
    case DType::u16:
      return boxed(int64_t{load<uint16_t>(data)});
    case DType::u32:
      return boxed(int64_t{load<uint32_t>(data)});
    case DType::u64:
      return boxed(static_cast<int64_t>(load<uint64_t>(data)));
    case DType::boolean:
      return boxed(load<uint8_t>(data) != 0);
    case DType::f32:
      return boxed(double{load<float>(data)});
    case DType::f64:
      return boxed(load<double>(data));
    case DType::f16:
      return boxed(half_to_double(load<uint16_t>(data)));
    case DType::bf16: {
      const uint32_t bits = uint32_t{load<uint16_t>(data)} << 16U;
      return boxed(double{load<float>(&bits)});
    }
    default:
      return Error{Code::unsupported,
                   "a number from a tensor of type " + std::string(name_of(tensor.plan->dtype()))};
  }
}

Status local_scalar_dense(const PrimCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorState* tensor, tensor_at(call, 0));
  BP_ASSIGN_OR_RETURN(*call.args[1], item(*tensor));
  return Ok{};
}

Status assert_true(const bp_boxed_t& condition, std::string_view message) {
  bp_boxed_t number = condition;
  if (condition.kind == BP_BOX_TENSOR) {
    BP_ASSIGN_OR_RETURN(number, item(state_of(condition.v.tensor)));
  }
  if (is_number(number) && as_double(number) != 0) return Ok{};
  return wrong(message.empty() ? "the check failed" : "the check failed: " + std::string(message));
}

Status assert_scalar(const PrimCall& call) {
  return assert_true(*call.args[0], text_of(*call.args[1]));
}

Status constrain_range(const PrimCall& call) {
  BP_ASSIGN_OR_RETURN(const int64_t value, integer_at(call, 0));
  const bp_boxed_t& min = *call.args[1];
  const bp_boxed_t& max = *call.args[2];
  if (is_integer(min) && value < min.v.i) {
    return wrong("the size " + std::to_string(value) + " is less than " + std::to_string(min.v.i));
  }
  if (is_integer(max) && value > max.v.i) {
    return wrong("the size " + std::to_string(value) + " is more than " + std::to_string(max.v.i));
  }
  return Ok{};
}

// Strides, device and layout are not compared: they are the exporter's, and ours may differ.
Status assert_tensor_metadata(const PrimCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorState* tensor, tensor_at(call, 0));
  const bp_boxed_t& sizes = *call.args[1];
  const bp_boxed_t& dtype = *call.args[3];
  if (sizes.kind == BP_BOX_INTS) {
    const std::span<const int64_t> wanted(sizes.v.ints, sizes.count);
    if (!std::equal(wanted.begin(), wanted.end(), tensor->sizes().begin(), tensor->sizes().end())) {
      return wrong(tensor->plan->label + " has sizes " + format_sizes(tensor->sizes()) +
                   ", the program expects " + format_sizes(wanted));
    }
  }
  if (is_integer(dtype) && dtype.v.i != static_cast<int64_t>(tensor->plan->dtype())) {
    return wrong(tensor->plan->label + " has type " + std::string(name_of(tensor->plan->dtype())) +
                 ", the program expects number " + std::to_string(dtype.v.i));
  }
  return Ok{};
}

// Sizes that may hold one -1, which stands for what is left of `total` elements.
Status infer_size(std::span<int64_t> sizes, int64_t total) {
  int64_t known = 1;
  auto unknown = sizes.end();
  for (auto at = sizes.begin(); at != sizes.end(); ++at) {
    if (*at == -1 && unknown == sizes.end()) {
      unknown = at;
    } else if (*at < 0 || __builtin_mul_overflow(known, *at, &known)) {
      return wrong("a view of sizes " + format_sizes(sizes));
    }
  }
  if (unknown != sizes.end() && known > 0 && total % known == 0) {
    *unknown = total / known;
    return Ok{};
  }
  if (unknown == sizes.end() && known == total) return Ok{};
  return wrong("a view of sizes " + format_sizes(sizes) + " of " + std::to_string(total) +
               " elements");
}

Status view(const PrimCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorState* from, tensor_at(call, 0));
  BP_ASSIGN_OR_RETURN(TensorState * to, tensor_at(call, 2));
  const bp_boxed_t& list = *call.args[1];
  if (list.kind != BP_BOX_INTS || list.count > kMaxRank) return wrong("the sizes are not a list");
  if (from->plan->dtype() != to->plan->dtype()) {
    return wrong(to->plan->label + " has another type than " + from->plan->label);
  }
  std::array<int64_t, kMaxRank> sizes{};
  std::copy_n(list.v.ints, list.count, sizes.begin());
  const std::span<int64_t> wanted(sizes.data(), list.count);
  BP_TRY(infer_size(wanted, numel(from->sizes())));
  BP_TRY(set_sizes(*to, wanted));
  look_at(*to, *from);
  return Ok{};
}

Status copy_index(const PrimCall& call) {
  BP_ASSIGN_OR_RETURN(TensorState * to, tensor_at(call, 0));
  BP_ASSIGN_OR_RETURN(const TensorState* from, tensor_at(call, 1));
  BP_ASSIGN_OR_RETURN(const int64_t index, integer_at(call, 2));
  const std::span<const int64_t> row = from->sizes();
  if (index < 0 || index == INT64_MAX || to->view.ndim != from->view.ndim + 1 ||
      from->plan->dtype() != to->plan->dtype()) {
    return wrong("row " + std::to_string(index) + " of " + to->plan->label + " from " +
                 from->plan->label);
  }
  std::array<int64_t, kMaxRank> sizes{};
  sizes[0] = index + 1;
  std::copy(row.begin(), row.end(), sizes.begin() + 1);
  const std::span<const int64_t> wanted(sizes.data(), row.size() + 1);
  // An unbounded result that moves keeps the rows that it has.
  const void* before = to->view.data;
  const int64_t row_bytes = numel(row) * static_cast<int64_t>(size_of(to->plan->dtype()));
  const uint64_t had = std::min<uint64_t>(to->capacity, static_cast<uint64_t>(index * row_bytes));
  BP_TRY(resize(*to, wanted, call.retired));
  if (to->view.data != before && before != nullptr) std::memcpy(to->view.data, before, had);
  bp_tensor_t place = to->view;
  place.ndim = from->view.ndim;
  place.shape = to->view.shape + 1;
  place.strides = to->view.strides + 1;
  place.byte_offset =
      static_cast<uint64_t>(index * to->view.strides[0]) * size_of(to->plan->dtype());
  copy_elements(from->view, place);
  return Ok{};
}

Status copy_tensor(const TensorState& from, TensorState& to, std::vector<Block>& retired) {
  if (from.plan->dtype() != to.plan->dtype()) {
    return wrong(to.plan->label + " has another type than " + from.plan->label);
  }
  BP_TRY(resize(to, from.sizes(), retired));
  copy_elements(from.view, to.view);
  return Ok{};
}

template <size_t Out>
Status copy(const PrimCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorState* from, tensor_at(call, 0));
  BP_ASSIGN_OR_RETURN(TensorState * to, tensor_at(call, Out));
  return copy_tensor(*from, *to, call.retired);
}

Status empty(const PrimCall& call) {
  BP_ASSIGN_OR_RETURN(TensorState * to, tensor_at(call, 2));
  if (call.args[0]->kind != BP_BOX_INTS) return wrong("the sizes are not a list");
  return resize(*to, {call.args[0]->v.ints, call.args[0]->count}, call.retired);
}

constexpr PrimOp by_shape(std::string_view name, int8_t min_args, int8_t num_args,
                          Status (*run)(const PrimCall&)) {
  return {.name = name,
          .min_args = min_args,
          .num_args = num_args,
          .written = static_cast<int8_t>(num_args - 1),
          .run = run};
}
constexpr PrimOp by_bytes(std::string_view name, int8_t num_args, int8_t written,
                          Status (*run)(const PrimCall&)) {
  return {.name = name,
          .min_args = num_args,
          .num_args = num_args,
          .written = written,
          .reads_bytes = true,
          .run = run};
}
constexpr PrimOp check(std::string_view name, int8_t num_args, Status (*run)(const PrimCall&)) {
  return {.name = name, .min_args = 1, .num_args = num_args, .reads_bytes = true, .run = run};
}

constexpr PrimOp kOps[] = {
    by_shape("aten::sym_size.int", 3, 3, sym_size),
    by_shape("aten::sym_stride.int", 3, 3, sym_stride),
    by_shape("aten::sym_storage_offset", 2, 2, sym_storage_offset),
    by_shape("aten::sym_numel", 2, 2, sym_numel),
    by_shape("dim_order_ops::_empty_dim_order.out", 3, 3, empty),
    by_bytes("aten::_local_scalar_dense", 2, 1, local_scalar_dense),
    by_bytes("aten::item", 2, 1, local_scalar_dense),
    by_bytes("executorch_prim::et_copy_index.tensor", 3, 0, copy_index),
    by_bytes("et_copy::_h2d_copy.out", 2, 1, copy<1>),
    by_bytes("et_copy::_d2h_copy.out", 2, 1, copy<1>),
    by_bytes("dim_order_ops::_clone_dim_order.out", 4, 3, copy<3>),
    check("aten::_assert_scalar", 2, assert_scalar),
    check("aten::_assert_async.msg", 2, assert_scalar),
    check("aten::_assert_async", 2, assert_scalar),
    check("aten::sym_constrain_range", 3, constrain_range),
    check("aten::sym_constrain_range_for_size", 3, constrain_range),
    {.name = "aten::_assert_tensor_metadata",
     .min_args = 1,
     .num_args = 4,
     .run = assert_tensor_metadata},
    {.name = "executorch_prim::et_view.default",
     .min_args = 3,
     .num_args = 3,
     .written = 2,
     .is_view = true,
     .run = view},
};

}  // namespace

std::span<const PrimOp> tensor_ops() {
  return kOps;
}

}  // namespace backplane::runtime
