// The values of one Method, boxed as kernels take them.
//
// Arguments of every call are prepared once. Before a call only those are gathered again that can
// change: numbers that some instruction writes, and integer lists that have such an element.
// Tensors never move: a list or a call that names one stays right whatever happens to its bytes.
#pragma once

#include <backplane/result.hpp>

#include <span>
#include <vector>

#include "runtime/method_plan.hpp"

namespace backplane::runtime {

class Values {
 public:
  // Tensors get their first sizes and no memory; unbounded ones are empty at first.
  explicit Values(const MethodPlan& plan);
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  [[nodiscard]] bp_boxed_t& at(pte::ValueIndex value) { return boxes_[static_cast<size_t>(value)]; }
  [[nodiscard]] const bp_boxed_t& at(pte::ValueIndex value) const {
    return boxes_[static_cast<size_t>(value)];
  }
  [[nodiscard]] std::span<TensorState> tensors() { return tensors_; }
  [[nodiscard]] std::span<const TensorState> tensors() const { return tensors_; }
  // As the file has it.
  [[nodiscard]] const pte::Value& file_value(pte::ValueIndex value) const {
    return plan_.file->values[static_cast<size_t>(value)];
  }
  // The value's tensor, or null.
  [[nodiscard]] TensorState* tensor(pte::ValueIndex value) {
    const int32_t t = plan_.tensor_of[static_cast<size_t>(value)];
    return t < 0 ? nullptr : &tensors_[static_cast<size_t>(t)];
  }

  // Gathers what a step's arguments need. invalid_argument: a list's element is not an integer.
  Status refresh(size_t step);
  // A kernel's arguments, or those of an operator of the core, as of the last refresh.
  [[nodiscard]] std::span<const bp_boxed_t> arguments(size_t step) const;
  [[nodiscard]] std::span<bp_boxed_t* const> pointers(size_t step) const;

 private:
  struct List {  // of integers, with elements that can change
    const pte::IntList* file;
    size_t first;  // into ints_
  };
  struct Fixup {
    size_t slot;  // into arguments_
    pte::ValueIndex value;
  };
  struct Range {
    size_t first = 0;
    size_t count = 0;
  };
  struct Call {
    Range arguments;  // of arguments_ or pointers_
    Range fixups;
    Range lists;  // of called_lists_
  };

  void make_tensors();
  void make_boxes();
  bp_boxed_t box(const pte::Value& value, size_t index);
  void make_call(const Step& step, Call& call);

  const MethodPlan& plan_;
  std::vector<TensorState> tensors_;
  std::vector<int64_t> shapes_;
  std::vector<bp_boxed_t> boxes_;  // by value
  std::vector<int64_t> ints_;
  std::vector<uint8_t> bools_;
  std::vector<bp_tensor_t*> items_;
  std::vector<List> lists_;
  std::vector<int32_t> list_of_;  // by value; -1: not a list that can change
  std::vector<int32_t> called_lists_;
  std::vector<bp_boxed_t> arguments_;
  std::vector<bp_boxed_t*> pointers_;
  std::vector<Fixup> fixups_;
  std::vector<Call> calls_;  // by step
  bp_boxed_t none_{};
};

}  // namespace backplane::runtime
