// One call site of a delegate in a Method: its instance, and the tensors that cross, prepared once.
#pragma once

#include <backplane/result.hpp>

#include <vector>

#include "runtime/delegates.hpp"
#include "runtime/device.hpp"
#include "runtime/kernel_context.hpp"
#include "runtime/values.hpp"

namespace backplane::runtime {

// What a call needs of its Method.
struct CallContext {
  Values& values;
  std::vector<Block>& retired;
  const volatile int32_t* cancel = nullptr;
  bool is_callers_stream = false;
};

class DelegateCall final : public RunHandler {
 public:
  // `memory`: of the delegate's target, null if it works in host memory. All must outlive this.
  DelegateCall(const Backend& backend, bp_instance_t* instance, const LoadedDelegate& delegate,
               DeviceMemory* memory, const Step& step, Values& values);
  DelegateCall(const DelegateCall&) = delete;
  DelegateCall& operator=(const DelegateCall&) = delete;

  // Brings inputs where they are wanted, runs, and notes where the outputs are. With streams this
  // may return before the device is done.
  Status run(CallContext& context);
  // Whether sizes, or errors of the device, are still to come.
  [[nodiscard]] bool is_pending() const { return is_pending_; }
  Status finish(CallContext& context);
  // Forgets what is pending, after a failure elsewhere.
  void abandon() { is_pending_ = false; }

  Status resize_output(uint32_t index, std::span<const int64_t> shape) override;

 private:
  struct Argument {
    TensorState* tensor = nullptr;  // null: a number
    size_t index = 0;               // of the tensor in its method
    bp_boxed_t* number = nullptr;
    int64_t cell = 0;  // the number's bits, as the delegate sees it
    bool on_device = false;
    bool is_both = false;  // an output that is an input too: keeps its sizes
  };

  void describe_number(Argument& argument, bp_tensor_t& view, const pte::Value& file);
  Status give_number(Argument& argument, const bp_tensor_t& view);
  static void take_number(Argument& argument, const bp_tensor_t& view);
  Status give_input(size_t i, CallContext& context);
  Status give_output(size_t i, CallContext& context);
  void show(size_t i);
  [[nodiscard]] bool may_defer() const;
  void set_binding();
  void take_outputs();

  const Backend& backend_;
  bp_instance_t* instance_;
  DeviceMemory* memory_;
  size_t num_inputs_;
  std::vector<Argument> arguments_;  // inputs, then outputs; fixed: cells are pointed to
  std::vector<bp_tensor_t> views_;   // as the plugin sees them
  std::vector<bp_tensor_info_t> infos_;
  std::vector<int64_t> binding_key_;  // addresses and shapes of the last run
  std::vector<int64_t> binding_now_;
  bp_run_t run_{};
  CallContext* context_ = nullptr;  // during run and finish
  bool can_defer_ = false;
  bool is_pending_ = false;
};

}  // namespace backplane::runtime
