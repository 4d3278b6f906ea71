// What a Method is made of: values and their memory, what the caller gave, and the loop that runs
// the instructions. After the first execution with some sizes, further ones with them allocate
// nothing.
#pragma once

#include <backplane/program.hpp>
#include <backplane/result.hpp>

#include <memory>
#include <vector>

#include "runtime/delegate_call.hpp"
#include "runtime/kernel_context.hpp"
#include "runtime/loaded_program.hpp"
#include "runtime/values.hpp"

namespace backplane::runtime {

class MethodState {
 public:
  [[nodiscard]] static Result<std::unique_ptr<MethodState>> create(
      std::shared_ptr<SessionState> session, size_t method);
  MethodState(const MethodState&) = delete;
  MethodState& operator=(const MethodState&) = delete;
  ~MethodState();

  [[nodiscard]] const MethodInfo& info() const { return plan_.info; }

  // As Method's functions.
  Status set_input(size_t index, const TensorView& view);
  Status set_input(size_t index, const ScalarValue& value);
  Status set_output(size_t index, const TensorView& buffer);
  Status execute(const ExecuteOptions& options);
  [[nodiscard]] Result<TensorView> output(size_t index);
  [[nodiscard]] Result<ScalarValue> output_scalar(size_t index);
  [[nodiscard]] Result<TensorView> mutated_input(size_t index);
  [[nodiscard]] Result<Tensor> to_host(const TensorView& view) const;

 private:
  // A result as the caller gets it: an output, or an input that the method wrote.
  struct ResultState {
    pte::ValueIndex value = 0;
    int32_t tensor = -1;
    bool is_direct = false;
    TensorView buffer;          // the caller's; without data: none
    uint64_t buffer_bytes = 0;  // that it spans
    bool is_buffer_dense = false;
    Block copy;          // of what must not be given away itself
    bp_tensor_t view{};  // where it is after execute; shape is the tensor's
    bool is_delivered = false;
  };
  struct SymbolValue {
    int64_t value = 0;
    int32_t input = -1;  // that gave it; -1: not given yet
    int32_t dim = -1;    // -1: the number itself
  };

  MethodState(std::shared_ptr<SessionState> session, size_t method);
  Status give_memory();
  Status create_calls();
  void note_host_tensors();
  [[nodiscard]] Error wrong(std::string message) const;
  [[nodiscard]] Error in_method(Error error) const;
  [[nodiscard]] static std::string name_of_slot(const char* what, size_t index,
                                                const SlotInfo& slot);

  // method_inputs.cpp
  Status check_sizes(size_t index, const TensorView& view) const;
  Status take_host_input(TensorState& tensor, const InputPlan& input, const TensorView& view);
  Status take_device_input(TensorState& tensor, const InputPlan& input, const TensorView& view);
  Status check_symbols();
  Status bind_symbol(const DimRule& rule, int64_t size, SymbolValue from);
  void forget_inputs();

  // method_outputs.cpp
  void bind_outputs();
  [[nodiscard]] bool overlaps_input(const ResultState& result) const;
  Status deliver(ResultState& result);
  Status deliver_to_buffer(ResultState& result, TensorState& tensor);
  [[nodiscard]] Result<TensorView> view_of(const ResultState& result) const;
  Status finish_results();

  // method_execute.cpp
  Status begin(const ExecuteOptions& options);
  Status run_steps();
  Status run_step(size_t index, size_t& next);
  Status run_host_step(const Step& step, size_t index);
  Status move(const Step& step);
  Result<bool> is_false(const Step& step);
  Status finish_pending();
  Status end();

  std::shared_ptr<SessionState> session_;
  const LoadedProgram& program_;
  const MethodPlan& plan_;
  const size_t method_;
  Values values_;
  KernelContext kernels_;
  std::vector<Block> arenas_;  // by planned buffer
  std::vector<std::unique_ptr<DeviceMemory>> memories_;
  std::vector<bp_instance_t*> instances_;             // by delegate
  std::vector<std::unique_ptr<DelegateCall>> calls_;  // by step; null where there is none
  std::vector<std::vector<TensorState*>> reads_;      // by step: bytes wanted on the host
  std::vector<std::vector<TensorState*>> writes_;     // by step: bytes that are then on the host
  std::vector<uint8_t>
      keeps_place_;  // by tensor: a constant or an input, current where it was left
  std::vector<DelegateCall*> pending_;
  std::vector<uint8_t> is_set_;  // by input
  std::vector<SymbolValue> symbols_;
  std::vector<ResultState> results_;     // outputs, then one for each input that is written
  std::vector<int32_t> written_result_;  // by input; -1: not written
  CallContext call_;
  bool has_results_ = false;
};

}  // namespace backplane::runtime
