// Which values of a program share memory, while the program is made functional.
//
// Values that look at one piece of memory form a tree: its root is the whole, each other one is its
// parent seen through view steps. A write gives the written value and all above it new contents;
// whatever else looks at that memory is stale and emitted anew only if it is read.
#pragma once

#include <span>
#include <vector>

#include "passes/view_steps.hpp"

namespace backplane::passes {

class Aliases {
 public:
  explicit Aliases(Rewriter& rewriter) : r_(rewriter) {}

  // `value` is `other`, or sees it through `steps`. Values not told of are memory of their own.
  // `is_there`: a node that makes `value` is kept, so it need not be emitted.
  void same(ValueId value, ValueId other);
  void view(ValueId value, ValueId other, std::vector<ViewStep> steps, bool is_there = true);
  // `value` may share memory with `other`, in ways not known. Fine as long as neither is read after
  // the other was written.
  void entangle(ValueId value, ValueId other);

  // What `value` holds at this point.
  [[nodiscard]] ValueRef read(ValueId value);
  // The same where only the shape matters.
  [[nodiscard]] ValueRef shape_of(ValueId value) const;
  // `value` is overwritten with `contents`, of its type.
  void write(ValueId value, ValueRef contents);
  // Memory of `value` gets contents that nobody knows: reading it from now on is an error.
  void spoil(ValueId value);

  // Whether the memory that `value` looks at was written; and whether two values may share memory.
  [[nodiscard]] bool is_written(ValueId value) const;
  [[nodiscard]] bool is_spoiled(ValueId value) const;
  [[nodiscard]] bool may_share(ValueId a, ValueId b) const;
  // The value that is the whole memory, and the steps from it to `value`.
  [[nodiscard]] ValueId whole(ValueId value) const;
  [[nodiscard]] std::vector<ViewStep> steps_from_whole(ValueId value) const;

 private:
  struct Alias {
    int32_t parent = -1;  // index into aliases_; -1: the whole
    int32_t storage = -1;
    ViewStep step{};
    ValueId old = kNone;  // whose type and name it has; none in the middle of a chain
    ValueRef now{kNone};  // contents at `version`
    int64_t version = -1;
  };
  struct Storage {
    int64_t version = 0;
    bool written = false;
    bool spoiled = false;
    std::vector<int32_t> entangled{};
    ValueId old = kNone;
  };

  int32_t alias(ValueId value);
  [[nodiscard]] int32_t find(ValueId value) const;
  ValueRef read_alias(int32_t index);
  void spoil_entangled(int32_t storage);
  Storage& storage(int32_t alias) { return storages_[static_cast<size_t>(at(alias).storage)]; }
  Alias& at(int32_t index) { return aliases_[static_cast<size_t>(index)]; }
  [[nodiscard]] const Alias& at(int32_t index) const {
    return aliases_[static_cast<size_t>(index)];
  }

  Rewriter& r_;
  std::vector<int32_t> of_value_;  // by ValueId; -1: not told of
  std::vector<Alias> aliases_;
  std::vector<Storage> storages_;
};

}  // namespace backplane::passes
