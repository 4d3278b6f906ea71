// A convolution of a plan with what follows it, done by one of cuDNN's compiled engines.
#pragma once

#include <backplane/result.hpp>

#include <memory>
#include <span>
#include <vector>

#include "cuda/payload.hpp"
#include "cuda/runtime/bound_operand.hpp"
#include "cuda/runtime/dnn_descriptor.hpp"
#include "cuda/runtime/library_handles.hpp"

namespace backplane::cuda {

// For one signature: the plan of the engine that cuDNN's heuristics put first, of those that
// compute as precisely as asked.
class ConvolutionRun {
 public:
  // unsupported: no engine does it.
  static Result<std::unique_ptr<ConvolutionRun>> choose(const PlanView& plan,
                                                        std::span<const int64_t> sizes,
                                                        const Convolution& convolution,
                                                        LibraryHandles& handles);

  [[nodiscard]] size_t workspace_bytes() const { return static_cast<size_t>(workspace_bytes_); }
  Status enqueue(CuStream stream, std::span<const CuAddress> addresses, CuAddress workspace);

 private:
  explicit ConvolutionRun(LibraryHandles::Dnn dnn) : dnn_(dnn) {}
  Status find_engine(const Convolution& convolution);
  bool try_config(DnnDescriptor config, const Convolution& convolution, bool must_be_same_again);

  LibraryHandles::Dnn dnn_;
  std::vector<BoundOperand> operands_;  // in the order of their ids, 1 on
  bool is_nothing_ = false;
  std::vector<DnnObject> objects_;  // what the graph consists of
  DnnObject graph_, plan_;
  int64_t workspace_bytes_ = 0;
};

}  // namespace backplane::cuda
