// cuDNN's graph of a convolution and what follows it: convolution, + z, + bias, activation.
#pragma once

#include <backplane/result.hpp>

#include <span>
#include <vector>

#include "cuda/payload.hpp"
#include "cuda/runtime/bound_operand.hpp"
#include "cuda/runtime/dnn_descriptor.hpp"

namespace backplane::cuda {

struct ConvolutionGraph {
  std::vector<DnnObject> objects;  // tensors, descriptions, operations
  DnnObject graph;
};

// The operands' ids are their places in x, w, y, bias, z, counted from 1.
struct ConvolutionOperands {
  BoundOperand x, w, y, bias, z;
};

// unsupported: a dtype that cuDNN's convolutions don't have.
Result<ConvolutionGraph> make_graph(const Cudnn& library, DnnHandle handle,
                                    const Convolution& convolution,
                                    const ConvolutionOperands& operands);

}  // namespace backplane::cuda
