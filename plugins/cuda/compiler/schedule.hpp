// Which tensors lie in memory, and what each of their elements is in terms of others that do.
//
// What only moves elements (views, joins, gathers, casts) never does. What computes does where it
// is read more than once, by a library, or by a kernel that would compute it too often. Weights'
// transformations are derived once, when the program is loaded.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "cuda/compiler/tensor_graph.hpp"

namespace backplane::cuda::compiler {

// A tensor as a strided part of one that lies in memory.
struct StridedView {
  TensorId base;
  SizeId offset;  // elements
  std::vector<SizeId> strides;
};

// Where a reduction is made: by the threads of a row together, or by each thread alone.
[[nodiscard]] bool is_cooperative(TensorGraph& g, ExprId reduce);
// The variables on which an expression depends, but those that it is reduced over.
[[nodiscard]] std::set<AtomId> free_variables(const ExprPool& pool, ExprId id);
// The cooperative reductions of an element, operands first; none lies in a serial one.
[[nodiscard]] std::vector<ExprId> row_reductions(TensorGraph& g, ExprId element);

class Schedule {
 public:
  Schedule(TensorGraph& g, const std::vector<TensorId>& outputs);

  // Live tensors in memory, in the order in which they can be made.
  [[nodiscard]] std::vector<TensorId> stored() const;
  [[nodiscard]] bool is_stored(TensorId id) const { return stored_[static_cast<size_t>(id)]; }
  // Derived from weights alone.
  [[nodiscard]] bool is_derived(TensorId id);
  // The element of a computed tensor that is stored.
  [[nodiscard]] ExprId element(TensorId id);
  // What a library reads for that tensor.
  [[nodiscard]] StridedView view(TensorId id);

 private:
  struct Cost {
    int operations = 0;  // 8 for a function
    bool has_loads = false;
    bool has_rows = false;
  };
  [[nodiscard]] Cost cost(ExprId id) const;
  [[nodiscard]] bool is_free(TensorId id) const;
  void mark_live(const std::vector<TensorId>& outputs);
  void count_uses();
  void store_what_must(const std::vector<TensorId>& outputs);
  void store_what_is_shared();
  void store_what_costs();
  [[nodiscard]] std::optional<StridedView> strided(TensorId id, bool is_matrix);
  void store_operand(TensorId id, bool is_matrix);
  [[nodiscard]] ExprId close(TensorId id, std::vector<TensorId>* inlined);
  // An inlined tensor of `id` that had better lie in memory; -1: none.
  [[nodiscard]] TensorId too_costly(TensorId id, ExprId element,
                                    const std::vector<TensorId>& inlined);

  TensorGraph& g_;
  std::vector<bool> live_, stored_;
  std::vector<uint32_t> uses_;
};

}  // namespace backplane::cuda::compiler
