// Convolutions: cuDNN's.
#include "cuda/compiler/ops/op_call.hpp"

namespace backplane::cuda::compiler {
namespace {

// convolution(x, weight, bias?, stride, padding, dilation, transposed, output_padding, groups)
Status convolution(OpCall& call) {
  BP_ASSIGN_OR_RETURN(const TensorId x, call.tensor(0));
  BP_ASSIGN_OR_RETURN(const TensorId weight, call.tensor(1));
  Call made{Call::Kind::convolution};
  BP_ASSIGN_OR_RETURN(made.bias, call.tensor_or_none(2));
  BP_ASSIGN_OR_RETURN(made.stride, call.known_ints(3));
  BP_ASSIGN_OR_RETURN(made.padding, call.known_ints(4));
  BP_ASSIGN_OR_RETURN(made.dilation, call.known_ints(5));
  made.is_transposed = call.flag(6);
  BP_ASSIGN_OR_RETURN(made.groups, call.known_int(8));
  const size_t rank = call.rank(weight);
  const bp_dtype_t dtype = call.at(x).dtype;
  if (rank < 3 || rank > 5) return call.refuse("a convolution of that many dimensions");
  // cuDNN has no plan for it with a bias.
  if (made.is_transposed) return call.refuse("a transposed convolution");
  if (call.rank(x) != rank) return call.refuse("a convolution without a batch");
  if (!is_floating(dtype)) return call.refuse("a convolution of integers");
  for (std::vector<int64_t>* list : {&made.stride, &made.padding, &made.dilation}) {
    if (list->size() == 1) list->resize(rank - 2, list->front());
    if (list->size() != rank - 2) return call.refuse("a convolution's lists have other lengths");
    for (const int64_t n : *list) {
      if (n < 0) return call.refuse("a convolution with a negative number");
    }
  }
  made.a = x;
  made.b = weight;
  BP_ASSIGN_OR_RETURN(std::vector<SizeId> shape, call.out_shape());
  const TensorId out = call.g.call(std::move(made), dtype, std::move(shape));
  call.g.at(out).node = call.node_index();
  return call.give(out);
}

constexpr OpRule kRules[] = {{"aten::convolution", convolution}};

}  // namespace

std::span<const OpRule> convolution_rules() {
  return kRules;
}

}  // namespace backplane::cuda::compiler
