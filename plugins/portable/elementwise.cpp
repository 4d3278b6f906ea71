#include "portable/elementwise.hpp"

namespace backplane::portable {
namespace {

DType apply(Rule rule, DType common) {
  const bool exact = is_integral(common) || common == DType::boolean;
  return rule == Rule::to_float && exact ? DType::f32 : common;
}

const Loops& loops_for(const Elementwise& op, DType dtype) {
  return dtype == DType::boolean && op.bool_loops != nullptr ? *op.bool_loops : *op.loops;
}

}  // namespace

Result<DType> common_dtype(const Args& args, int first, int count) {
  ResultType type;
  for (int i = first; i < first + count; ++i) {
    BP_TRY(args.is_tensor(i) ? type.add(args.tensor(i)) : type.add(args.scalar(i)));
  }
  return type.get();
}

Status check_cast(DType from, const Tensor& out) {
  if (!can_cast(from, out.dtype())) {
    return invalid(
        {"result type ", from, " can't be cast to the desired output type ", out.dtype()});
  }
  return Ok{};
}

Status check_elementwise(const Args& args, const Elementwise& op) {
  BP_ASSIGN_OR_RETURN(const DType common, common_dtype(args, 0, op.loops->arity));
  const DType dtype = apply(op.rule, common);
  if (op.check != nullptr) {
    BP_TRY(op.check(args, common));
  }
  const Loop& loop = loops_for(op, dtype).at(dtype);
  if (!op.dtypes.has(dtype) || loop.run == nullptr) {
    return not_implemented(dtype);
  }
  return check_cast(result_of(loop, dtype), args.out(0));
}

Status run_elementwise(Context& ctx, const Args& args, const Elementwise& op) {
  const int arity = op.loops->arity;
  BP_ASSIGN_OR_RETURN(const DType common, common_dtype(args, 0, arity));
  const DType dtype = apply(op.rule, common);
  std::array<Operand, 4> operands;
  for (int i = 0; i < arity; ++i) {
    Operand& operand = operands[static_cast<size_t>(i)];
    operand = operand_of(args, i);
    operand.exact =
        op.exact_numbers && is_floating(dtype) && (!operand.tensor || operand.tensor.dim() == 0);
  }
  Params params(dtype, {});
  for (int64_t i = arity; i < args.num_inputs(); ++i) {
    if (args.is_number(i)) {
      params.push_back(args.scalar(i));
    }
  }
  const std::span<const Operand> used(operands.data(), static_cast<size_t>(arity));
  return map(ctx, {&loops_for(op, dtype), dtype, used, params.data()}, args.out(0));
}

Operand operand_of(const Args& args, int64_t i) {
  return args.is_tensor(i) ? Operand{args.tensor(i), {}} : Operand{{}, args.scalar(i)};
}

Status run_row(Context& ctx, const Args& args) {
  return run_elementwise(ctx, args, *static_cast<const Elementwise*>(args.entry().data));
}

Status check_row(const Args& args) {
  return check_elementwise(args, *static_cast<const Elementwise*>(args.entry().data));
}

}  // namespace backplane::portable
