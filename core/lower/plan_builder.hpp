// Builds one method of a `.pte`: its table of values, its operators and its instructions.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "format/pte.hpp"
#include "graph/graph.hpp"
#include "lower/memory_plan.hpp"

namespace backplane::lower {

using pte::ValueIndex;

// The tensor type of the file for a type of the graph: sizes at their upper bounds, contiguous.
// A size without a bound, or over 2^31 - 1, makes it unbounded.
[[nodiscard]] pte::Tensor tensor_of(SymbolTable& symbols, const TensorType& type);

class PlanBuilder {
 public:
  static constexpr int32_t kEnd = std::numeric_limits<int32_t>::max();

  explicit PlanBuilder(std::string name);

  // Literals are pooled: equal ones are one value, never to be written.
  ValueIndex none();
  ValueIndex integer(int64_t value);
  ValueIndex floating(double value);
  ValueIndex boolean(bool value);
  ValueIndex string(std::string_view value);
  ValueIndex int_list(std::vector<ValueIndex> items);
  ValueIndex tensor_list(std::vector<ValueIndex> items);
  // A value of its own, such as a number that an instruction will write.
  ValueIndex add(pte::Value value);

  // A tensor that gets planned memory, from the first instruction that names it to the last.
  ValueIndex add_planned(pte::Tensor tensor);
  // A tensor whose bytes are another's: keeps that one's memory alive.
  ValueIndex add_alias(pte::Tensor tensor, ValueIndex base);
  // Memory for the whole life of a Method (state): not shared with anything.
  ValueIndex add_state(pte::Tensor tensor);

  void set_origin(const Node* node) { origin_ = node; }
  // `op` is "aten::add.out". Returns the instruction's index.
  int32_t kernel(std::string_view op, std::vector<ValueIndex> args);
  int32_t delegate(pte::Delegate delegate, std::vector<ValueIndex> args);
  int32_t move(ValueIndex from, ValueIndex to);
  int32_t jump_if_false(ValueIndex condition);  // destination: see land
  int32_t jump() { return jump_if_false(boolean(false)); }
  // Makes the jump go to the next instruction.
  void land(int32_t jump);
  void jump_to(int32_t jump, int32_t destination);
  [[nodiscard]] int32_t next() const {
    return static_cast<int32_t>(plan_.chains[0].instructions.size());
  }
  // Instructions [first, next()) are a loop's: what is made before and used inside lives to its
  // end.
  void end_loop(int32_t first);
  // Whose memory a tensor lies in: itself, or what it is an alias of.
  [[nodiscard]] ValueIndex root_of(ValueIndex index) const;
  // Lets `output`, made by instruction `at`, have the memory of `input` if that dies there.
  void share(ValueIndex output, ValueIndex input, int32_t at);

  void add_input(ValueIndex index) { plan_.inputs.push_back(index); }
  [[nodiscard]] bool is_input(ValueIndex index) const;
  void add_output(ValueIndex index);
  // Keeps a tensor's memory until the method is done.
  void keep(ValueIndex index) { touch(index, kEnd); }
  [[nodiscard]] const pte::Value& value(ValueIndex index) const {
    return plan_.values[static_cast<size_t>(index)];
  }

  // Plans memory and gives the finished plan away.
  pte::Plan finish(MemoryPlan& memory);

 private:
  struct Life {
    ValueIndex root;  // whose memory it is: itself, or what it aliases
    int32_t first = -1;
    int32_t last = -1;
    bool planned = false;
    bool state = false;
  };

  int32_t emit(pte::Instruction instruction, const std::vector<ValueIndex>& touched);
  void touch(ValueIndex index, int32_t at);
  void place_state(std::vector<ValueIndex>& states);
  [[nodiscard]] std::vector<ValueIndex> shared_roots();

  struct Loop {
    int32_t first;
    int32_t last;
  };
  struct Share {
    ValueIndex output;
    ValueIndex input;
    int32_t at;
  };

  pte::Plan plan_;
  std::vector<Life> lives_;  // by value; of tensors with planned memory or aliases
  std::vector<Loop> loops_;
  std::vector<Share> shares_;
  std::map<int64_t, ValueIndex> integers_;
  std::map<uint64_t, ValueIndex> floats_;  // by bits
  std::map<std::string, ValueIndex, std::less<>> strings_;
  std::map<std::vector<ValueIndex>, ValueIndex> int_lists_;
  std::map<std::vector<ValueIndex>, ValueIndex> tensor_lists_;
  std::map<std::string, int32_t, std::less<>> operators_;
  ValueIndex none_ = -1;
  ValueIndex booleans_[2] = {-1, -1};
  const Node* origin_ = nullptr;
};

}  // namespace backplane::lower
